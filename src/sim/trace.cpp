// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/trace.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "berth/base/random.hpp"
#include "berth/policy/free_machines.hpp"

namespace berth::sim {
namespace {

/// Gives equal demands one index. Jobs are equal by their records first, which costs no comparison
/// of demands.
class DemandNumbers {
 public:
  DemandNumbers(const model::Instance& instance, std::vector<policy::Demand>& demands)
      : instance_(instance), demands_(demands) {}

  std::uint32_t number_of(const model::Job& job) {
    policy::Demand demand = policy::demand_of(instance_, job);
    const std::uint64_t key = hash(demand);
    for (auto [at, end] = by_hash_.equal_range(key); at != end; ++at) {
      if (demands_[at->second] == demand) return at->second;
    }
    const auto number = static_cast<std::uint32_t>(demands_.size());
    by_hash_.emplace(key, number);
    demands_.push_back(std::move(demand));
    return number;
  }

 private:
  static std::uint64_t hash(const policy::Demand& demand) {
    std::uint64_t state = random_bits(
        {static_cast<std::uint64_t>(demand.milli), static_cast<std::uint64_t>(demand.domain)});
    for (const auto& group : demand.groups) {
      state = random_bits({state, static_cast<std::uint64_t>(group.count),
                           static_cast<std::uint64_t>(group.shape.total_milli()),
                           static_cast<std::uint64_t>(group.shape.needs[model::kCpu])});
    }
    return state;
  }

  const model::Instance& instance_;
  std::vector<policy::Demand>& demands_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

/// Standard normal draw (Box and Muller 1958).
double normal(std::uint64_t seed, JobId job) {
  const auto id = static_cast<std::uint64_t>(job.value());
  const double u = 1.0 - random_unit({seed, id, 0});  // in (0, 1]
  const double v = random_unit({seed, id, 1});
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

Micros estimate_of(const model::TimeRules& rules, Micros work, JobId job,
                   const ReplayOptions& options) {
  switch (options.estimates) {
    case Estimates::exact:
      return work;
    case Estimates::limits:
      return rules.limit == model::kNotGiven ? work : rules.limit * kSecond;
    case Estimates::noisy: {
      const double factor = std::exp(options.noise * normal(options.seed, job));
      return std::max<Micros>(1, std::llround(static_cast<double>(work) * factor));
    }
  }
  return work;
}

policy::Job policy_job(const model::Job& job, const model::TimeRules& rules,
                       const ReplayOptions& options) {
  policy::Job known;
  known.arrival = std::max(job.arrival, rules.not_before) * kSecond;
  known.restart_cost = rules.restart_cost > 0 ? rules.restart_cost * kSecond : options.restart_cost;
  known.weight = job.weight;
  known.queue = job.queue;
  known.priority = job.priority;
  if (options.only_marked) {
    known.preemptible = rules.preemptible;
    known.checkpoint_every =
        rules.checkpoint_every == model::kNotGiven ? kNever : rules.checkpoint_every * kSecond;
  }
  return known;
}

}  // namespace

Trace make_trace(const model::Instance& instance, const ReplayOptions& options) {
  const model::Workload& workload = instance.workload;
  Trace trace;
  DemandNumbers numbers(instance, trace.demands);
  trace.jobs.reserve(workload.size());
  trace.work.reserve(workload.size());
  for (std::size_t j = 0; j < workload.size(); ++j) {
    const JobId id(j);
    const model::Job& job = workload.job(id);
    const model::TimeRules& rules = workload.time_of(job);
    policy::Job known = policy_job(job, rules, options);
    known.demand = numbers.number_of(job);
    const Micros work = rules.seconds() == model::kNotGiven ? 0 : rules.seconds() * kSecond;
    known.estimate = estimate_of(rules, work, id, options);
    if (work == 0) trace.refused.push_back({id, "has neither duration nor limit"});
    trace.jobs.push_back(known);
    trace.work.push_back(work);
  }
  refuse_too_large(instance.cluster, trace);
  return trace;
}

void refuse_too_large(const model::Cluster& cluster, Trace& trace) {
  policy::FreeMachines empty(cluster);
  std::vector<model::TaskPlacement> tasks;
  std::vector<bool> fits;
  for (const policy::Demand& demand : trace.demands) {
    fits.push_back(std::ranges::any_of(demand.types, [&](GpuTypeId type) {
      if (!empty.place(demand, type, tasks)) return false;
      empty.release(demand, tasks);
      return true;
    }));
  }
  std::vector<bool> out(trace.jobs.size());
  for (const RefusedJob& refused : trace.refused) out[refused.job.index()] = true;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    if (out[j] || fits[trace.jobs[j].demand]) continue;
    trace.refused.push_back({JobId(j), "fits no machines of the empty cluster"});
  }
  std::ranges::sort(trace.refused, {}, &RefusedJob::job);
}

std::string ignored_keys(const model::Instance& instance) {
  const model::Cluster& cluster = instance.cluster;
  const model::Workload& workload = instance.workload;
  std::string keys;
  const auto add = [&](bool present, const char* key) {
    if (present) keys += (keys.empty() ? "" : ", ") + std::string(key);
  };
  const auto any = [&](auto&& condition) { return std::ranges::any_of(workload.jobs, condition); };
  add(any([](const model::Job& j) { return j.home_rack.valid() || j.home_pod.valid(); }), "home");
  add(any([](const model::Job& j) {
        return j.communication.pattern != model::CommunicationPattern::none;
      }),
      "communication");
  add(workload.rules.size() > 1, "rules about machines");
  add(workload.configurations.size() > 1, "configurations");
  add(!workload.dependencies.empty(), "after");
  add(!workload.running.empty(), "running");
  add(std::ranges::any_of(cluster.queues,
                          [](const auto& q) { return q.gpu_quota >= 0 || q.gpu_hours >= 0; }),
      "quotas");
  add(!cluster.windows.empty(), "windows");
  add(!cluster.spare.empty(), "spare");
  return keys;
}

}  // namespace berth::sim
