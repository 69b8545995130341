// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/trace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <span>
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

  /// The first of consecutive indices of these demands.
  std::uint32_t number_of(const std::vector<policy::Demand>& demands) {
    const std::uint64_t key = hash(demands.front());
    for (auto [at, end] = by_hash_.equal_range(key); at != end; ++at) {
      const auto rest = std::span(demands_).subspan(at->second);
      if (rest.size() >= demands.size() && std::ranges::equal(rest.first(demands.size()), demands))
        return at->second;
    }
    const auto number = static_cast<std::uint32_t>(demands_.size());
    by_hash_.emplace(key, number);
    demands_.insert(demands_.end(), demands.begin(), demands.end());
    return number;
  }

  /// One demand, or one of each configuration of an elastic job.
  [[nodiscard]] std::vector<policy::Demand> demands_of(JobId id, const WorldSpeeds* speeds) const {
    const model::Workload& workload = instance_.workload;
    const model::Job& job = workload.job(id);
    std::vector<policy::Demand> demands;
    const auto& choices = workload.configurations[workload.time_of(job).configurations];
    if (choices.empty()) demands.push_back(policy::demand_of(instance_, job));
    for (const model::Configuration& choice : choices) {
      demands.push_back(policy::demand_of(instance_, job, choice));
    }
    if (speeds == nullptr) return demands;
    for (std::size_t c = 0; c < demands.size(); ++c) {
      const auto index = choices.empty() ? -1 : static_cast<std::int32_t>(c);
      demands[c] = speeds->with_speeds(id, std::move(demands[c]), index);
    }
    return demands;
  }

 private:
  static std::uint64_t hash(const policy::Demand& demand) {
    std::uint64_t state = random_bits({static_cast<std::uint64_t>(demand.milli),
                                       static_cast<std::uint64_t>(demand.domain),
                                       static_cast<std::uint64_t>(demand.rules)});
    for (const auto& group : demand.groups) {
      state = random_bits({state, static_cast<std::uint64_t>(group.count),
                           static_cast<std::uint64_t>(group.shape.total_milli()),
                           static_cast<std::uint64_t>(group.shape.needs[model::kCpu])});
    }
    for (const double speed : demand.speeds) {
      state = random_bits({state, std::bit_cast<std::uint64_t>(speed)});
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
    case Estimates::walltimes: {
      const double draw = random_unit({options.seed, static_cast<std::uint64_t>(job.value()), 2});
      return std::llround(static_cast<double>(work) * (1.0 + 2.0 * draw));
    }
    case Estimates::history:
      return 0;
  }
  return work;
}

policy::Job policy_job(const model::Job& job, const model::TimeRules& rules,
                       const ReplayOptions& options) {
  policy::Job known;
  known.arrival = std::max(job.arrival, rules.not_before) * kSecond;
  known.restart_cost = rules.restart_cost > 0 ? rules.restart_cost * kSecond : options.restart_cost;
  known.move_cost = options.move_cost < 0 ? known.restart_cost : options.move_cost;
  known.resize_cost = options.resize_cost < 0 ? known.restart_cost : options.resize_cost;
  known.saved_every = rules.checkpoint_every == model::kNotGiven ? options.saved_every
                                                                 : rules.checkpoint_every * kSecond;
  known.weight = job.weight;
  known.queue = job.queue;
  known.priority = job.priority;
  known.licenses = job.rules;
  if (options.only_marked) {
    known.preemptible = rules.preemptible;
    known.checkpoint_every =
        rules.checkpoint_every == model::kNotGiven ? kNever : rules.checkpoint_every * kSecond;
  }
  return known;
}

/// Empty when no queue has a hard quota.
std::vector<policy::QueueQuota> hard_quotas(const model::Cluster& cluster) {
  std::vector<policy::QueueQuota> quotas;
  if (std::ranges::none_of(cluster.queues, &model::Queue::hard)) return quotas;
  for (const model::Queue& queue : cluster.queues) {
    quotas.push_back({queue.parent, queue.hard() ? queue.gpu_quota * model::kGpuMilli : -1});
  }
  return quotas;
}

/// Without rows when no job takes a license.
policy::LicenseTable license_table(const model::Instance& instance) {
  policy::LicenseTable table;
  const auto& rules = instance.workload.rules;
  if (std::ranges::all_of(rules, [](const auto& row) { return row.licenses.empty(); }))
    return table;
  for (const model::License& license : instance.cluster.licenses)
    table.free.push_back(license.count);
  for (const model::PlacementRules& row : rules) table.rows.push_back(row.licenses);
  return table;
}

/// Without rows when no job has rules about machines.
policy::MachineRules machine_rules(const model::Instance& instance) {
  const auto& rows = instance.workload.rules;
  if (std::ranges::none_of(rows, model::concern_machines)) return {};
  policy::MachineRules rules{.rows = rows};
  for (const model::Immovable& content : instance.cluster.immovable) {
    if (!content.job.valid()) continue;
    rules.fixed.push_back({content.machine, instance.workload.job(content.job).rules});
  }
  return rules;
}

GpuTypeId type_of(const model::Cluster& cluster, std::span<const model::TaskPlacement> tasks) {
  for (const model::TaskPlacement& task : tasks) {
    if (task.devices != 0) return cluster.class_of(task.machine).gpu_type;
  }
  return {};
}

/// Microseconds of the job's run on the type; 0: it may not use it.
Micros run_length(const Trace& trace, JobId job, GpuTypeId type) {
  const policy::Demand& demand = trace.demands[trace.jobs[job.index()].demand];
  if (std::ranges::find(demand.types, type) == demand.types.end()) return 0;
  const auto work = static_cast<double>(trace.work[job.index()]);
  return static_cast<Micros>(std::ceil(work / demand.speed_on(type)));
}

/// Jobs that run began when they say, or so that they end when they say; one that would have ended
/// before the begin ends then.
void add_running(const model::Instance& instance, const ReplayOptions& options, Trace& trace) {
  trace.begin = options.begin;
  for (const model::Running& r : instance.workload.running) {
    trace.begin = std::max(trace.begin, trace.jobs[r.job.index()].arrival);
    if (options.begin < 0 && r.since != model::kNotGiven)
      trace.begin = std::max(trace.begin, r.since * kSecond);
  }
  for (const model::Running& r : instance.workload.running) {
    const auto tasks = instance.workload.tasks_of(r);
    RunningJob job{.job = r.job, .type = type_of(instance.cluster, tasks), .pinned = r.pinned};
    job.tasks.assign(tasks.begin(), tasks.end());
    policy::Job& known = trace.jobs[r.job.index()];
    known.preemptible = known.preemptible && !r.pinned;
    const Micros length = run_length(trace, r.job, job.type);
    if (known.elastic || (length == 0 && trace.work[r.job.index()] > 0)) {
      trace.refused.push_back({r.job, known.elastic ? "runs in one of several configurations"
                                                    : "runs on a GPU type that it may not use"});
      continue;
    }
    job.since = r.since == model::kNotGiven ? trace.begin : r.since * kSecond;
    if (r.remaining != model::kNotGiven) job.since += r.remaining * kSecond - length;
    const Micros first = std::max(known.arrival, trace.begin - length);
    job.since = std::clamp(job.since, std::min(first, trace.begin), trace.begin);
    trace.running.push_back(std::move(job));
  }
  std::ranges::sort(trace.running, {},
                    [](const RunningJob& r) { return std::pair(r.since, r.job); });
}

}  // namespace

Trace make_trace(const model::Instance& instance, const ReplayOptions& options,
                 const WorldSpeeds* speeds) {
  const model::Workload& workload = instance.workload;
  Trace trace;
  if (options.estimates == Estimates::history) trace.history = options.residual;
  DemandNumbers numbers(instance, trace.demands);
  trace.jobs.reserve(workload.size());
  trace.work.reserve(workload.size());
  for (std::size_t j = 0; j < workload.size(); ++j) {
    const JobId id(j);
    const model::Job& job = workload.job(id);
    const model::TimeRules& rules = workload.time_of(job);
    policy::Job known = policy_job(job, rules, options);
    const std::vector<policy::Demand> demands = numbers.demands_of(id, speeds);
    known.demand = numbers.number_of(demands);
    known.configurations = static_cast<std::uint32_t>(demands.size());
    known.elastic = rules.configurations != 0;
    const Micros work = rules.seconds() == model::kNotGiven ? 0 : rules.seconds() * kSecond;
    known.estimate = estimate_of(rules, work, id, options);
    if (work == 0) trace.refused.push_back({id, "has neither duration nor limit"});
    trace.jobs.push_back(known);
    trace.work.push_back(work);
  }
  trace.dependencies = workload.dependencies;
  trace.quotas = hard_quotas(instance.cluster);
  trace.licenses = license_table(instance);
  trace.rules = machine_rules(instance);
  if (options.start_running) add_running(instance, options, trace);
  refuse_too_large(instance.cluster, trace);
  return trace;
}

namespace {

bool exceeds_quota(const Trace& trace, const policy::Job& job) {
  if (trace.quotas.empty()) return false;
  for (QueueId queue = job.queue; queue.valid(); queue = trace.quotas[queue.index()].parent) {
    const std::int64_t quota = trace.quotas[queue.index()].milli;
    if (quota >= 0 && trace.demands[job.demand].milli > quota) return true;
  }
  return false;
}

bool exceeds_licenses(const Trace& trace, const policy::Job& job) {
  if (trace.licenses.rows.empty()) return false;
  return std::ranges::any_of(trace.licenses.rows[job.licenses], [&](const auto& use) {
    return use.count > trace.licenses.free[use.license];
  });
}

/// Jobs that wait for a refused one are refused; dependencies of refused jobs are dropped.
void refuse_successors(Trace& trace, std::vector<bool>& out) {
  for (bool again = true; again;) {
    again = false;
    for (const model::Dependency& d : trace.dependencies) {
      if (out[d.job.index()] || !out[d.after.index()]) continue;
      out[d.job.index()] = again = true;
      trace.refused.push_back({d.job, "waits for a job that is left out"});
    }
  }
  std::erase_if(trace.dependencies, [&](const model::Dependency& d) { return out[d.job.index()]; });
}

}  // namespace

void refuse_too_large(const model::Cluster& cluster, Trace& trace) {
  policy::FreeMachines empty(cluster);
  empty.set_rules(trace.rules);
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
    if (out[j]) continue;
    const char* reason = nullptr;
    if (!fits[trace.jobs[j].demand]) reason = "fits no machines of the empty cluster";
    if (exceeds_licenses(trace, trace.jobs[j])) reason = "takes more licenses than there are";
    if (exceeds_quota(trace, trace.jobs[j]))
      reason = "asks for more GPUs than a quota of its queue";
    if (reason == nullptr) continue;
    out[j] = true;
    trace.refused.push_back({JobId(j), reason});
  }
  refuse_successors(trace, out);
  std::erase_if(trace.running, [&](const RunningJob& running) { return out[running.job.index()]; });
  std::ranges::sort(trace.refused, {}, &RefusedJob::job);
}

void release_pinned(model::Cluster& cluster) {
  std::erase_if(cluster.immovable, [](const auto& content) { return content.job.valid(); });
}

namespace {

/// Names of keys, separated by commas.
class KeyList {
 public:
  void add(bool present, const char* key) {
    if (present) keys_ += (keys_.empty() ? "" : ", ") + std::string(key);
  }
  [[nodiscard]] const std::string& text() const { return keys_; }

 private:
  std::string keys_;
};

void add_job_keys(const model::Workload& workload, const HeededKeys& heeded, KeyList& keys) {
  const auto any = [&](auto&& condition) { return std::ranges::any_of(workload.jobs, condition); };
  keys.add(any([](const model::Job& j) { return j.home_rack.valid() || j.home_pod.valid(); }),
           "home");
  keys.add(any([](const model::Job& j) { return j.width_factor != 0; }), "width_factor");
  keys.add(any([](const model::Job& j) {
             return j.communication.pattern != model::CommunicationPattern::none;
           }),
           "communication");
  keys.add(any([](const model::Job& j) { return j.priority != 0; }), "priority");
  keys.add(any([](const model::Job& j) { return j.required; }), "required");
  if (!heeded.utility) {
    keys.add(any([](const model::Job& j) { return !std::isnan(j.value); }), "value");
    keys.add(std::ranges::any_of(workload.time_rules, [](const auto& t) { return t.utility != 0; }),
             "utility");
  }
  if (!heeded.running) {
    keys.add(!workload.running.empty(), "running");
    return;
  }
  keys.add(std::ranges::any_of(workload.running,
                               [](const auto& r) { return r.stop_cost > 0 || r.move_cost > 0; }),
           "running.stop_cost and .move_cost");
}

}  // namespace

std::string ignored_keys(const model::Instance& instance, const HeededKeys& heeded) {
  const model::Cluster& cluster = instance.cluster;
  KeyList keys;
  add_job_keys(instance.workload, heeded, keys);
  const auto limited = [](const auto& place) { return std::isfinite(place.power_w); };
  keys.add(
      std::ranges::any_of(cluster.racks, limited) || std::ranges::any_of(cluster.pods, limited),
      "power_w of racks and pods");
  keys.add(std::ranges::any_of(
               cluster.queues,
               [](const auto& q) { return (q.gpu_quota >= 0 && !q.hard()) || q.gpu_hours >= 0; }),
           "soft quotas and GPU-hours of queues");
  keys.add(
      std::ranges::any_of(cluster.windows,
                          [](const auto& w) { return !w.job_ids.empty() || !w.queues.empty(); }),
      "reservations (their machines are closed to all)");
  keys.add(!cluster.drain_deadlines.empty(), "deadlines of drains");
  keys.add(!cluster.spare.empty(), "spare");
  return keys.text();
}

}  // namespace berth::sim
