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

/// The records of jobs, where ranks hold parts of a workload.
///
/// Every job is at home on one rank, which never forgets it: blocks of jobs go round the ranks, so
/// that no rank holds all. From there records are sent to the ranks that work on a job, and are
/// forgotten where the work on it is done. Pinned jobs stay wherever they are. `gather_to_root`
/// moves the home of all jobs to rank 0. Where every rank has all jobs nothing is sent or
/// forgotten, and a home only says which rank works on the job. A plan never depends on any of it.
///
/// A record is about 120 B. A function that adds or removes records, or moves homes, is not const:
/// only code that is given `JobRecords&` changes what `Workload::job` may be asked for. All of
/// these but `retain_only` are collective; const functions are local.
class JobRecords {
 public:
  /// Collective. Every rank has all jobs; or rank 0 does, and all are at home there; or none does
  /// and every rank has those at home with it. @param workload  outlives this, as does `comm`
  JobRecords(const comm::Communicator& comm, model::Workload& workload);

  /// Every rank has all jobs. Not collective.
  static JobRecords of_replicated(const comm::Communicator& comm, const model::Workload& workload);

  /// The rank of a job's home while no rank has all jobs.
  static int home_of(JobId job, int ranks);
  [[nodiscard]] int home(JobId job) const;
  /// Planned jobs that are at home on this rank, ascending. Over all ranks: every one once.
  [[nodiscard]] std::vector<JobId> home_jobs() const;

  /// Moves the homes from rank 0 to all ranks, the records with them.
  void scatter_homes();
  /// Moves all records and homes to rank 0, which has all jobs then.
  void gather_to_root();

  /// Sends records of this rank to the ranks that `lists` names them for; records that those have
  /// already are not changed.
  void send(JobLists lists);

  /// The same of jobs at home here, with `lists` called on every rank; some thousand jobs at a
  /// time, so that at most those are in memory twice.
  void scatter(const std::function<JobLists()>& lists);
  /// Of these lists, the same on every rank, the jobs that are at home here.
  [[nodiscard]] JobLists only_home(JobLists wanted) const;

  /// Brings the records of these jobs from their homes; each rank passes its own list. Collective.
  void fetch(std::span<const JobId> wanted);

  /// Sends these records, which this rank has, to all ranks. Collective.
  void broadcast(std::span<const JobId> jobs);

  /// Copies these jobs' records to rank 0 until the returned object is destroyed. Collective (the
  /// same list on all ranks); destruction is local.
  class Borrowed;
  [[nodiscard]] Borrowed borrow(const std::vector<JobId>& jobs);

  /// Forgets all records but these and those of jobs at home on this rank. Local.
  void retain_only(std::span<const JobId> jobs);
  /// The same at the end of a round: keeps the jobs of these shards and of `spanning`, and `also`.
  void retain_only(std::span<const solver::Shard> mine, const model::Placement& spanning,
                   std::vector<JobId> also = {});

  /// Some rank holds only a part of the records.
  [[nodiscard]] bool distributed() const { return workload_ != nullptr; }
  /// Records on this rank; 0 where this rank has all of them.
  [[nodiscard]] std::int64_t count_local() const;

 private:
  struct Replicated {};  // tells the two constructors apart
  JobRecords(Replicated, const comm::Communicator& comm, const model::Workload& jobs)
      : comm_(&comm), jobs_(&jobs) {}

  const comm::Communicator* comm_;
  const model::Workload* jobs_;
  model::Workload* workload_ = nullptr;  ///< the same; null: all ranks are whole
  std::vector<char> holds_all_;          ///< by rank
  bool at_root_ = false;                 ///< all jobs are at home on rank 0
};

class JobRecords::Borrowed {
 public:
  ~Borrowed();
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  friend class JobRecords;
  Borrowed(JobRecords& records, const std::vector<JobId>& jobs);
  model::Workload* part_;  ///< null: nothing to forget
  std::vector<JobId> had_;
};

/// Of all of a placement.
std::vector<JobId> jobs_of(const model::Placement& placement);

}  // namespace berth::coordinator
