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
/// that no rank holds all. From there records are sent to who works on a job, and are forgotten
/// by who no longer does. Pinned jobs stay wherever they are. What takes one rank all jobs
/// (`gather`) moves their home to rank 0. Where every rank has all jobs nothing is sent or
/// forgotten, and homes only say who does what. A plan never depends on any of it.
///
/// A record is about 120 B. All but what is const and answers at once is collective.
class JobStore {
 public:
  /// Collective. Every rank has all jobs; or rank 0 does, and all are at home there; or none does
  /// and every rank has those at home with it. @param workload  outlives this, as does `comm`
  JobStore(const comm::Communicator& comm, model::Workload& workload);

  /// Every rank has all jobs. Not collective.
  static JobStore of_whole(const comm::Communicator& comm, const model::Workload& workload);

  /// The rank of a job's home while no rank has all jobs.
  static int home_of(JobId job, int ranks);
  [[nodiscard]] int home(JobId job) const;
  /// Planned jobs that are at home on this rank, ascending. Over all ranks: every one once.
  [[nodiscard]] std::vector<JobId> home_jobs() const;

  /// Jobs at home on rank 0 go home to all ranks.
  void spread();
  /// All jobs come to rank 0, which is whole then: nothing that was a part there is any more.
  void gather();

  /// Every rank sends jobs it has to the ranks it lists them for; what those have is not changed.
  void send(JobLists lists) const;

  /// The same of jobs that are at home here, as `lists` says on every rank; a part of the jobs at a
  /// time, so that not all lie there twice.
  void hand_out(const std::function<JobLists()>& lists) const;
  /// Whom the jobs at home here are sent to: all that `wanted`, the same on every rank, lists.
  [[nodiscard]] JobLists from_home(JobLists wanted) const;

  /// Every rank gets the jobs it wants, from their homes.
  void fetch(std::span<const JobId> wanted) const;

  /// Every rank sends these jobs of its own to all.
  void show(std::span<const JobId> jobs) const;

  /// Rank 0 has the records of these jobs, the same list on every rank, until the guests go, which
  /// is no collective.
  class Guests;
  [[nodiscard]] Guests invite(const std::vector<JobId>& jobs) const;

  /// Those of this rank's other jobs go that are not at home here.
  void keep(std::span<const JobId> jobs) const;
  /// A round is over: what its shards hold stays, and what lies over several.
  void keep(std::span<const solver::Shard> mine, const model::Placement& spanning,
            std::vector<JobId> also = {}) const;

  /// Some rank holds a part.
  [[nodiscard]] bool in_parts() const { return workload_ != nullptr; }
  /// Jobs that this rank holds, as one of the parts; 0 on a whole rank.
  [[nodiscard]] std::int64_t held() const;

 private:
  struct Whole {};  // tells the two constructors apart
  JobStore(Whole, const comm::Communicator& comm, const model::Workload& jobs)
      : comm_(&comm), jobs_(&jobs) {}

  const comm::Communicator* comm_;
  const model::Workload* jobs_;
  model::Workload* workload_ = nullptr;  ///< the same; null: all ranks are whole
  std::vector<char> whole_;              ///< by rank
  bool at_root_ = false;                 ///< all jobs are at home on rank 0
};

class JobStore::Guests {
 public:
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

 private:
  friend class JobStore;
  Guests(const JobStore& store, const std::vector<JobId>& jobs);
  model::Workload* part_;  ///< null: nobody goes
  std::vector<JobId> had_;
};

/// Of all of a placement.
std::vector<JobId> jobs_of(const model::Placement& placement);

}  // namespace berth::coordinator
