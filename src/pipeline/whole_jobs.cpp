// SPDX-License-Identifier: Apache-2.0
#include "whole_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/solver/home_rack_prices.hpp"
#include "berth/solver/job_selection.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;
using solver::JobSelection;

/// Share of the gap that whole jobs must cost: less, and the plan has other faults than the choice
/// of its jobs. Chosen, not tuned.
constexpr double kPromising = 0.25;
/// Jobs: with more, one alone is a small share, and prices are exact enough for the choice.
constexpr std::size_t kFewJobs = 2000;
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// Least price of a GPU thousandth over all pools of machines with GPUs.
std::int64_t least_of_pools(const model::Cluster& cluster, const Certificate& certificate) {
  const bool racks = certificate.level == model::Level::rack;
  std::set<std::pair<std::int32_t, ClassId>> pools;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const ClassId c = cluster.machine_class[m];
    if (cluster.classes[c.index()].gpus == 0) continue;
    const RackId rack = cluster.machine_rack[m];
    pools.emplace(racks ? rack.value() : cluster.racks[rack.index()].pod.value(), c);
  }
  std::int64_t least = kNone;
  for (const Certificate::PoolPrice& p : certificate.pools) {
    const auto place = racks ? p.rack.value() : p.pod.value();
    if (pools.erase({place, p.machine_class}) > 0) least = std::min(least, p.gpu_milli);
  }
  return pools.empty() && least < kNone ? least : 0;
}

/// Least price of a GPU thousandth over all shapes with GPUs and all GPU types of machines.
std::int64_t least_of_shapes(const model::InstanceView& instance, const Certificate& certificate) {
  std::set<std::pair<ShapeId, GpuTypeId>> rows;
  const auto& shapes = instance.workload.tables().shapes;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s].total_milli() == 0) continue;
    for (const model::MachineClass& c : instance.cluster.classes) {
      if (c.gpu_type.valid()) rows.emplace(ShapeId(s), c.gpu_type);
    }
  }
  std::int64_t least = kNone;
  for (const Certificate::ShapePrice& p : certificate.shapes) {
    if (rows.erase({p.shape, p.gpu_type}) == 0) continue;
    least = std::min(least, p.price / shapes[p.shape.index()].total_milli());
  }
  return rows.empty() && least < kNone ? least : 0;
}

/// Node of a limit of a queue; node 0 is the cluster.
std::int32_t node_of(std::size_t limit) { return static_cast<std::int32_t>(limit) + 1; }

std::vector<solver::SelectionNode> capacities(const planner_model::CouplingLimits& limits,
                                              std::int64_t free_milli) {
  std::vector<solver::SelectionNode> nodes{{.capacity = free_milli}};
  for (std::size_t l = 0; l < limits.of_queues(); ++l) {
    const auto chain = limits.of(limits[l].scope.queue);
    nodes.push_back({.parent = chain.size() > 1 ? node_of(chain[1]) : 0,
                     .capacity = limits.capacity(l),
                     .penalty = limits.penalty(l) / model::kGpuMilli});
  }
  return nodes;
}

/// The jobs of a choice, with the capacities that they share.
struct Candidates {
  std::vector<solver::SelectionNode> nodes;
  std::vector<solver::SelectionItem> items;  ///< in the order of the choices
};

/// @param certificate  its prices are subtracted from the jobs' best options
Candidates candidates_of(const planner_model::CouplingLimits& limits,
                         const Certificate& certificate,
                         const DistributedJudge::ChoiceBound& from) {
  Candidates result{capacities(limits, from.bound.free_milli), {}};
  std::vector<double> price(result.nodes.size(), 0.0);  // by node: with the nodes above
  price[0] = static_cast<double>(certificate.whole_jobs.gpu_milli);
  for (const auto& l : certificate.limits) {
    if (l.kind != model::LimitKind::gpu_quota) continue;
    const auto chain = limits.of(l.scope.queue);
    if (!chain.empty()) price[chain.front() + 1] += static_cast<double>(l.price);
  }
  for (std::size_t n = 1; n < price.size(); ++n) {
    price[n] += price[static_cast<std::size_t>(result.nodes[n].parent)];
  }
  for (const certify::JobChoice& job : from.choices) {
    const auto chain = limits.of(job.queue);
    const std::int32_t node = chain.empty() ? 0 : node_of(chain.front());
    const double paid = price[static_cast<std::size_t>(node)] * static_cast<double>(job.milli);
    const double profit = static_cast<double>(job.net) + paid;
    result.items.push_back(
        {std::ldexp(profit, -certificate.scale_log2), job.milli, node, job.must});
  }
  return result;
}

/// Ascending. @param choices  in the order of the selection
std::vector<JobId> selected_jobs(std::span<const certify::JobChoice> choices,
                                 const JobSelection& selection) {
  std::vector<JobId> jobs;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (selection.selected[i] != 0) jobs.push_back(choices[i].job);
  }
  std::ranges::sort(jobs);
  return jobs;
}

/// Replaces the prices of quotas and of the cluster's GPUs. @param prices  by node, per thousandth
void reprice(const planner_model::CouplingLimits& limits, std::span<const double> prices,
             Certificate& certificate) {
  const auto fixed = [&](double price) {
    return static_cast<std::int64_t>(std::floor(std::ldexp(price, certificate.scale_log2)));
  };
  std::erase_if(certificate.limits,
                [](const auto& l) { return l.kind == model::LimitKind::gpu_quota; });
  certificate.whole_jobs.gpu_milli = fixed(prices[0]);
  for (std::size_t l = 0; l < limits.of_queues(); ++l) {
    // at most the penalty of a soft quota, one unit less for the roundings
    const double most = limits.penalty(l) / model::kGpuMilli;
    const std::int64_t price =
        prices[l + 1] < most ? fixed(prices[l + 1]) : std::max<std::int64_t>(0, fixed(most) - 1);
    if (price > 0) certificate.limits.push_back({limits[l].kind, limits[l].scope, price});
  }
}

/// The choice of whole jobs within quotas and cluster where all else is free of charge.
Certificate without_prices(const Certificate& certificate) {
  Certificate free;
  free.scale_log2 = certificate.scale_log2;
  free.whole_jobs = {Certificate::WholeJobs::Within::cluster, 0};
  return free;
}

}  // namespace

Certificate with_whole_jobs(const model::InstanceView& instance, Certificate certificate) {
  const std::int64_t of_pools = least_of_pools(instance.cluster, certificate);
  const std::int64_t of_shapes = least_of_shapes(instance, certificate);
  for (auto& p : certificate.pools) p.gpu_milli = std::max<std::int64_t>(0, p.gpu_milli - of_pools);
  for (auto& s : certificate.shapes) {
    s.price -= of_shapes * instance.workload.shape(s.shape).total_milli();
    s.price = std::max<std::int64_t>(0, s.price);
  }
  const std::int64_t of_all = of_pools + of_shapes;
  for (auto& g : certificate.gangs) {
    const std::int64_t milli = instance.workload.shape(g.shape).total_milli() * g.tasks;
    g.price = as_price(g.price - Int128{of_all} * milli);
  }
  certificate.whole_jobs = {Certificate::WholeJobs::Within::cluster, of_all};
  return certificate;
}

std::vector<JobId> chosen_jobs(const PlanningContext& context, Certificate certificate) {
  const model::InstanceView& instance = context.unpriced.instance();
  const auto alone = comm::Communicator::serial();
  const std::vector<JobId> planned = model::planned_jobs(instance.workload);
  const DistributedJudge judge(alone, instance, context.options.objective, planned);
  certificate = without_search(std::move(certificate));
  if (!certificate.whole_jobs.in_cluster()) {
    certificate = judge.fitted(with_whole_jobs(instance, std::move(certificate)));
  }
  const DistributedJudge::ChoiceBound bound = judge.choice_bound(certificate);
  const Candidates jobs = candidates_of(context.limits, certificate, bound);
  return selected_jobs(bound.choices, solver::select_jobs(jobs.nodes, jobs.items));
}

ChoiceProof choose_whole_jobs(const DistributedJudge& judge, const PlanningContext& context,
                              double objective, Proof proof) {
  bool possible = proof.certificate.jobs.empty() && !proof.certificate.whole_jobs.in_cluster();
  judge.comm().broadcast_value(possible);
  if (!possible) return {std::move(proof)};
  Certificate certificate;
  judge.comm().agreed_on_root([&] {
    certificate = judge.fitted(with_whole_jobs(context.unpriced.instance(), proof.certificate));
  });
  const auto take = [&](const Certificate& candidate, double bound) {
    if (bound < proof.upper_bound) proof = {candidate, bound};
  };
  if (context.limits.of_queues() > 0) {  // quotas may leave GPUs idle once jobs are whole
    const Certificate unpriced = without_prices(certificate);
    take(unpriced, judge.bound(unpriced).value);
  }
  const DistributedJudge::ChoiceBound first = judge.choice_bound(certificate);
  take(certificate, first.bound.value);
  ChoiceProof result;
  bool priced = false;  // the choice depends on prices
  judge.comm().agreed_on_root([&] {
    const Candidates jobs = candidates_of(context.limits, certificate, first);
    const JobSelection selection = solver::select_jobs(jobs.nodes, jobs.items);
    const double divisible = solver::select_jobs(jobs.nodes, jobs.items, 0).bound;
    result.promising = divisible - selection.bound > kPromising * (proof.upper_bound - objective);
    result.usable =
        result.promising || (selection.prices.front() == 0.0 && jobs.items.size() <= kFewJobs);
    if (result.usable) result.selected = selected_jobs(first.choices, selection);
    priced = std::ranges::any_of(selection.prices, [](double price) { return price > 0.0; });
    reprice(context.limits, selection.prices, certificate);
    certificate = judge.fitted(std::move(certificate));
  });
  judge.comm().broadcast_value(priced);
  judge.comm().broadcast_value(result.usable);
  if (priced) take(certificate, judge.bound(certificate).value);
  result.proof = std::move(proof);
  return result;
}

HomeProof choose_at_home(const PlanningContext& context, std::span<const double> prices,
                         const TightenGoal& goal, Proof proof) {
  const model::InstanceView& instance = context.unpriced.instance();
  std::vector<JobId> jobs;
  const std::vector<JobId> planned = model::planned_jobs(instance.workload);
  std::ranges::copy_if(planned, std::back_inserter(jobs), [&](JobId job) {
    return instance.workload.gpu_milli(instance.workload.job(job)) > 0;
  });
  solver::HomeRackSolution found =
      solver::home_rack_prices(context.unpriced, {context.pools, prices}, jobs,
                               {goal.objective, proof.upper_bound}, {}, goal.stop);
  if (found.prices.empty()) return {std::move(proof)};
  const auto alone = comm::Communicator::serial();
  const DistributedJudge judge(alone, instance, context.options.objective, planned);
  Certificate certificate = judge.fitted(from_pools(context.pools, found.prices));
  certificate.whole_jobs.within = Certificate::WholeJobs::Within::home_racks;
  const double bound = judge.bound(certificate).value;
  if (bound < proof.upper_bound) proof = {std::move(certificate), bound};
  return {std::move(proof), std::move(found)};
}

}  // namespace berth::pipeline
