// SPDX-License-Identifier: Apache-2.0
#include "bound.hpp"

#include "batched_gather.hpp"
#include "fill_free_room.hpp"
#include "gang_prices.hpp"
#include "last_search.hpp"
#include "near_prices.hpp"
#include "relax.hpp"
#include "resource_prices.hpp"
#include "spare_prices.hpp"
#include "stay_prices.hpp"
#include "tighten.hpp"
#include "whole_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/certify/figures.hpp"
#include "berth/coordinator/equal_jobs.hpp"
#include "berth/solver/assigned_start.hpp"
#include "berth/solver/home_start.hpp"
#include "berth/solver/selected_start.hpp"

namespace berth::pipeline {
namespace {

/// Jobs x GPUs of a rack: so many cells leave 20 evaluations (HomeRackOptions::cells).
constexpr std::int64_t kMostHomeCells = 5'000'000;

/// Units of a cluster whose bound by job prices is evaluated by default: the GPUs of the largest
/// for many jobs (decision 3).
constexpr std::int64_t kMostUnits = 4096;

/// Jobs that are assigned to places all at once: with more, each is a small part of a place, and
/// the local search fills places as well.
constexpr std::size_t kFewGangs = 64;

double largest_of(std::span<const double> prices) {
  return prices.empty() ? 0.0 : *std::ranges::max_element(prices);
}

/// Certificates of the prices found so far.
std::vector<model::Certificate> candidates(const PlanningContext& context,
                                           const LocalSolution& solution) {
  const planner_model::LimitGroups& groups = context.limit_groups;
  const coordinator::Consensus& consensus = solution.relaxation.consensus;
  std::vector<model::Certificate> found{
      from_pools(context.pools, consensus.prices, largest_of(consensus.limits))};
  for (const auto& prices : solution.local.task_prices) {
    if (!prices.empty()) found.push_back(from_shapes(prices));
  }
  std::vector<std::span<const double>> of_limits(found.size(), consensus.limits);
  const solver::ConfigurationSolution& configurations = solution.relaxation.configurations;
  if (configurations.solved()) {
    found.push_back(from_shapes(configurations.prices));
    if (!configurations.multipliers.empty()) {
      found.push_back(found.back());
      add_multipliers(found.back(), configurations.multipliers);
    }
  }
  of_limits.resize(found.size(), configurations.limit_prices);
  const std::size_t quotas = groups.limits().of_queues();
  const std::size_t without = found.size();
  for (std::size_t i = 0; i < without; ++i) {
    add_limit_prices(found[i], groups, of_limits[i], 0, quotas);
    if (largest_of(of_limits[i].subspan(quotas)) <= 0.0) continue;
    found.push_back(found[i]);
    add_limit_prices(found.back(), groups, of_limits[i], quotas, groups.prices());
  }
  const model::InstanceView& instance = context.unpriced.instance();
  const bool spare = !instance.cluster.spare.empty() && traits(context.options.objective).costs;
  const std::size_t beside_spare = spare ? found.size() : 0;
  for (std::size_t i = 0; i < beside_spare; ++i) {
    found.push_back(found[i]);
    add_spare_prices(found.back(), instance, context.pools);
  }
  return found;
}

TightenOptions tightening(const model::InstanceView& instance, const PlanOptions& options) {
  const std::int64_t gpus = instance.cluster.gpus();
  const auto jobs = static_cast<std::int64_t>(instance.workload.size());
  TightenOptions tightening{.job_prices = options.job_prices, .branch = options.branch};
  tightening.job_prices.evaluations =
      options.bound_steps >= 0 ? options.bound_steps : usual_bound_steps(gpus, jobs);
  tightening.branch.leaves =
      options.tree_nodes >= 0 ? options.tree_nodes : usual_tree_leaves(gpus, jobs);
  if (options.bound_steps < 0) tightening.most_units = kMostUnits;
  return tightening;
}

/// Lets the judge search over all placements, or over the places of few gangs, if the proof leaves
/// a gap and that lowers the bound.
void add_search(const PlanningContext& context, const model::Placement& placement,
                const TightenGoal& goal, Proof& proof) {
  if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return;
  if (goal.stop.requested()) return;
  const model::InstanceView& instance = context.unpriced.instance();
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const auto alone = comm::Communicator::serial();
  const DistributedJudge judge(alone, instance, context.options.objective, jobs);
  model::Certificate certificate = proof.certificate;
  certificate.search_steps =
      is_small(context)
          ? context.options.exact.within_size(context.options.search_steps, instance.cluster.gpus())
          : context.options.search_steps;
  const double bound = judge.bound(certificate, placement).value;
  if (bound < proof.upper_bound) proof = {std::move(certificate), bound};
}

/// True when the bound within home racks can be evaluated often enough (solver::home_rack_prices).
bool can_choose_at_home(const PlanningContext& context, std::span<const JobId> home) {
  const model::InstanceView& instance = context.unpriced.instance();
  const bool some = std::ranges::any_of(
      home, [&](JobId job) { return instance.workload.job(job).home_rack.valid(); });
  const std::int64_t rack_gpus =
      instance.cluster.gpus() / static_cast<std::int64_t>(instance.cluster.racks.size());
  return context.comm.max(some ? 1 : 0) == 1 && context.pools.level == model::Level::rack &&
         static_cast<std::int64_t>(instance.workload.size()) * rack_gpus <= kMostHomeCells;
}

/// True when a job runs that is not pinned.
bool some_job_may_move(const model::InstanceView& instance) {
  return std::ranges::any_of(instance.workload.tables().running,
                             [](const model::Running& r) { return !r.pinned; });
}

/// Plans anew from the choice of jobs in home racks. Returns the value gained.
double plan_homes(const PlanningContext& context, const GlobalRelaxation& relaxation,
                  const solver::HomeRackSolution& found, model::Placement& placement) {
  if (found.at_home.empty() || some_job_may_move(context.unpriced.instance())) return 0.0;
  return solver::plan_at_home(context.unpriced, {context.pools, relaxation.consensus.prices}, found,
                              context.options.shard.dive.effort, whole_run(context, relaxation),
                              placement);
}

/// Plans anew from the best assignment of few large gangs to racks, pods and types. Returns the
/// value gained. @return 0 with limits, which the assignment does not know
double plan_few_gangs(const PlanningContext& context, const GlobalRelaxation& relaxation,
                      model::Placement& placement) {
  if (relaxation.limits != nullptr) return 0.0;
  const std::vector<JobId> gangs = solver::whole_gpu_jobs(context.unpriced.instance());
  if (gangs.empty()) return 0.0;
  return solver::plan_assigned(context.unpriced, {context.pools, relaxation.consensus.prices},
                               gangs, context.options.shard.dive.effort,
                               whole_run(context, relaxation), placement);
}

}  // namespace

bool is_small(const PlanningContext& context) {
  const model::InstanceView& instance = context.unpriced.instance();
  return context.options.exact.takes(instance.cluster.gpus(),
                                     static_cast<std::int64_t>(instance.workload.size()));
}

DistributedJudge judge_of(const PlanningContext& context, std::span<const JobId> home) {
  return context.stages.run("bound", [&] {
    return DistributedJudge(context.comm, context.unpriced.instance(), context.options.objective,
                            home);
  });
}

Proof bound(const PlanningContext& context, const DistributedJudge& judge,
            const LocalSolution& solution) {
  return context.stages.run("bound", [&] {
    return tightest(judge, context.comm.rank() == 0 ? candidates(context, solution)
                                                    : std::vector<model::Certificate>{});
  });
}

void tighten(const PlanningContext& context, coordinator::JobRecords& records,
             const DistributedJudge& judge, const LocalSolution& solution, Proof& proof,
             model::Placement& placement) {
  const model::InstanceView& instance = context.unpriced.instance();
  const PlanOptions& options = context.options;
  context.stages.run("tighten", [&] {
    TightenGoal goal{
        .objective = judge.objective(placement), .gap = options.gap, .stop = context.stop};
    const TightenOptions how = tightening(instance, options);
    if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return;
    const bool few = options.bound_steps != 0 && instance.workload.size() <= kFewGangs;
    const bool search = options.search_steps > 0 && is_small(context);
    ChoiceProof choice;
    if (options.bound_steps != 0) {
      const std::vector<JobId> home = records.home_jobs();  // starts may have moved them
      choice = choose_whole_jobs(judge.with_homes(home), context, goal.objective, std::move(proof));
      proof = choice.proof;
    }
    if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return;
    const bool homes = options.bound_steps != 0 && can_choose_at_home(context, records.home_jobs());
    const bool stays = options.bound_steps != 0 && stays_matter(instance);
    const bool again = options.bound_steps != 0 && few_records(instance);
    if (!choice.usable && !homes && !stays && !again && how.job_prices.evaluations <= 0 &&
        !resources_matter(instance) && !search && !few) {
      return;
    }
    records.gather_to_root();
    placement = gather_placement(context.comm, std::move(placement));
    context.comm.agreed_on_root([&] {
      const GlobalRelaxation& relaxation = solution.relaxation;
      if (!choice.selected.empty()) {
        const auto starts = choice.promising || some_job_may_move(instance)
                                ? solver::SelectedPlacement::fill_and_dive
                                : solver::SelectedPlacement::fill;
        goal.objective += solver::plan_selected(
            context.unpriced, {context.pools, relaxation.consensus.prices}, choice.selected,
            {.how = starts, .shard = options.shard}, whole_run(context, relaxation), placement);
      }
      if (homes) {
        HomeProof home = choose_at_home(context, relaxation.consensus.prices, goal, proof);
        proof = std::move(home.proof);
        goal.objective += plan_homes(context, relaxation, home.found, placement);
      }
      if (few && certify::gap(proof.upper_bound, goal.objective) > goal.gap) {
        goal.objective += plan_few_gangs(context, relaxation, placement);
        if (options.search_steps > 0 && !search) add_search(context, placement, goal, proof);
      }
      proof = price_resources(instance, options.objective, std::move(proof), context.stop);
      if (stays) proof = price_stays(instance, options.objective, std::move(proof), goal);
      if (again) proof = price_gangs(instance, options.objective, std::move(proof), goal);
      const bool left = certify::gap(proof.upper_bound, goal.objective) > goal.gap;
      if (again && left && proof.certificate.jobs.empty() && !goal.stop.requested()) {
        goal.objective += search_at_last_prices(context, relaxation, proof, goal, placement);
      }
      proof = tighten(context.unpriced, context.pools, relaxation.consensus.prices,
                      std::move(proof), goal, how);
      if (search) add_search(context, placement, goal, proof);
    });
    if (choice.usable || homes || again) {
      fill_free_room(context, records, placement);
      coordinator::serve_equal_jobs(context.comm, context.unpriced, records, placement);
    }
  });
}

}  // namespace berth::pipeline
