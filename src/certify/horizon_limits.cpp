// SPDX-License-Identifier: Apache-2.0
#include "horizon_limits.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "berth/base/error.hpp"
#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

using horizon::CapacityStep;
using model::Horizon;
using model::InstanceView;

constexpr std::int64_t kMilli = 1000;
constexpr std::int64_t kHour = 3600;  ///< seconds

void expect_price(bool holds, const std::string& why) {
  if (!holds) throw InputError({}, "prices of the horizon: " + why);
}

/// Position of a queue in `queues`, by name.
std::size_t position_of(const model::Cluster& cluster, const std::vector<QueueId>& queues,
                        const std::string& name, const char* what) {
  const auto found = std::ranges::find_if(
      queues, [&](QueueId queue) { return cluster.queues[queue.index()].name == name; });
  expect_price(found != queues.end(), "queue " + name + " has no " + what);
  return static_cast<std::size_t>(found - queues.begin());
}

}  // namespace

HorizonLimits::HorizonLimits(const InstanceView& instance, const Horizon& horizon)
    : instance_(instance), horizon_(horizon) {
  for (std::size_t q = 0; q < instance.cluster.queues.size(); ++q) {
    const model::Queue& queue = instance.cluster.queues[q];
    quota_of_.push_back(queue.gpu_quota < 0 ? -1 : static_cast<std::int32_t>(quotas_.size()));
    budget_of_.push_back(queue.gpu_hours < 0 ? -1 : static_cast<std::int32_t>(budgets_.size()));
    if (queue.gpu_quota >= 0) quotas_.emplace_back(q);
    if (queue.gpu_hours >= 0) budgets_.emplace_back(q);
  }
}

void HorizonLimits::add_to(BoundProblem& bound) const {
  bound.quotas = quotas_;
  bound.budgets = budgets_;
  for (const QueueId queue : quotas_) bound.problem.quotas.push_back(left_of(queue));
  for (const QueueId queue : budgets_) {
    bound.problem.budgets.push_back(kHour * instance_.cluster.queues[queue.index()].gpu_hours);
  }
  bound.problem.budgets_end = horizon_.end();
}

/// GPUs that running jobs leave, rounded up.
std::vector<CapacityStep> HorizonLimits::left_of(QueueId queue) const {
  std::map<std::int64_t, std::int64_t> freed;  // thousandths, by time
  std::int64_t left = kMilli * instance_.cluster.queues[queue.index()].gpu_quota;
  for (const model::Running& running : instance_.workload.tables().running) {
    const model::Job& job = instance_.workload.job(running.job);
    QueueId of = job.queue;
    while (of.valid() && of != queue) of = instance_.cluster.queues[of.index()].parent;
    if (!of.valid() || is_decided(instance_, horizon_, job)) continue;
    const std::int64_t milli = milli_of(instance_.workload, job);
    left -= milli;
    freed[end_of_running(instance_, horizon_, job)] += milli;
  }
  const auto gpus = [](std::int64_t milli) {
    return (std::max<std::int64_t>(0, milli) + kMilli - 1) / kMilli;
  };
  std::vector<CapacityStep> steps{{.from = horizon_.now, .gpus = gpus(left)}};
  for (const auto& [time, milli] : freed) {
    left += milli;
    steps.push_back({.from = time, .gpus = gpus(left)});
  }
  return steps;
}

void HorizonLimits::charge(const model::Job& job, horizon::Problem& problem) const {
  const auto positions = [&](const std::vector<std::int32_t>& of_queue,
                             std::vector<std::int32_t>& table) {
    const auto begin = static_cast<std::int32_t>(table.size());
    for (QueueId q = job.queue; q.valid(); q = instance_.cluster.queues[q.index()].parent) {
      if (of_queue[q.index()] >= 0) table.push_back(of_queue[q.index()]);
    }
    return horizon::IndexRange{begin, static_cast<std::int32_t>(table.size())};
  };
  problem.options.back().quotas = positions(quota_of_, problem.option_quotas);
  problem.options.back().budgets = positions(budget_of_, problem.option_budgets);
}

namespace {

/// The shares by jobs of the problem.
std::vector<horizon::CostShare> shares_of(const model::InstanceView& instance,
                                          const BoundProblem& bound,
                                          const model::PriceCurves& prices) {
  std::vector<horizon::CostShare> shares;
  if (prices.shares.empty()) return shares;
  std::unordered_map<std::string_view, JobId> by_name;
  for (std::size_t j = 0; j < bound.jobs.size(); ++j) {
    by_name[instance.workload.tables().job_names[bound.jobs[j].index()]] = JobId(j);
  }
  const auto job_of = [&](const std::string& name) {
    const auto found = by_name.find(name);
    expect_price(found != by_name.end(), "no waiting job is " + name);
    return found->second;
  };
  for (const auto& one : prices.shares) {
    shares.push_back({.job = job_of(one.job), .after = job_of(one.after), .share = one.share});
  }
  return shares;
}

}  // namespace

horizon::PriceCertificate certificate_of(const model::InstanceView& instance,
                                         const BoundProblem& bound,
                                         const model::PriceCurves& prices) {
  const model::Cluster& cluster = instance.cluster;
  horizon::PriceCertificate certificate;
  certificate.nodes.assign(prices.nodes.begin(), prices.nodes.end());
  const std::size_t intervals = certificate.intervals();
  const std::size_t count =
      (bound.types.size() + bound.quotas.size() + prices.multiples.size()) * intervals;
  certificate.starts.assign(count, 0);
  certificate.slopes.assign(count, 0);
  const auto copy = [&](std::size_t position, const auto& curve) {
    expect_price(curve.starts.size() == intervals && curve.slopes.size() == intervals,
                 "not one price an interval");
    const auto first = static_cast<std::ptrdiff_t>(position * intervals);
    std::ranges::copy(curve.starts, certificate.starts.begin() + first);
    std::ranges::copy(curve.slopes, certificate.slopes.begin() + first);
  };
  const auto curve_of = [&](const std::string& name) {
    const auto known = std::ranges::find_if(
        bound.types, [&](GpuTypeId type) { return cluster.gpu_types[type.index()] == name; });
    expect_price(known != bound.types.end(), "no machine has GPUs " + name);
    return static_cast<std::size_t>(known - bound.types.begin());
  };
  for (const model::PriceCurves::Curve& curve : prices.curves) {
    copy(curve_of(curve.gpu_type), curve);
  }
  for (const model::PriceCurves::QuotaCurve& curve : prices.quotas) {
    copy(bound.types.size() + position_of(cluster, bound.quotas, curve.queue, "quota"), curve);
  }
  std::size_t position = bound.types.size() + bound.quotas.size();
  for (const model::PriceCurves::MultipleCurve& curve : prices.multiples) {
    copy(position++, curve);
    certificate.multiples.push_back({.curve = curve_of(curve.gpu_type), .gpus = curve.gpus});
  }
  certificate.budgets.assign(bound.budgets.size(), 0);
  for (const model::PriceCurves::BudgetPrice& budget : prices.budgets) {
    expect_price(budget.price >= 0, "a price is negative");
    certificate.budgets[position_of(cluster, bound.budgets, budget.queue, "GPU-hours")] =
        budget.price;
  }
  certificate.shares = shares_of(instance, bound, prices);
  for (const model::PriceCurves::SizeFactor& size : prices.sizes) {
    certificate.sizes.push_back(
        {.curve = curve_of(size.gpu_type), .gpus = size.gpus, .factor = size.factor});
  }
  return certificate;
}

}  // namespace berth::certify
