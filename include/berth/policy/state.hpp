// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/policy/demand.hpp"
#include "berth/policy/free_machines.hpp"
#include "berth/policy/time.hpp"

namespace berth::policy {

/// What a policy knows of a job, from its arrival on.
struct Job {
  Micros arrival = 0;
  Micros estimate = 0;      ///< work that the policy expects: microseconds at speed 1
  Micros restart_cost = 0;  ///< without progress at the begin of each run but the first
  /// Work between two checkpoints; 0: a stopped job loses none; kNever: it loses all.
  Micros checkpoint_every = 0;
  double weight = 1.0;
  std::uint32_t demand = 0;  ///< index of State::demands
  QueueId queue;
  std::int32_t priority = 0;
  bool preemptible = true;
};

enum class Phase : std::uint8_t {
  ahead,    ///< has not arrived
  waiting,  ///< has no GPUs
  running,
  ended,
};

/// How far a job has come.
struct Progress {
  Phase phase = Phase::ahead;
  bool stopped = false;    ///< in the present decision, and not yet started again
  std::uint32_t runs = 0;  ///< with the present one
  GpuTypeId type;          ///< of the present or last run
  double speed = 1.0;      ///< of the present or last run: work in a microsecond
  Micros since = 0;        ///< start of the present run
  Micros overhead = 0;     ///< microseconds without progress at its begin
  Micros done = 0;         ///< work before the present run
  Micros held = 0;         ///< microseconds with GPUs before the present run
  std::vector<model::TaskPlacement> tasks = {};  ///< of the present or last run
};

struct Action {
  enum class Kind : std::uint8_t { start, stop };
  Kind kind;
  JobId job;
};

/// Cluster and jobs at one moment, and what a policy does about them: decide(state, now) ->
/// actions. Actions take effect at once, so that the next start of a decision sees what the last
/// one took; the simulator reads the list of them afterwards. A job both stopped and started in one
/// decision moves.
class State {
 public:
  static constexpr Micros kOverdue =
      60 * kSecond;  ///< expected of a job that outlived its estimate

  State(const model::Cluster& cluster, std::vector<Demand> demands, std::vector<Job> jobs);

  [[nodiscard]] Micros now() const { return now_; }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }  ///< of all jobs
  [[nodiscard]] const Job& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] const Progress& progress(JobId id) const { return progress_[id.index()]; }
  [[nodiscard]] const Demand& demand(JobId id) const { return demands_[job(id).demand]; }
  [[nodiscard]] std::span<const Demand> demands() const { return demands_; }
  [[nodiscard]] const FreeMachines& free() const { return free_; }
  [[nodiscard]] std::span<const JobId> running() const { return running_; }  ///< any order
  [[nodiscard]] std::int64_t waiting() const { return waiting_; }            ///< number of jobs
  /// By demand: number of waiting jobs.
  [[nodiscard]] std::span<const std::int32_t> waiting_by_demand() const {
    return waiting_by_demand_;
  }
  /// Jobs that arrived or ended since the last decision, in order.
  [[nodiscard]] std::span<const JobId> arrived() const { return arrived_; }
  [[nodiscard]] std::span<const JobId> ended() const { return ended_; }

  /// Work done until now.
  [[nodiscard]] Micros done(JobId id) const;
  /// Microseconds with GPUs until now.
  [[nodiscard]] Micros held(JobId id) const;
  /// Work that the policy expects to be left, > 0.
  [[nodiscard]] Micros remaining(JobId id) const;
  /// Expected end of a running job, > now.
  [[nodiscard]] Micros expected_end(JobId id) const;
  /// Microseconds of a run from now to the end, on the type, as the policy expects.
  [[nodiscard]] Micros expected_run(JobId id, GpuTypeId type) const;

  /// Starts a waiting job on the fastest type with room; false when it fits nowhere. A demand that
  /// did not fit is not tried again before something is released.
  bool start(JobId id);
  bool start(JobId id, GpuTypeId type);
  /// Starts the job on the fastest type where it fits and accept(type, tasks) is true.
  template <class Accept>
  bool start_if(JobId id, const Accept& accept) {
    const std::uint32_t index = job(id).demand;
    if (failed_[index] == released_) return false;
    bool fitted = false;
    for (const GpuTypeId type : demands_[index].types) {
      if (!free_.place(demands_[index], type, trial_)) continue;
      if (accept(type, std::span<const model::TaskPlacement>(trial_))) return begin(id, type);
      fitted = true;
      free_.release(demands_[index], trial_);
    }
    if (!fitted) failed_[index] = released_;
    return false;
  }
  /// Starts a waiting job on these devices; false when they or other resources are not free.
  bool start_on(JobId id, GpuTypeId type, std::span<const model::TaskPlacement> tasks);
  /// Starts a waiting job on its fastest type with room beside devices that are kept for another
  /// job. @param kept  tasks of a reservation; devices of it that are not free now do not matter
  bool start_beside(JobId id, std::span<const model::TaskPlacement> kept);
  /// True when a job of this demand could start now. Changes nothing.
  [[nodiscard]] bool fits(std::uint32_t demand);
  /// True unless every waiting job asks for more GPUs than are free. O(demands)
  [[nodiscard]] bool any_may_fit() const;
  void stop(JobId id);  ///< @pre it runs, is preemptible, and did not start now
  /// Takes back a stop of this decision, when the job's devices are still free.
  bool undo_stop(JobId id);
  /// Asks for a decision at this time, unless one is made earlier; a decision
  /// forgets what earlier ones asked for. @pre time > now
  void wake_at(Micros time);

  // The simulator's part.
  void advance(Micros now) {
    now_ = now;
    wake_ = kNever;
  }
  void arrive(JobId id);
  void end(JobId id);
  /// Ends the decision: settles stops and clears what is new. Returns the actions in order.
  std::vector<Action> take_actions();
  [[nodiscard]] Micros wake() const { return wake_; }  ///< kNever: not asked for

 private:
  bool begin(JobId id, GpuTypeId type);
  void settle_stop(JobId id);
  void close_run(JobId id);
  void leave_running(JobId id);

  Micros now_ = 0;
  Micros wake_ = kNever;
  std::vector<Demand> demands_;
  std::vector<Job> jobs_;           ///< by JobId
  std::vector<Progress> progress_;  ///< by JobId
  FreeMachines free_;
  std::vector<JobId> running_;
  std::vector<std::uint32_t> place_in_running_;  ///< by JobId
  std::int64_t waiting_ = 0;
  std::vector<std::int32_t> waiting_by_demand_;
  std::uint64_t released_ = 1;         ///< releases so far
  std::vector<std::uint64_t> failed_;  ///< by demand: releases at its last failure; 0: none
  std::vector<JobId> arrived_, ended_, stopped_;
  std::vector<Action> actions_;
  std::vector<model::TaskPlacement> trial_;
};

}  // namespace berth::policy
