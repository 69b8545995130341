// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/planner_model/limit_usage.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/domain_index.hpp"

namespace berth::solver {

/// A job that an occupancy holds, placed or not.
struct JobEntry {
  model::JobPlacement placement;  ///< no tasks: the job is unplaced
  double value = 0.0;             ///< as placed; 0 when unplaced
  double unpriced_value = 0.0;    ///< value before the prices of limits

  [[nodiscard]] JobId job() const { return placement.job; }
  [[nodiscard]] bool is_placed() const { return !placement.tasks.empty(); }
};

/// One job on one machine.
struct Occupant {
  double density = 0.0;  ///< of the whole job as placed, see `planner_model::value_density`
  JobId job;
  int whole_gpus = 0;                    ///< whole GPUs of the job on this machine
  double value = 0.0;                    ///< of the whole job
  std::int64_t milli = 0;                ///< GPU thousandths of the job on this machine
  bool evictable = true;                 ///< false for required jobs
  planner_model::Precedence precedence;  ///< by `density`

  /// Ascending order of eviction: the last by precedence compares least.
  bool operator<(const Occupant& other) const { return other.precedence < precedence; }
};

/// The state that all searches edit: the jobs and their placements, the free room of the machines,
/// the occupants of each machine, and the use of limits. A search edits it by `fit`,
/// `take` and `give_back`, and undoes edits by `mark` and `roll_back`. The state is a function of
/// the jobs and their placements, not of the order of the edits.
class Occupancy {
 public:
  /// A position in the journal of edits.
  using Mark = std::size_t;
  /// One edit since a mark: the tasks of a job that became unplaced; none: the job was placed.
  struct Change {
    JobId job;
    std::vector<model::TaskPlacement> left;
  };

  /// @param machines  ascending
  Occupancy(const planner_model::Valuation& valuation, std::span<const MachineId> machines,
            const planner_model::CouplingLimits* limits = nullptr);

  /// Adds jobs, unplaced; no effect on jobs that are held. Positions among the entries change.
  /// O(entries + jobs log jobs); O(entries) for one job.
  void admit(std::span<const JobId> jobs);
  void admit(JobId job) { admit(std::span(&job, 1)); }
  /// Removes a job. @pre it is not placed
  void forget(JobId job);

  /// Placement of all tasks of the job on these machines, as `planner_model::place_job` chooses it;
  /// nullopt without enough room, or beyond what limits of racks and pods allow. Does not change
  /// the state.
  [[nodiscard]] std::optional<model::JobPlacement> fit(JobId job,
                                                       std::span<const MachineId> machines);
  /// True when devices and resources of the placement are free, and rules admit the job beside the
  /// others on its machines. Does not change the state.
  [[nodiscard]] bool is_free(const model::JobPlacement& placement);
  void take(model::JobPlacement placement);  ///< @pre the room is free, the job not placed
  /// As `take` of each, on all threads.
  void take(model::Placement placements);
  void record(model::JobPlacement placement);  ///< as `take`, when its room is taken already
  void give_back(JobId job);                   ///< makes the job unplaced and frees its room
  /// Starts a journal of edits, until the mark is rolled back or kept. Marks may nest.
  [[nodiscard]] Mark mark();
  void roll_back(Mark mark);  ///< undoes all edits since the mark
  void keep(Mark mark);       ///< keeps all edits since the mark
  [[nodiscard]] std::span<const Change> changes_since(Mark mark) const {
    return std::span(journal_).subspan(mark);
  }

  /// Computes the values of all jobs anew and the use under other limits of equal numbering; keeps
  /// the allowances.
  void revalue(const planner_model::Valuation& valuation,
               const planner_model::CouplingLimits* limits);

  /// All held jobs, ascending.
  [[nodiscard]] std::span<const JobEntry> entries() const { return entries_; }
  /// Position of a job among the entries. O(log entries). @pre holds(job)
  [[nodiscard]] std::size_t position(JobId job) const;
  [[nodiscard]] bool holds(JobId job) const;
  [[nodiscard]] bool is_placed(JobId job) const {
    return holds(job) && entries_[position(job)].is_placed();
  }
  [[nodiscard]] bool is_waiting(JobId job) const {
    return holds(job) && !entries_[position(job)].is_placed();
  }
  [[nodiscard]] const model::JobPlacement& placed(JobId job) const {
    return entries_[position(job)].placement;
  }
  [[nodiscard]] double value_of(JobId job) const { return entries_[position(job)].value; }
  [[nodiscard]] double unpriced_value_of(JobId job) const {
    return entries_[position(job)].unpriced_value;
  }
  [[nodiscard]] double value() const;  ///< before prices; summed in job order
  /// Jobs on a machine in order of eviction: the last by precedence first.
  [[nodiscard]] std::span<const Occupant> occupants(MachineId m) const {
    return occupants_[room_.slot(m)];
  }
  [[nodiscard]] model::Placement placement() const;        ///< ascending job
  [[nodiscard]] std::vector<JobId> placed_jobs() const;    ///< ascending
  [[nodiscard]] std::vector<JobId> unplaced_jobs() const;  ///< ascending

  [[nodiscard]] std::span<const MachineId> machines() const { return machines_; }
  [[nodiscard]] planner_model::Room& room() { return room_; }
  [[nodiscard]] const planner_model::Room& room() const { return room_; }
  [[nodiscard]] planner_model::LimitUsage& limit_usage() { return limit_usage_; }
  [[nodiscard]] const planner_model::LimitUsage& limit_usage() const { return limit_usage_; }
  /// Evictable jobs that use a quota, the last by precedence first; densities are values per GPU
  /// thousandth.
  using EvictionOrder = std::set<planner_model::Precedence, std::greater<>>;
  [[nodiscard]] const EvictionOrder& evictable_jobs(std::size_t quota) const {
    return by_quota_[quota];
  }
  /// Precedence of a placed job by its value as placed.
  [[nodiscard]] planner_model::Precedence precedence_of(JobId job) const {
    return precedence_of(entries_[position(job)]);
  }
  [[nodiscard]] const DomainIndex& index() const { return index_; }
  [[nodiscard]] const planner_model::Valuation& valuation() const { return *valuation_; }

 private:
  void value_entry(JobEntry& entry);
  void add_occupants(const JobEntry& entry);
  [[nodiscard]] Occupant occupant_of(const JobEntry& entry) const;
  void add_occupant(const Occupant& job, const model::TaskPlacement& task);
  void take_by_machine(std::span<const std::size_t> at, std::span<const Occupant> jobs);
  void add_to_quotas(const planner_model::Precedence& precedence);
  void remove_occupants(const JobEntry& entry);
  [[nodiscard]] planner_model::Precedence precedence_of(const JobEntry& entry) const;

  const planner_model::Valuation* valuation_;
  std::vector<MachineId> machines_;
  planner_model::Room room_;
  DomainIndex index_;
  planner_model::LimitUsage limit_usage_;
  std::vector<JobEntry> entries_;                 ///< ascending job
  std::vector<JobId> jobs_;                       ///< of the entries; searches touch 4 bytes a job
  std::vector<std::vector<Occupant>> occupants_;  ///< by slot of the room
  std::vector<EvictionOrder> by_quota_;           ///< by quota
  std::vector<Change> journal_;                   ///< empty while no mark is set
  int marks_ = 0;                                 ///< number of open marks
};

}  // namespace berth::solver
