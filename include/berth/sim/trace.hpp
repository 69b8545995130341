// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/policy/demand.hpp"
#include "berth/policy/state.hpp"
#include "berth/policy/time.hpp"
#include "berth/sim/world_speeds.hpp"

/// Trace-driven simulation: what policies know, and what the world does (docs/simulate.md).
namespace berth::sim {

using policy::kNever;
using policy::kSecond;
using policy::Micros;

/// What policies know of the duration of a job.
enum class Estimates : std::uint8_t {
  exact,      ///< its duration
  limits,     ///< its `limit`; a job without one: its duration
  noisy,      ///< its duration times a log-normal factor of median 1
  walltimes,  ///< its duration times a factor in [1, 3), as users ask for more than they take
  history,    ///< what jobs of its queue and size took that ended before
};

struct ReplayOptions {
  Estimates estimates = Estimates::exact;
  policy::Residual residual = policy::Residual::gittins;  ///< of `history`
  double noise = 0.5;       ///< of `noisy`: standard deviation of the factor's logarithm
  std::uint64_t seed = 1;   ///< of the factors
  Micros restart_cost = 0;  ///< of jobs that name no `restart_cost`
  /// True: only jobs with `preemptible` are stopped, and lose what lies behind `checkpoint_every`.
  /// False: every job may be stopped and loses nothing.
  bool only_marked = false;
  Micros move_cost = -1;    ///< of a move; -1: the restart cost
  Micros resize_cost = -1;  ///< of a new configuration or batch; -1: the restart cost
  /// Work between two checkpoints that survive a failure, of jobs without `checkpoint_every`;
  /// kNever: a failure takes all.
  Micros saved_every = kNever;
  /// True: jobs with `running` hold their places at the begin; false: they wait as others do.
  bool start_running = false;
  /// When the simulation begins, if jobs run then; -1: at the last arrival or start of one that
  /// runs.
  Micros begin = -1;
};

/// A job that runs when the simulation begins.
struct RunningJob {
  JobId job;
  GpuTypeId type;
  Micros since = 0;  ///< start of its run
  bool pinned = false;
  std::vector<model::TaskPlacement> tasks = {};
};

struct RefusedJob {
  JobId job;
  std::string reason;
};

/// Jobs by JobId, as policies see them and as they are.
struct Trace {
  std::vector<policy::Demand> demands;  ///< distinct
  std::vector<policy::Job> jobs;
  std::vector<Micros> work;  ///< that completes the job: microseconds at speed 1
  std::optional<policy::Residual> history = {};  ///< jobs have no estimates but those of history
  std::vector<RefusedJob> refused;               ///< ascending; these jobs never arrive
  std::vector<model::Dependency> dependencies = {};  ///< of jobs that arrive, ascending
  std::vector<policy::QueueQuota> quotas = {};       ///< by QueueId; empty: no hard quota
  policy::LicenseTable licenses = {};                ///< no rows: nobody takes any
  policy::MachineRules rules = {};                   ///< no rows: no rules about machines
  std::vector<RunningJob> running = {};              ///< ascending start, then job
  /// With running jobs: other jobs arrive then at the earliest, and no running job ends before.
  Micros begin = 0;
};

/// The jobs of an instance. Refused are jobs without duration and limit, those larger than the
/// empty cluster, a quota of their queue or the licenses there are, and those that wait for a
/// refused job.
/// @param speeds  null: speeds of the jobs file
/// O(jobs x distinct demands at worst)
Trace make_trace(const model::Instance& instance, const ReplayOptions& options,
                 const WorldSpeeds* speeds = nullptr);

/// Takes pinned jobs off the immovable content of machines: in a simulation they run and end.
void release_pinned(model::Cluster& cluster);

/// What a simulation heeds beside what all do.
struct HeededKeys {
  bool running = false;  ///< jobs with `running` hold their places
  bool utility = false;  ///< the policy earns value and utility
};

/// Keys of the files that have no effect on a simulation of this instance, for a warning; empty:
/// none.
std::string ignored_keys(const model::Instance& instance, const HeededKeys& heeded);

/// Moves jobs that fit no empty cluster, quota or number of licenses to `refused`, and those that
/// wait for them.
void refuse_too_large(const model::Cluster& cluster, Trace& trace);

}  // namespace berth::sim
