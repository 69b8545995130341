// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/policy/demand.hpp"
#include "berth/policy/state.hpp"
#include "berth/policy/time.hpp"

/// Trace-driven simulation: what policies know, and what the world does (docs/simulate.md).
namespace berth::sim {

using policy::kNever;
using policy::kSecond;
using policy::Micros;

/// What policies know of the duration of a job.
enum class Estimates : std::uint8_t {
  exact,   ///< its duration
  limits,  ///< its `limit`; a job without one: its duration
  noisy,   ///< its duration times a log-normal factor of median 1
};

struct ReplayOptions {
  Estimates estimates = Estimates::exact;
  double noise = 0.5;       ///< of `noisy`: standard deviation of the factor's logarithm
  std::uint64_t seed = 1;   ///< of the factors
  Micros restart_cost = 0;  ///< of jobs that name no `restart_cost`
  /// True: only jobs with `preemptible` are stopped, and lose what lies behind `checkpoint_every`.
  /// False: every job may be stopped and loses nothing.
  bool only_marked = false;
};

struct RefusedJob {
  JobId job;
  std::string reason;
};

/// Jobs by JobId, as policies see them and as they are.
struct Trace {
  std::vector<policy::Demand> demands;  ///< distinct
  std::vector<policy::Job> jobs;
  std::vector<Micros> work;         ///< that completes the job: microseconds at speed 1
  std::vector<RefusedJob> refused;  ///< ascending; these jobs never arrive
};

/// The jobs of an instance. A job without duration and limit, or larger than the empty cluster, is
/// refused. Rules about machines, homes, traffic, quotas, windows, `after`, `configurations` and
/// `running` are not simulated: `ignored_keys` names those that the instance has.
/// O(jobs x distinct demands at worst)
Trace make_trace(const model::Instance& instance, const ReplayOptions& options);

/// Keys of the files that have no effect on a simulation of this instance, for a warning; empty:
/// none.
std::string ignored_keys(const model::Instance& instance);

/// Moves jobs that fit no empty cluster to `refused`.
void refuse_too_large(const model::Cluster& cluster, Trace& trace);

}  // namespace berth::sim
