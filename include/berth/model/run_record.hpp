// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/job_runs.hpp"
#include "berth/model/time_rules.hpp"

/// What happened in a simulation (docs/simulate.md). Times are microseconds on the axis of
/// Job::arrival; work is microseconds at speed 1.
namespace berth::model {

inline constexpr std::int64_t kMicros = 1'000'000;  ///< microseconds in a second

/// A job from arrival to completion. A job without runs was refused: by the policy, or because it
/// cannot run at all.
struct JobRecord {
  JobId job;
  std::int64_t arrival = 0;
  std::int64_t milli = 0;      ///< GPU thousandths of all tasks
  std::int64_t work = 0;       ///< all of it
  std::int64_t alone = 0;      ///< microseconds on its fastest GPU type without a stop
  std::int64_t promised = -1;  ///< start that the policy told first; -1: none
  bool profiled = false;       ///< its speeds are those of a profile
  bool refused = false;        ///< by the policy, or it waits for such a job
  JobRuns runs = {};           ///< the last one ends the job

  [[nodiscard]] bool finished() const { return !runs.empty(); }
  [[nodiscard]] std::int64_t end() const { return runs.back().end; }
};

template <class Archive>
void describe(Archive& archive, JobRecord& record) {
  archive(record.job, record.arrival, record.milli, record.work, record.alone, record.promised,
          record.profiled, record.refused, record.runs);
}

/// Figures of a simulation over its finished jobs (docs/metrics.md). Times are seconds.
struct RunFigures {
  double jobs = 0, finished = 0;
  double jct_mean = 0, jct_median = 0, jct_p95 = 0, jct_p99 = 0;
  double delay_mean = 0, delay_p99 = 0;  ///< time without GPUs
  double slowdown_mean = 0, slowdown_1 = 0, slowdown_8 = 0, slowdown_64 = 0, slowdown_more = 0;
  double makespan = 0;
  double utilisation = 0, allocation = 0, fragmentation = 0;  ///< 0 .. 1
  double restart_gpu_hours = 0, lost_gpu_hours = 0;
  double preemptions = 0, migrations = 0;
  double with_deadline = 0, deadline_hits = 0;
  double value = 0;  ///< of the jobs, by their utilities at their ends; none after a deadline
  double rho_mean = 0, rho_p95 = 0, rho_max = 0, jain = 0;
  double occupancy = 0;  ///< 0 .. 1
  double contention_slowdown = 0;
  double failures = 0;
  double promises = 0, drift_mean = 0, drift_max = 0;
  double refused = 0;
};

struct RunFigureRow {
  std::string_view key;   ///< in summary.json
  std::string_view text;  ///< in the table on the terminal, with the unit
  double RunFigures::*value;
};

/// Writers, the checker and the table iterate over these rows; formulas: docs/metrics.md.
inline constexpr std::array kRunFigureRows{
    RunFigureRow{"jobs", "jobs", &RunFigures::jobs},
    RunFigureRow{"finished", "finished", &RunFigures::finished},
    RunFigureRow{"jct_mean", "JCT, mean, s", &RunFigures::jct_mean},
    RunFigureRow{"jct_median", "JCT, median, s", &RunFigures::jct_median},
    RunFigureRow{"jct_p95", "JCT, 95 %, s", &RunFigures::jct_p95},
    RunFigureRow{"jct_p99", "JCT, 99 %, s", &RunFigures::jct_p99},
    RunFigureRow{"delay_mean", "queueing delay, mean, s", &RunFigures::delay_mean},
    RunFigureRow{"delay_p99", "queueing delay, 99 %, s", &RunFigures::delay_p99},
    RunFigureRow{"slowdown_mean", "bounded slowdown, mean", &RunFigures::slowdown_mean},
    RunFigureRow{"slowdown_1", "  jobs up to 1 GPU", &RunFigures::slowdown_1},
    RunFigureRow{"slowdown_8", "  up to 8 GPUs", &RunFigures::slowdown_8},
    RunFigureRow{"slowdown_64", "  up to 64 GPUs", &RunFigures::slowdown_64},
    RunFigureRow{"slowdown_more", "  more GPUs", &RunFigures::slowdown_more},
    RunFigureRow{"makespan", "makespan, s", &RunFigures::makespan},
    RunFigureRow{"utilisation", "utilisation", &RunFigures::utilisation},
    RunFigureRow{"allocation", "GPU allocation ratio", &RunFigures::allocation},
    RunFigureRow{"fragmentation", "GPU fragmentation ratio", &RunFigures::fragmentation},
    RunFigureRow{"restart_gpu_hours", "GPU-hours of restarts", &RunFigures::restart_gpu_hours},
    RunFigureRow{"lost_gpu_hours", "GPU-hours lost", &RunFigures::lost_gpu_hours},
    RunFigureRow{"preemptions", "preemptions", &RunFigures::preemptions},
    RunFigureRow{"migrations", "migrations", &RunFigures::migrations},
    RunFigureRow{"with_deadline", "jobs with a deadline", &RunFigures::with_deadline},
    RunFigureRow{"deadline_hits", "  that kept it", &RunFigures::deadline_hits},
    RunFigureRow{"value", "value of jobs in time", &RunFigures::value},
    RunFigureRow{"rho_mean", "finish-time fairness, mean", &RunFigures::rho_mean},
    RunFigureRow{"rho_p95", "finish-time fairness, 95 %", &RunFigures::rho_p95},
    RunFigureRow{"rho_max", "finish-time fairness, worst", &RunFigures::rho_max},
    RunFigureRow{"jain", "Jain's index", &RunFigures::jain},
    RunFigureRow{"occupancy", "scheduling occupancy rate", &RunFigures::occupancy},
    RunFigureRow{"contention_slowdown", "contention slowdown, mean",
                 &RunFigures::contention_slowdown},
    RunFigureRow{"failures", "runs ended by failures", &RunFigures::failures},
    RunFigureRow{"promises", "jobs with a promised start", &RunFigures::promises},
    RunFigureRow{"drift_mean", "  start after it, mean, s", &RunFigures::drift_mean},
    RunFigureRow{"drift_max", "  latest, s", &RunFigures::drift_max},
    RunFigureRow{"refused", "jobs refused by the policy", &RunFigures::refused},
};

/// Head of a run: which input, which policy, which figures.
struct RunSummary {
  std::string instance_digest;
  std::string run_digest;  ///< SHA-256 of the text of jobs.jsonl
  std::string policy;
  std::map<std::string, std::string> options;
  RunFigures figures;
};

}  // namespace berth::model
