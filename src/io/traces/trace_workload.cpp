// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_merge.hpp"
#include "trace_jobs.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kWorkerLabel = "worker";
constexpr std::string_view kRestLabel = "rest";

/// Turns jobs of a trace into lines of a jobs file.
class TraceLines {
 public:
  TraceLines(TraceJobs& jobs, const TraceOptions& options, const std::string& file)
      : jobs_(jobs), options_(options), file_(file) {}

  /// Second of the trace that becomes 0.
  void set_origin(double origin) { origin_ = origin; }

  /// The line of a job; valid until the next call. `name` must outlive it.
  const JobLine& line(const TraceJob& job, const std::string& name) {
    line_ = {};
    line_.id = name;
    line_.queue = job.queue;
    line_.weight = job.weight;
    if (job.value) line_.value = *job.value;
    for (const std::string& type : job.gpu_types) line_.gpu_types.push_back(type);
    for (const auto& [type, speed] : job.speeds) line_.speeds.emplace_back(type, speed);
    set_tasks(job);
    set_times(job);
    return line_;
  }

 private:
  [[noreturn]] void fail(const TraceJob& job, const char* field, const std::string& problem) {
    throw InputError({.file = file_, .line = job.line, .field = field}, problem);
  }

  /// Rounded up to whole units; a hair above a whole number is rounding of the trace.
  std::int64_t units(const TraceJob& job, const char* field, double seconds, std::int64_t largest) {
    constexpr double kHair = 1e-6;  // microseconds: what doubles of Unix times resolve
    const double units =
        std::ceil(seconds * static_cast<double>(options_.units_per_second) - kHair);
    if (!(units <= static_cast<double>(largest))) {
      fail(job, field, fmt::format("{} seconds are more than a jobs file has", seconds));
    }
    return static_cast<std::int64_t>(std::max(units, 0.0));
  }

  void add_tasks(std::string_view label, std::int64_t count, const model::Shape& shape) {
    line_.tasks.push_back(
        {.label = label, .count = static_cast<std::int32_t>(count), .shape = shape});
  }

  /// CPU and memory of one of `parts` equal tasks, rounded up.
  model::Resources needs(const TraceJob& job, std::int64_t parts) const {
    model::Resources needs = {};
    if (!options_.resources) return needs;
    needs[model::kCpu] = (job.cpu_milli + parts - 1) / parts;
    needs[model::kMemory] = (job.memory_mib + parts - 1) / parts;
    return needs;
  }

  void set_tasks(const TraceJob& job) {
    if (job.gpus > kMaxCount || job.tasks > kMaxCount) {
      fail(job, "gpus", fmt::format("{} GPUs are absurdly many", std::max(job.gpus, job.tasks)));
    }
    if (job.gpu_milli > 0) {
      model::Shape shape{.needs = needs(job, 1)};
      shape.gpu_milli = static_cast<std::int32_t>(job.gpu_milli);
      return add_tasks(kDefaultLabel, 1, shape);
    }
    if (job.tasks > 0 && job.gpus % job.tasks == 0) {
      model::Shape shape{.needs = needs(job, job.tasks)};
      shape.gpus = static_cast<std::int32_t>(job.gpus / job.tasks);
      return add_tasks(kWorkerLabel, job.tasks, shape);
    }
    if (job.tasks > 0) {
      jobs_.note(job.line, "GPUs are no multiple of the tasks: cut as if it named no tasks");
    }
    cut(job);
  }

  /// Tasks of `gpus_per_task` GPUs, and one of the rest, which has its part of CPU and memory.
  void cut(const TraceJob& job) {
    const std::int64_t most = options_.gpus_per_task;
    const std::int64_t full = job.gpus / most;
    const std::int64_t rest = job.gpus % most;
    const auto part = [&](std::int64_t amount, std::int64_t gpus) {
      return job.gpus == 0 ? amount : (amount * gpus + job.gpus - 1) / job.gpus;
    };
    const auto task_of = [&](std::int64_t gpus) {
      model::Shape shape;
      shape.gpus = static_cast<std::int32_t>(gpus);
      if (options_.resources) {
        shape.needs[model::kCpu] = part(job.cpu_milli, gpus);
        shape.needs[model::kMemory] = part(job.memory_mib, gpus);
      }
      return shape;
    };
    if (full > 0) add_tasks(kWorkerLabel, full, task_of(most));
    if (rest > 0 || full == 0) add_tasks(full > 0 ? kRestLabel : kWorkerLabel, 1, task_of(rest));
  }

  void set_times(const TraceJob& job) {
    model::TimeRules& rules = line_.time.rules;
    line_.arrival = units(job, "submission", job.submit - origin_, kMaxAmount);
    rules.not_before = line_.arrival;
    rules.preemptible = options_.preemptible;
    rules.duration = units(job, "duration", job.duration, kMaxSeconds);
    if (rules.duration == 0) {
      jobs_.note(job.line, "runs of no time: take 1 s");
      rules.duration = options_.units_per_second;
    }
    if (job.limit) {
      rules.limit = units(job, "limit", *job.limit, kMaxSeconds);
      if (rules.limit < rules.duration) {
        jobs_.note(job.line, "runs beyond their limit: the limit is as long as the run");
        rules.limit = rules.duration;
      }
    }
    if (job.deadline) set_deadline(job);
    set_utility(job);
  }

  void set_deadline(const TraceJob& job) {
    model::TimeRules& rules = line_.time.rules;
    const std::int64_t most = units(job, "deadline", *job.deadline, kMaxSeconds);
    if (most >= rules.duration) {
      rules.deadline = line_.arrival + most;
    } else {
      jobs_.note(job.line, "deadlines before the job can end: left out, the job has value 0");
      line_.value = 0.0;
    }
  }

  void set_utility(const TraceJob& job) {
    if (job.steps.empty()) return;
    model::Utility& utility = line_.time.utility;
    utility.steps = true;
    std::int64_t from = 0;
    for (const TraceValueStep& step : job.steps) {
      utility.points.push_back({.seconds = from, .factor = step.factor});
      from = std::max(units(job, "value", step.seconds, kMaxSeconds), from + 1);
    }
    utility.points.push_back({.seconds = from, .factor = 0.0});
  }

  TraceJobs& jobs_;
  const TraceOptions& options_;
  const std::string& file_;
  double origin_ = 0.0;
  JobLine line_;
};

/// Gives every job a name of its own.
class TraceNames {
 public:
  explicit TraceNames(TraceJobs& jobs) : jobs_(jobs) {}

  std::string name(const TraceJob& job) {
    const std::string wanted = job.id.empty() ? fmt::format("line-{}", job.line) : job.id;
    std::string name = wanted;
    for (std::int64_t& copy = given_[wanted]; !taken_.insert(name).second;) {
      if (copy == 0) jobs_.note(job.line, "names given before: get a suffix");
      name = fmt::format("{}.{}", wanted, ++copy + 1);
    }
    return name;
  }

 private:
  TraceJobs& jobs_;
  std::unordered_map<std::string, std::int64_t> given_;  // suffixes tried, by name
  std::set<std::string> taken_;
};

void check(const TraceOptions& options) {
  const auto refuse = [](const char* field, const char* problem) {
    throw InputError({.file = "", .line = 0, .field = field}, problem);
  };
  if (options.skip < 0) refuse("skip", "must be 0 or more");
  if (options.jobs < 0) refuse("jobs", "must be 0 or more");
  if (options.gpus_per_task < 1 || options.gpus_per_task > model::kMaxGpusPerMachine) {
    refuse("gpus-per-task", "must be 1 .. 64");
  }
  if (options.units_per_second < 1 || options.units_per_second > 1'000'000) {
    refuse("units-per-second", "must be 1 .. 1000000");
  }
}

/// Leaves out jobs without anything to place.
void skip_empty(TraceJobs& jobs, const TraceOptions& options) {
  std::erase_if(jobs.jobs(), [&](const TraceJob& job) {
    if (job.gpus > 0 || job.gpu_milli > 0) return false;
    if (job.cpu_milli <= 0 && job.memory_mib <= 0) {
      jobs.skip(job.line, "ask for no GPU");
      return true;
    }
    if (!options.resources) jobs.skip(job.line, "ask for no GPU (--resources takes them)");
    return !options.resources;
  });
}

void select(std::vector<TraceJob>& jobs, const TraceOptions& options) {
  std::ranges::stable_sort(jobs, {}, &TraceJob::submit);
  const auto size = static_cast<std::int64_t>(jobs.size());
  const std::int64_t first = std::min(options.skip, size);
  jobs.erase(jobs.begin(), jobs.begin() + first);
  if (options.jobs < size - first) jobs.resize(static_cast<std::size_t>(options.jobs));
}

void add_queues(const std::vector<TraceJob>& jobs, model::Cluster& cluster) {
  std::set<std::string> names, known;
  for (const model::Queue& queue : cluster.queues) known.insert(queue.name);
  for (const TraceJob& job : jobs) {
    if (!job.queue.empty() && !known.contains(job.queue)) names.insert(job.queue);
  }
  for (const std::string& name : names) cluster.queues.push_back({.name = name});
}

}  // namespace

model::Workload make_workload(TraceJobs& jobs, const TraceOptions& options, const std::string& file,
                              model::Cluster& cluster) {
  check(options);
  skip_empty(jobs, options);
  std::vector<TraceJob>& list = jobs.jobs();
  select(list, options);
  add_queues(list, cluster);
  TraceLines lines(jobs, options, file);
  if (!list.empty()) lines.set_origin(list.front().submit);
  TraceNames names(jobs);
  SerialJobs workload(cluster, file);
  for (TraceJob& job : list) {
    job.id = names.name(job);
    if (const std::string fault = name_fault(job.id); !fault.empty()) {
      throw InputError({.file = file, .line = job.line, .field = "id"}, fault);
    }
    workload.add(lines.line(job, job.id), job.line);
  }
  return workload.finish();
}

}  // namespace berth::io
