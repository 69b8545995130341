// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/placement_rules.hpp"
#include "berth/policy/demand.hpp"
#include "berth/policy/free_machines.hpp"
#include "berth/policy/history.hpp"
#include "berth/policy/time.hpp"

namespace berth::policy {

/// Licenses of the cluster, which jobs take while they run.
struct LicenseTable {
  std::vector<std::int64_t> free;                    ///< by row of Cluster::licenses
  std::vector<std::vector<model::LicenseUse>> rows;  ///< by Job::licenses; empty: nobody takes any
};

/// What a policy knows of a job, from its arrival on.
struct Job {
  Micros arrival = 0;
  Micros estimate = 0;      ///< work that the policy expects: microseconds at speed 1; 0: as
                            ///< jobs that ended before it took (State::learn)
  Micros restart_cost = 0;  ///< without progress at the begin of a run after a stop
  Micros move_cost = 0;     ///< the same after a move: a stop and a start in one decision
  Micros resize_cost = 0;   ///< the same after a change of configuration or batch
  /// Work between two checkpoints; 0: a stopped job loses none; kNever: all of its run. What it had
  /// done when the run began is never lost.
  Micros checkpoint_every = 0;
  Micros saved_every = 0;  ///< the same for a job on a machine that fails
  double weight = 1.0;
  /// An elastic job runs with one of the demands [demand, demand + configurations) of
  /// State::demands, in the order of its `configurations`; others have one.
  std::uint32_t demand = 0;
  std::uint32_t configurations = 1;
  std::uint32_t licenses = 0;  ///< row of LicenseTable::rows
  bool elastic = false;        ///< has `configurations` in the jobs file
  QueueId queue;
  std::int32_t priority = 0;
  bool preemptible = true;
};

enum class Phase : std::uint8_t {
  ahead,    ///< has not arrived
  waiting,  ///< has no GPUs
  running,
  ended,
  refused,  ///< the policy never runs it
};

/// What a policy chooses beside the place.
struct RunChoice {
  std::uint32_t configuration = 0;  ///< of an elastic job
  std::int64_t batch = 0;           ///< samples of an iteration, all workers; 0: the usual

  bool operator==(const RunChoice&) const = default;
};

/// A queue with a hard quota, or between others.
struct QueueQuota {
  QueueId parent = {};      ///< invalid: none
  std::int64_t milli = -1;  ///< GPU thousandths of its jobs and those of its children; -1: no quota
};

/// How far a job has come.
struct Progress {
  Phase phase = Phase::ahead;
  bool stopped = false;      ///< in the present decision, and not yet started again
  std::uint32_t runs = 0;    ///< with the present one
  GpuTypeId type;            ///< of the present or last run
  double speed = 1.0;        ///< at present, or at the end of the last run: work in a microsecond
  Micros since = 0;          ///< start of the present run
  Micros overhead = 0;       ///< microseconds without progress at its begin
  Micros done = 0;           ///< work before the present run
  Micros held = 0;           ///< microseconds with GPUs before the present run
  Micros rated = 0;          ///< from when on `speed` holds, at or after the overhead
  Micros run_work = 0;       ///< work of the present run before `rated`
  Micros promised = kNever;  ///< start that a policy told first; kNever: none
  /// How the job runs; a waiting job, how it will run next.
  RunChoice choice;
  RunChoice last;                                ///< of the present or last run
  std::uint32_t failures = 0;                    ///< runs that failures of machines ended
  std::vector<model::TaskPlacement> tasks = {};  ///< of the present or last run
};

struct Action {
  enum class Kind : std::uint8_t { start, stop, refuse };
  Kind kind;
  JobId job;
};

/// Why a machine closes: its jobs lose what `saved_every` or `checkpoint_every` says.
enum class Outage : std::uint8_t { failure, planned };

/// A start in the future on certain devices.
struct Booking {
  Micros time = 0;
  JobId job;
  GpuTypeId type;
  std::uint32_t configuration = 0;
  std::vector<model::TaskPlacement> tasks = {};
};

template <class Archive>
void describe(Archive& archive, Progress& p) {
  archive(p.phase, p.stopped, p.runs, p.type, p.speed, p.since, p.overhead, p.done, p.held, p.rated,
          p.run_work, p.promised, p.choice, p.last, p.failures, p.tasks);
}

template <class Archive>
void describe(Archive& archive, Booking& booking) {
  archive(booking.time, booking.job, booking.type, booking.configuration, booking.tasks);
}

/// Cluster and jobs at one moment, and what a policy does about them: decide(state, now) ->
/// actions. Actions take effect at once, so that the next start of a decision sees what the last
/// one took; the simulator reads the list of them afterwards. A job both stopped and started in one
/// decision moves.
class State {
 public:
  static constexpr Micros kOverdue =
      60 * kSecond;  ///< expected of a job that outlived its estimate

  /// @pre cluster and jobs outlive it
  State(const model::Cluster& cluster, std::vector<Demand> demands, std::span<const Job> jobs);

  [[nodiscard]] Micros now() const { return now_; }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }  ///< of all jobs
  [[nodiscard]] const Job& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] const Progress& progress(JobId id) const { return progress_[id.index()]; }
  /// What the job asks for in its present configuration.
  [[nodiscard]] std::uint32_t demand_index(JobId id) const {
    return job(id).demand + progress(id).choice.configuration;
  }
  [[nodiscard]] const Demand& demand(JobId id) const { return demands_[demand_index(id)]; }
  [[nodiscard]] const Demand& demand(JobId id, std::uint32_t configuration) const {
    return demands_[job(id).demand + configuration];
  }
  [[nodiscard]] std::span<const Demand> demands() const { return demands_; }
  [[nodiscard]] bool learns() const { return history_.has_value(); }  ///< estimates from history
  [[nodiscard]] const FreeMachines& free() const { return free_; }
  [[nodiscard]] std::span<const JobId> running() const { return running_; }  ///< any order
  [[nodiscard]] std::int64_t waiting() const { return waiting_; }            ///< number of jobs
  /// By demand: number of waiting jobs.
  [[nodiscard]] std::span<const std::int32_t> waiting_by_demand() const {
    return waiting_by_demand_;
  }
  /// Jobs that began to wait without an action since the last decision, in order: they arrived, or
  /// a machine failed under them (Progress::failures).
  [[nodiscard]] std::span<const JobId> arrived() const { return arrived_; }
  [[nodiscard]] std::span<const JobId> ended() const { return ended_; }
  /// Jobs that bookings started since the last decision, and those whose booking came due while
  /// devices were not free (it is cancelled).
  [[nodiscard]] std::span<const JobId> begun() const { return begun_; }
  [[nodiscard]] std::span<const JobId> missed() const { return missed_; }
  /// True when machines failed, were repaired, or opened or closed since the last decision.
  [[nodiscard]] bool machines_changed() const { return machines_changed_; }
  /// Microseconds between decisions; 0: at events.
  [[nodiscard]] Micros slot() const { return slot_; }

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
  /// The same on each type, by entry of its Demand::types.
  void expected_runs(JobId id, std::vector<Micros>& runs) const;

  /// Starts a waiting job on the fastest type with room; false when it fits nowhere. A demand that
  /// did not fit is not tried again before something is released.
  bool start(JobId id);
  bool start(JobId id, GpuTypeId type);
  /// Starts the job on the fastest type where it fits and accept(type, tasks) is true.
  template <class Accept>
  bool start_if(JobId id, const Accept& accept) {
    const std::uint32_t index = demand_index(id);
    if (failed_[index] == released_ || !within_limits(id)) return false;
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
  /// Starts a waiting job on these devices; false when they or other resources are not free, or
  /// rules about other jobs keep it from these machines.
  bool start_on(JobId id, GpuTypeId type, std::span<const model::TaskPlacement> tasks);
  /// Starts a waiting job on its fastest type with room beside devices that are kept for another
  /// job, `ahead`, whose rules hold there too.
  /// @param kept  tasks of a reservation; devices of it that are not free now do not matter
  bool start_beside(JobId id, JobId ahead, std::span<const model::TaskPlacement> kept);
  bool start_beside(JobId id, GpuTypeId type, JobId ahead,
                    std::span<const model::TaskPlacement> kept);
  /// True when the queues of the job have room for it and its licenses are free. No job starts
  /// beyond a hard quota, or without its licenses.
  [[nodiscard]] bool within_limits(JobId id) const;
  /// True when a job of this demand could start now, quotas and licenses aside. Changes nothing.
  [[nodiscard]] bool fits(std::uint32_t demand);
  /// True unless every waiting job asks for more GPUs than are free. O(demands)
  [[nodiscard]] bool any_may_fit() const;
  void stop(JobId id);  ///< @pre it runs, is preemptible, and did not start now
  /// Turns a waiting job away for good, and with it the jobs that wait for it to end.
  /// @pre it waits and never had GPUs
  void refuse(JobId id);
  /// Takes back a stop of this decision, when the job's devices are still free.
  bool undo_stop(JobId id);
  /// Chooses the configuration of the next run of an elastic job. @pre it waits
  void choose(JobId id, std::uint32_t configuration);
  /// Runs an elastic job with another configuration from now on, at its `resize_cost`; its devices
  /// may count for the new ones. False, and it goes on as before, when the new one fits nowhere.
  /// @pre it runs, is preemptible, and did not start now
  bool resize(JobId id, std::uint32_t configuration);
  /// Changes the batch of a running job, which keeps its devices, at its `resize_cost`; of a
  /// waiting job, that of its next run. @param batch  samples of an iteration, all workers
  void set_batch(JobId id, std::int64_t batch);

  /// Books a start: when `time` comes and the job waits, it starts there before the policy decides,
  /// if the devices are free then; no one keeps them free but the policy (`start_beside`). Replaces
  /// the job's booking, and is a promise. @pre time > now
  void book(JobId id, Micros time, GpuTypeId type, std::span<const model::TaskPlacement> tasks);
  void cancel(JobId id);  ///< the booking of the job, if any
  [[nodiscard]] std::span<const Booking> bookings() const { return bookings_; }  ///< by time, job
  /// Tells the job's owner a start. The first one counts (docs/metrics.md: promise drift).
  void promise(JobId id, Micros time);

  /// Asks for a decision at this time, unless one is made earlier; a decision
  /// forgets what earlier ones asked for. @pre time > now
  void wake_at(Micros time);

  // The simulator's part.
  void learn(Residual kind) { history_.emplace(kind); }  ///< what to expect of estimates 0
  void learn_from(JobId ended);                     ///< adds its duration to what `learn` knows
  void set_quotas(std::vector<QueueQuota> queues);  ///< by QueueId, parents first
  void set_licenses(LicenseTable licenses);
  void set_rules(const MachineRules& rules);  ///< @pre they outlive the state; nothing runs
  /// Puts a waiting job where it runs at the begin, whatever limits and states of machines say.
  /// @pre the devices are free
  void hold(JobId id, GpuTypeId type, std::span<const model::TaskPlacement> tasks);
  void set_slot(Micros slot) { slot_ = slot; }
  void advance(Micros now) { now_ = now; }
  /// A decision begins: forgets what earlier ones asked for.
  void begin_decision() { wake_ = kNever; }
  void arrive(JobId id);
  void end(JobId id);
  /// Starts what is booked until now.
  void start_booked();
  /// The job makes progress at this rate from now on. @pre it runs
  void set_speed(JobId id, double speed);
  /// Stops all jobs on the machine, which lose what lies behind their last checkpoint of this kind,
  /// and closes it. Returns the jobs, ascending.
  std::vector<JobId> close(MachineId machine, Outage outage);
  /// The machine is empty and open again, unless it was closed more often than opened.
  void open(MachineId machine);
  /// Settles stops. Returns the actions since the last call, in order.
  std::vector<Action> take_actions();
  /// Ends the decision: clears what was new to it.
  void end_decision();
  [[nodiscard]] Micros wake() const { return wake_; }  ///< kNever: not asked for
  void save(ByteWriter& writer) const;
  void restore(ByteReader& reader);  ///< @pre a new state of the same jobs; not what `learn` knows

 private:
  template <class Archive>
  void describe_all(Archive& archive);
  void use_limits(JobId id, int sign);

  bool begin(JobId id, GpuTypeId type);
  void join_running(JobId id);
  void leave_to_wait(JobId id);
  [[nodiscard]] Micros overhead_of(JobId id) const;
  void settle_stop(JobId id);
  void close_run(JobId id);
  void leave_running(JobId id);

  Micros now_ = 0;
  Micros wake_ = kNever;
  Micros slot_ = 0;
  bool machines_changed_ = false;
  std::vector<Demand> demands_;
  std::span<const Job> jobs_;       ///< by JobId
  std::vector<Progress> progress_;  ///< by JobId
  FreeMachines free_;
  std::vector<JobId> running_;
  std::vector<std::uint32_t> place_in_running_;  ///< by JobId
  std::int64_t waiting_ = 0;
  std::vector<std::int32_t> waiting_by_demand_;
  std::uint64_t released_ = 1;         ///< releases so far
  std::vector<std::uint64_t> failed_;  ///< by demand: releases at its last failure; 0: none
  std::optional<History> history_;
  std::vector<JobId> arrived_, ended_, stopped_, begun_, missed_;
  std::vector<QueueQuota> queues_;        ///< by QueueId; empty: no quotas
  std::vector<std::int64_t> queue_used_;  ///< by QueueId: GPU thousandths, children included
  LicenseTable licenses_;                 ///< `free` is what is left
  std::vector<Booking> bookings_;         ///< by time, then job
  std::vector<std::int32_t> closed_;      ///< by MachineId: outages now; empty: none so far
  std::vector<Action> actions_;
  std::vector<model::TaskPlacement> trial_;
};

}  // namespace berth::policy
