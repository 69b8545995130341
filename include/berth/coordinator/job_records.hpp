// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/workload.hpp"
#include "berth/solver/shard.hpp"

namespace berth::coordinator {

/// Jobs for each rank, by rank.
using JobLists = std::vector<std::vector<JobId>>;

/// Distribution of the job records over the ranks. The only code that adds records to and removes
/// them from this rank's `model::JobSet`, which stages read by `model::WorkloadView`.
///
/// Every job has a home, the rank that always keeps its record (docs/decisions/0019). Blocks of
/// jobs are assigned to the ranks in turn, so no rank has all records. The home sends a record to
/// the ranks that work on the job, and these remove it afterwards. Records of pinned jobs are never
/// removed. `gather_to_root` moves the home of all jobs to rank 0. If every rank has all records,
/// nothing is sent or removed, and homes only divide the work. Plans do not depend on homes.
///
/// A record is about 120 B. Functions that add or remove records or move homes are not const, so
/// only code with a `JobRecords&` changes the jobs that a view has. They are collective except
/// `retain_only`; const functions are local.
class JobRecords {
 public:
  /// Accepts three states: every rank has all records; rank 0 has all, and is their home; or every
  /// rank has the records of its home jobs. Collective.
  /// @param records  of this rank; must outlive this, as must `tables` and `comm`
  JobRecords(const comm::Communicator& comm, const model::WorkloadTables& tables,
             model::JobSet& records);
  JobRecords(const comm::Communicator& comm, model::Workload& workload)
      : JobRecords(comm, workload, workload) {}

  /// Every rank has all jobs. Not collective.
  static JobRecords of_replicated(const comm::Communicator& comm,
                                  const model::WorkloadView& workload);

  /// The home of a job if no rank has all records.
  static int home_of(JobId job, int ranks);
  /// The home of a job in the present state.
  [[nodiscard]] int home(JobId job) const;
  /// Planned jobs at home on this rank, ascending. Every planned job has exactly one home.
  [[nodiscard]] std::vector<JobId> home_jobs() const;

  /// Moves the homes, with the records, from rank 0 to all ranks.
  void scatter_homes();
  /// Moves all records and homes to rank 0.
  void gather_to_root();

  /// Sends records of this rank: those of lists[r] to rank r. Does not change records that a rank
  /// already has.
  void send(JobLists lists);
  /// Sends records of home jobs: those of lists()[r] to rank r; calls `lists` on every rank. Sends
  /// 8,192 jobs at a time, so that memory holds at most these twice.
  void scatter(const std::function<JobLists()>& lists);
  /// These lists, which are equal on all ranks, reduced to the jobs at home here.
  [[nodiscard]] JobLists only_home(JobLists wanted) const;

  /// Fetches the records of these jobs from their homes; each rank passes its own list. Collective.
  void fetch(std::span<const JobId> wanted);

  /// Sends these records, which this rank has, to all ranks. Collective.
  void broadcast(std::span<const JobId> jobs);

  /// Copies these jobs' records to rank 0 until the returned object is destroyed. Collective, with
  /// equal lists on all ranks; destruction is local.
  class Borrowed;
  [[nodiscard]] Borrowed borrow(const std::vector<JobId>& jobs);

  /// Removes all records except these and those of home jobs. Local.
  void retain_only(std::span<const JobId> jobs);
  /// Removes all records except those of home jobs, of the jobs of these shards, of `spanning` and
  /// of `also`. Local; for the end of a round.
  void retain_only(std::span<const solver::Shard> mine, const model::Placement& spanning,
                   std::vector<JobId> also = {});

  /// True when some rank has only a part of the records.
  [[nodiscard]] bool distributed() const { return records_ != nullptr; }
  /// Number of records on this rank; 0 if it has all of them.
  [[nodiscard]] std::int64_t count_local() const;

 private:
  struct Replicated {};  // distinguishes the two constructors
  JobRecords(Replicated, const comm::Communicator& comm, const model::WorkloadView& workload)
      : comm_(&comm), workload_(workload) {}

  const comm::Communicator* comm_;
  model::WorkloadView workload_;  ///< of this rank
  model::JobSet* records_ =
      nullptr;                   ///< of the view, to be edited; null: all ranks have all records
  std::vector<char> holds_all_;  ///< by rank
  bool at_root_ = false;         ///< all jobs are at home on rank 0
};

class JobRecords::Borrowed {
 public:
  ~Borrowed();
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  friend class JobRecords;
  Borrowed(JobRecords& records, const std::vector<JobId>& jobs);
  model::JobSet* part_;          ///< null: nothing to remove
  std::size_t had_ = 0;          ///< jobs of the part before
  std::vector<JobId> borrowed_;  ///< and jobs that the part had
};

/// A job's record in a message; about 110 B. A writer may give the groups as a span.
struct JobMessage {
  JobId id;
  model::Job job;
  std::vector<model::TaskGroup> groups;
};

template <class Archive>
void describe(Archive& archive, JobMessage& message) {
  archive(message.id, message.job, message.groups);
}

/// Adds the records in these bytes to a part; does not change records that the part already has.
void add_records(std::span<const char> messages, model::JobSet& part);

/// All jobs of a placement.
std::vector<JobId> jobs_of(const model::Placement& placement);

}  // namespace berth::coordinator
