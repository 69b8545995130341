// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/certify/run.hpp"

namespace berth::certify {
namespace {

using model::JobRecord;
using model::JobRun;

constexpr double kMicro = 1e-6;  ///< seconds

double average(const std::vector<double>& sorted) {
  double sum = 0.0;
  for (const double value : sorted) sum += value;
  return sorted.empty() ? 0.0 : sum / static_cast<double>(sorted.size());
}

double ranked(const std::vector<double>& sorted, int per_cent) {
  if (sorted.empty()) return 0.0;
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(per_cent) + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

/// Microseconds in which a run makes progress, and the work that it does in them at its rates.
struct RunMotion {
  std::int64_t ticks = 0;
  double work = 0.0;
};

RunMotion motion_of(const JobRun& run) {
  RunMotion motion;
  std::int64_t time = run.start + run.overhead;
  for (std::size_t i = 0; i <= run.rates.size(); ++i) {
    const std::int64_t next = i < run.rates.size() ? std::min(run.rates[i].time, run.end) : run.end;
    const double rate = i == 0 ? run.speed : run.rates[i - 1].speed;
    if (next <= time) continue;
    motion.ticks += next - time;
    motion.work += rate * static_cast<double>(next - time);
    time = next;
  }
  return motion;
}

/// Microseconds of the run whose work counts.
double net_ticks(const JobRun& run) {
  if (run.rates.empty()) return run.speed > 0.0 ? static_cast<double>(run.work) / run.speed : 0.0;
  const RunMotion motion = motion_of(run);
  return motion.work > 0.0
             ? static_cast<double>(motion.ticks) * static_cast<double>(run.work) / motion.work
             : 0.0;
}

/// Figures of jobs, gathered one by one.
struct JobTimes {
  std::vector<double> jct, delay, slowdown, rho, contention, drift;
  std::map<int, std::vector<double>> slowdown_of_size;
};

int size_class(std::int64_t milli) {
  return milli <= 1000 ? 0 : milli <= 8000 ? 1 : milli <= 64000 ? 2 : 3;
}

/// Job-microseconds in the system until each event.
std::map<std::int64_t, Int128> presence(std::span<const JobRecord> records) {
  std::map<std::int64_t, std::int64_t> change;
  for (const JobRecord& job : records) {
    if (job.runs.empty()) continue;
    ++change[job.arrival];
    --change[job.runs.back().end];
  }
  std::map<std::int64_t, Int128> integral;
  Int128 sum = 0;
  std::int64_t jobs = 0, last = change.empty() ? 0 : change.begin()->first;
  for (const auto& [time, by] : change) {
    sum += Int128{jobs} * (time - last);
    integral[time] = sum;
    jobs += by;
    last = time;
  }
  return integral;
}

void gather(const JobRecord& job, std::int64_t cluster_gpus,
            const std::map<std::int64_t, Int128>& present, JobTimes& times) {
  const std::int64_t end = job.runs.back().end, jct = end - job.arrival;
  std::int64_t waited = jct;
  std::int64_t moving = 0;
  for (const JobRun& run : job.runs) {
    waited -= run.end - run.start;
    moving += motion_of(run).ticks;
  }
  times.contention.push_back(static_cast<double>(moving) / static_cast<double>(job.alone));
  if (job.promised >= 0)
    times.drift.push_back(static_cast<double>(job.runs[0].start - job.promised) * kMicro);
  times.jct.push_back(static_cast<double>(jct) * kMicro);
  times.delay.push_back(static_cast<double>(waited) * kMicro);
  const double bound = std::max(static_cast<double>(job.alone), 10e6);
  times.slowdown.push_back(std::max(1.0, static_cast<double>(jct) / bound));
  times.slowdown_of_size[size_class(job.milli)].push_back(times.slowdown.back());
  const Int128 together = present.at(end) - present.at(job.arrival);
  const double jobs = static_cast<double>(together) / static_cast<double>(jct);
  const double contention =
      jobs * static_cast<double>(job.milli) / (1000.0 * static_cast<double>(cluster_gpus));
  times.rho.push_back(static_cast<double>(jct) /
                      (static_cast<double>(job.alone) * std::max(1.0, contention)));
}

/// Microseconds that machines with GPUs carry something but are not full.
double partly_full(const model::Cluster& cluster, std::span<const JobRecord> records) {
  std::vector<std::map<std::int64_t, std::int64_t>> change(cluster.machines());
  for (const JobRecord& job : records) {
    for (const JobRun& run : job.runs) {
      for (const auto& task : run.tasks) {
        const std::int64_t milli = std::int64_t{task.milli} * std::popcount(task.devices);
        change[task.machine.index()][run.start] += milli;
        change[task.machine.index()][run.end] -= milli;
      }
    }
  }
  double sum = 0.0;
  for (std::size_t m = 0; m < change.size(); ++m) {
    const std::int64_t full = std::int64_t{1000} * cluster.class_of(MachineId(m)).gpus;
    std::int64_t level = 0, last = 0;
    for (const auto& [time, by] : change[m]) {
      if (level > 0 && level < full) sum += static_cast<double>(time - last);
      level += by;
      last = time;
    }
  }
  return sum;
}

/// Microseconds in which at least one job is between its arrival and its end.
std::int64_t time_with_jobs(std::span<const JobRecord> records) {
  std::map<std::int64_t, std::int64_t> change;
  for (const JobRecord& job : records) {
    if (job.runs.empty()) continue;
    ++change[job.arrival];
    --change[job.runs.back().end];
  }
  std::int64_t sum = 0, jobs = 0, last = 0;
  for (const auto& [time, by] : change) {
    if (jobs > 0) sum += time - last;
    jobs += by;
    last = time;
  }
  return sum;
}

void add_cluster_figures(const model::Instance& instance, std::span<const JobRecord> records,
                         model::RunFigures& f) {
  Int128 held = 0;
  double useful = 0.0, restart = 0.0, lost = 0.0;
  std::int64_t begin = 0, end = 0;
  bool any = false;
  for (const JobRecord& job : records) {
    if (job.runs.empty()) continue;
    begin = any ? std::min(begin, job.arrival) : job.arrival;
    end = std::max(end, job.runs.back().end);
    any = true;
    for (const JobRun& run : job.runs) {
      const std::int64_t length = run.end - run.start;
      const std::int64_t idle = std::min(length, run.overhead);
      const double net = net_ticks(run);
      held += Int128{length} * run.milli;
      useful += net * static_cast<double>(run.milli);
      restart += static_cast<double>(idle) * static_cast<double>(run.milli);
      lost +=
          std::max(0.0, static_cast<double>(length - idle) - net) * static_cast<double>(run.milli);
      if (run.ended == model::RunEnd::failed) f.failures += 1.0;
    }
    bool stopped = false;  // the run before, at this time
    std::int64_t since = 0;
    for (const JobRun& run : job.runs) {
      if (stopped) (run.start == since ? f.migrations : f.preemptions) += 1.0;
      stopped = run.ended != model::RunEnd::failed;
      since = run.end;
    }
  }
  const auto span = static_cast<double>(end - begin);
  const double capacity = span * 1000.0 * static_cast<double>(instance.cluster.gpus());
  f.makespan = span * kMicro;
  f.restart_gpu_hours = restart / 3.6e12;
  f.lost_gpu_hours = lost / 3.6e12;
  std::int64_t machines = 0;
  for (const ClassId c : instance.cluster.machine_class) {
    if (instance.cluster.classes[c.index()].gpus > 0) ++machines;
  }
  if (capacity <= 0.0 || machines == 0) return;
  f.allocation = static_cast<double>(held) / capacity;
  f.utilisation = useful / capacity;
  f.occupancy = static_cast<double>(held) / (static_cast<double>(time_with_jobs(records)) * 1000.0 *
                                             static_cast<double>(instance.cluster.gpus()));
  f.fragmentation = partly_full(instance.cluster, records) / (span * static_cast<double>(machines));
}

void add_job_figures(JobTimes& times, model::RunFigures& f) {
  for (auto* values : {&times.jct, &times.delay, &times.slowdown, &times.rho}) {
    std::ranges::sort(*values);
  }
  f.jct_mean = average(times.jct);
  f.jct_median = ranked(times.jct, 50);
  f.jct_p95 = ranked(times.jct, 95);
  f.jct_p99 = ranked(times.jct, 99);
  f.delay_mean = average(times.delay);
  f.delay_p99 = ranked(times.delay, 99);
  f.slowdown_mean = average(times.slowdown);
  f.slowdown_1 = average(times.slowdown_of_size[0]);
  f.slowdown_8 = average(times.slowdown_of_size[1]);
  f.slowdown_64 = average(times.slowdown_of_size[2]);
  f.slowdown_more = average(times.slowdown_of_size[3]);
  f.rho_mean = average(times.rho);
  f.rho_p95 = ranked(times.rho, 95);
  f.rho_max = times.rho.back();
  f.contention_slowdown = average(times.contention);
  f.promises = static_cast<double>(times.drift.size());
  f.drift_mean = average(times.drift);
  for (std::size_t i = 0; i < times.drift.size(); ++i) {
    f.drift_max = i == 0 ? times.drift[i] : std::max(f.drift_max, times.drift[i]);
  }
}

/// Factor of a utility so many seconds after the arrival.
double utility_after(const model::Utility& utility, double seconds) {
  double factor = utility.points.empty() ? 1.0 : utility.points.front().factor;
  for (std::size_t i = 1; i < utility.points.size(); ++i) {
    const model::UtilityPoint& from = utility.points[i - 1];
    const model::UtilityPoint& to = utility.points[i];
    if (seconds <= static_cast<double>(from.seconds)) break;
    const double part = std::min(1.0, (seconds - static_cast<double>(from.seconds)) /
                                          static_cast<double>(to.seconds - from.seconds));
    if (!utility.steps) {
      factor = from.factor + part * (to.factor - from.factor);
    } else if (seconds > static_cast<double>(to.seconds)) {
      factor = to.factor;
    }
  }
  return factor;
}

/// What the job earned by its end.
double value_of(const model::Instance& instance, const JobRecord& record) {
  const model::Job& job = instance.workload.job(record.job);
  const model::TimeRules& rules = instance.workload.time_of(job);
  const std::int64_t end = record.runs.back().end;
  if (rules.deadline != model::kNever && end > rules.deadline * model::kMicros) return 0.0;
  double value = job.value;
  if (std::isnan(value)) {
    value = job.weight * static_cast<double>(instance.workload.gpu_milli(job)) / 1000.0;
  }
  const double after = static_cast<double>(end) / static_cast<double>(model::kMicros) -
                       static_cast<double>(job.arrival);
  return value * utility_after(instance.workload.utilities[rules.utility], after);
}

}  // namespace

model::RunFigures run_figures(const model::Instance& instance, std::span<const JobRecord> records) {
  model::RunFigures f;
  JobTimes times;
  double speeds = 0.0, squares = 0.0;
  const auto present = presence(records);
  for (const JobRecord& job : records) {
    f.jobs += 1.0;
    if (job.refused) f.refused += 1.0;
    if (job.runs.empty()) continue;
    f.finished += 1.0;
    gather(job, instance.cluster.gpus(), present, times);
    const double jct = static_cast<double>(job.runs.back().end - job.arrival);
    const double speed = static_cast<double>(job.alone) / jct;
    speeds += speed;
    f.value += value_of(instance, job);
    squares += speed * speed;
    const auto& rules = instance.workload.time_of(instance.workload.job(job.job));
    if (rules.deadline == model::kNever) continue;
    f.with_deadline += 1.0;
    if (job.runs.back().end <= rules.deadline * model::kMicros) f.deadline_hits += 1.0;
  }
  if (f.finished == 0.0) return f;
  add_job_figures(times, f);
  add_cluster_figures(instance, records, f);
  f.jain = speeds * speeds / (f.finished * squares);
  return f;
}

}  // namespace berth::certify
