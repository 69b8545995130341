// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/metrics.hpp"

#include "job_value.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace berth::sim {
namespace {

using model::JobRecord;
using model::JobRun;
using model::kMicros;
using model::RunFigures;

constexpr double kSeconds = 1.0 / static_cast<double>(kMicros);
constexpr double kGpuHours = kSeconds / 3600.0 / 1000.0;  ///< of thousandths x microseconds
/// Shorter jobs count as long as this in the bounded slowdown (Feitelson et al. 1997).
constexpr double kShortest = 10.0;  ///< seconds

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0.0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The value of rank ceil(p n). Sorts.
double percentile(std::vector<double>& values, double p) {
  if (values.empty()) return 0.0;
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

/// Integral of the number of jobs between arrival and completion, at any time.
class JobsPresent {
 public:
  explicit JobsPresent(std::span<const JobRecord* const> finished) {
    for (const JobRecord* job : finished) {
      steps_.push_back({job->arrival, 1});
      steps_.push_back({job->end(), -1});
    }
    std::ranges::sort(steps_, {}, &UseStep::time);
    double jobs = 0.0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double before = i == 0 ? 0.0 : integral_.back();
      const auto length = static_cast<double>(i == 0 ? 0 : steps_[i].time - steps_[i - 1].time);
      integral_.push_back(before + jobs * length);
      jobs += steps_[i].change;
    }
  }
  /// Mean number of jobs in [from, to), which are times of steps.
  [[nodiscard]] double mean(std::int64_t from, std::int64_t to) const {
    return (until(to) - until(from)) / static_cast<double>(to - from);
  }

 private:
  struct UseStep {
    std::int64_t time;
    int change;
  };
  [[nodiscard]] double until(std::int64_t time) const {
    const auto at = std::ranges::lower_bound(steps_, time, {}, &UseStep::time);
    return integral_[static_cast<std::size_t>(at - steps_.begin())];
  }
  std::vector<UseStep> steps_;
  std::vector<double> integral_;  ///< until the time of each step
};

/// A run that begins or ends on a machine.
struct MilliChange {
  std::int32_t machine;
  std::int32_t milli;
  std::int64_t time;
};

/// Calls `visit` for every change of every machine, in the order of records.
template <class Visit>
void for_each_change(std::span<const JobRecord> records, const Visit& visit) {
  for (const JobRecord& record : records) {
    for (const JobRun& run : record.runs) {
      for (const auto& task : run.tasks) {
        const std::int32_t milli = task.milli * std::popcount(task.devices);
        if (milli == 0) continue;
        visit(MilliChange{task.machine.value(), milli, run.start});
        visit(MilliChange{task.machine.value(), -milli, run.end});
      }
    }
  }
}

/// Seconds x machines with some but not all GPU thousandths taken, of the machines that have these
/// changes. Sorts.
double partly_used_by(std::vector<MilliChange>& changes, const model::Cluster& cluster) {
  std::ranges::sort(changes, {}, [](const MilliChange& c) { return std::pair(c.machine, c.time); });
  double sum = 0.0;
  std::int64_t used = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    used += changes[i].milli;
    const MachineId machine(changes[i].machine);
    const std::int64_t all = model::kGpuMilli * cluster.class_of(machine).gpus;
    if (changes[i + 1].machine != changes[i].machine || used == 0 || used == all) continue;
    sum += static_cast<double>(changes[i + 1].time - changes[i].time) * kSeconds;
  }
  return sum;
}

/// Seconds x machines with some but not all GPU thousandths taken, of all machines. Takes a block
/// of machines at a time: at most a sixteenth of the changes, or those of one machine, are in
/// memory.
double partly_used(const model::Cluster& cluster, std::span<const JobRecord> records) {
  constexpr std::size_t kBlocks = 16, kFew = 65'536;
  std::vector<std::size_t> count(cluster.machines());
  std::size_t all = 0, most = 0;
  for_each_change(records, [&](const MilliChange& c) {
    most = std::max(most, ++count[static_cast<std::size_t>(c.machine)]);
    ++all;
  });
  const std::size_t room = std::max({kFew, all / kBlocks, most});
  std::vector<MilliChange> changes;
  changes.reserve(std::min(all, room));
  double sum = 0.0;
  for (std::size_t from = 0; from < count.size();) {
    std::size_t to = from, inside = 0;
    while (to < count.size() && inside + count[to] <= room) inside += count[to++];
    changes.clear();
    for_each_change(records, [&](const MilliChange& c) {
      const auto machine = static_cast<std::size_t>(c.machine);
      if (machine >= from && machine < to) changes.push_back(c);
    });
    sum += partly_used_by(changes, cluster);
    from = to;
  }
  return sum;
}

/// Microseconds with at least one job present.
double busy(std::span<const JobRecord* const> finished) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const JobRecord* job : finished) spans.emplace_back(job->arrival, job->end());
  std::ranges::sort(spans);
  std::int64_t sum = 0, until = spans.front().first;
  for (const auto& [from, to] : spans) {
    sum += std::max<std::int64_t>(0, to - std::max(from, until));
    until = std::max(until, to);
  }
  return static_cast<double>(sum);
}

/// Microseconds of the run without its overhead, and the part of them whose work counts: what it
/// lost is taken at the mean speed of the run.
struct RunTicks {
  double moving = 0.0;
  double kept = 0.0;
};

RunTicks ticks_of(const JobRun& run) {
  const auto moving =
      static_cast<double>(std::max<std::int64_t>(0, run.end - run.start - run.overhead));
  if (run.rates.empty())
    return {moving, run.speed > 0.0 ? static_cast<double>(run.work) / run.speed : 0.0};
  const std::int64_t begin = run.start + run.overhead;
  double all = 0.0, speed = run.speed;
  std::int64_t since = begin;
  for (const model::RateStep& step : run.rates) {
    const std::int64_t until = std::clamp(step.time, begin, std::max(begin, run.end));
    all += speed * static_cast<double>(until - since);
    since = until;
    speed = step.speed;
  }
  all += speed * static_cast<double>(std::max(begin, run.end) - since);
  return {moving, all > 0.0 ? moving * static_cast<double>(run.work) / all : 0.0};
}

void add_use(const model::Cluster& cluster, std::span<const JobRecord> records,
             std::span<const JobRecord* const> finished, RunFigures& f) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  double allocated = 0.0, useful = 0.0;
  for (const JobRecord* job : finished) {
    first = std::min(first, job->arrival);
    last = std::max(last, job->end());
    std::optional<std::int64_t> stopped;  // when the run before was stopped, if it was
    for (const JobRun& run : job->runs) {
      const auto milli = static_cast<double>(run.milli);
      const auto length = static_cast<double>(run.end - run.start);
      const RunTicks ticks = ticks_of(run);
      allocated += milli * length;
      useful += milli * ticks.kept;
      f.restart_gpu_hours += milli * (length - ticks.moving) * kGpuHours;
      f.lost_gpu_hours += milli * std::max(0.0, ticks.moving - ticks.kept) * kGpuHours;
      if (run.ended == model::RunEnd::failed) ++f.failures;
      if (stopped) ++(*stopped == run.start ? f.migrations : f.preemptions);
      stopped.reset();
      if (run.ended != model::RunEnd::failed) stopped = run.end;
    }
  }
  f.makespan = static_cast<double>(last - first) * kSeconds;
  const double all =
      static_cast<double>(cluster.gpus()) * 1000.0 * static_cast<double>(last - first);
  if (all > 0.0) {
    f.allocation = allocated / all;
    f.utilisation = useful / all;
    f.occupancy = allocated / (static_cast<double>(cluster.gpus()) * 1000.0 * busy(finished));
  }
  std::int64_t machines = 0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    machines += cluster.class_of(MachineId(m)).gpus > 0 ? 1 : 0;
  }
  if (machines > 0 && f.makespan > 0.0) {
    f.fragmentation = partly_used(cluster, records) / (static_cast<double>(machines) * f.makespan);
  }
}

void add_slowdowns(std::span<const JobRecord* const> finished, RunFigures& f) {
  constexpr std::int64_t kMost[] = {1'000, 8'000, 64'000};  // thousandths, by size class
  std::vector<double> all, by_size[4];
  for (const JobRecord* job : finished) {
    const double jct = static_cast<double>(job->end() - job->arrival) * kSeconds;
    const double alone = std::max(kShortest, static_cast<double>(job->alone) * kSeconds);
    const double slowdown = std::max(1.0, jct / alone);
    std::size_t size = 0;
    while (size < 3 && job->milli > kMost[size]) ++size;
    all.push_back(slowdown);
    by_size[size].push_back(slowdown);
  }
  f.slowdown_mean = mean(all);
  f.slowdown_1 = mean(by_size[0]);
  f.slowdown_8 = mean(by_size[1]);
  f.slowdown_64 = mean(by_size[2]);
  f.slowdown_more = mean(by_size[3]);
}

void add_times(std::span<const JobRecord* const> finished, RunFigures& f) {
  std::vector<double> jct, delay;
  for (const JobRecord* job : finished) {
    std::int64_t held = 0;
    for (const JobRun& run : job->runs) held += run.end - run.start;
    jct.push_back(static_cast<double>(job->end() - job->arrival) * kSeconds);
    delay.push_back(static_cast<double>(job->end() - job->arrival - held) * kSeconds);
  }
  f.jct_mean = mean(jct);
  f.jct_median = percentile(jct, 0.5);
  f.jct_p95 = percentile(jct, 0.95);
  f.jct_p99 = percentile(jct, 0.99);
  f.delay_mean = mean(delay);
  f.delay_p99 = percentile(delay, 0.99);
}

/// Finish-time fairness (Themis: Mahajan et al., NSDI 2020) and Jain's index (Jain et al. 1984).
void add_fairness(const model::Cluster& cluster, std::span<const JobRecord* const> finished,
                  RunFigures& f) {
  const JobsPresent present(finished);
  const auto gpus = static_cast<double>(cluster.gpus());
  std::vector<double> rho;
  double sum = 0.0, squares = 0.0;
  for (const JobRecord* job : finished) {
    const auto jct = static_cast<double>(job->end() - job->arrival);
    const double jobs = present.mean(job->arrival, job->end());
    const double share = std::max(1.0, jobs * static_cast<double>(job->milli) / 1000.0 / gpus);
    const auto alone = static_cast<double>(job->alone);
    rho.push_back(jct / (alone * share));
    sum += alone / jct;
    squares += alone / jct * (alone / jct);
  }
  f.rho_mean = mean(rho);
  f.rho_max = *std::ranges::max_element(rho);
  f.rho_p95 = percentile(rho, 0.95);
  f.jain = sum * sum / (static_cast<double>(finished.size()) * squares);
}

/// What places and other jobs cost, and what was promised.
void add_contention_and_drift(std::span<const JobRecord* const> finished, RunFigures& f) {
  std::vector<double> slowdown, drift;
  for (const JobRecord* job : finished) {
    double moving = 0.0;
    for (const JobRun& run : job->runs) moving += ticks_of(run).moving;
    slowdown.push_back(moving / static_cast<double>(job->alone));
    if (job->promised < 0) continue;
    drift.push_back(static_cast<double>(job->runs.front().start - job->promised) * kSeconds);
  }
  f.contention_slowdown = mean(slowdown);
  f.promises = static_cast<double>(drift.size());
  f.drift_mean = mean(drift);
  if (!drift.empty()) f.drift_max = *std::ranges::max_element(drift);
}

}  // namespace

RunFigures figures(const model::InstanceView& instance, std::span<const JobRecord> records) {
  RunFigures f;
  f.jobs = static_cast<double>(records.size());
  f.refused = static_cast<double>(std::ranges::count(records, true, &JobRecord::refused));
  std::vector<const JobRecord*> finished;
  for (const JobRecord& record : records) {
    if (!record.finished()) continue;
    finished.push_back(&record);
    f.value += value_at(instance.workload, record.job, record.end());
    const std::int64_t deadline =
        instance.workload.time_of(instance.workload.job(record.job)).deadline;
    if (deadline == model::kNever) continue;
    ++f.with_deadline;
    if (record.end() <= deadline * kMicros) ++f.deadline_hits;
  }
  f.finished = static_cast<double>(finished.size());
  if (finished.empty()) return f;
  add_times(finished, f);
  add_slowdowns(finished, f);
  add_use(instance.cluster, records, finished, f);
  add_fairness(instance.cluster, finished, f);
  add_contention_and_drift(finished, f);
  return f;
}

}  // namespace berth::sim
