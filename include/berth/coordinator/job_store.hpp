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

/// The records of jobs, where ranks hold parts of a workload: sent to who works on a job, forgotten
/// by who no longer does. A whole rank (rank 0) is sent nothing and forgets nothing. Pinned jobs
/// stay wherever they are. A plan never depends on any of it.
///
/// A record is about 120 B. All but `keep` are collective, and one exchange.
class JobStore {
 public:
  JobStore() = default;  ///< every rank has all jobs: nothing is sent or forgotten

  /// Collective. @param workload  whole on rank 0, whole or a part elsewhere; both outlive this
  JobStore(const comm::Communicator& comm, model::Workload& workload);

  /// Every rank sends jobs it has to the ranks it lists them for; what those have is not changed.
  void send(JobLists lists) const;

  /// The same from rank 0 alone, where `lists` is called; a part of the jobs at a time, so that not
  /// all lie there twice.
  void hand_out(const std::function<JobLists()>& lists) const;

  /// Every rank sends these jobs of its own to all.
  void show(std::span<const JobId> jobs) const;

  /// This rank's other jobs go.
  void keep(std::span<const JobId> jobs) const;
  /// A round is over: what its shards hold stays, and what lies over several.
  void keep(std::span<const solver::Shard> mine, const model::Placement& spanning,
            std::vector<JobId> also = {}) const;

  /// Some rank holds a part.
  [[nodiscard]] bool in_parts() const { return workload_ != nullptr; }
  /// Jobs that this rank holds, as one of the parts; 0 on a whole rank.
  [[nodiscard]] std::int64_t held() const;

 private:
  const comm::Communicator* comm_ = nullptr;
  model::Workload* workload_ = nullptr;  ///< null: all ranks are whole
  std::vector<char> whole_;              ///< by rank
};

/// Of all of a placement.
std::vector<JobId> jobs_of(const model::Placement& placement);

}  // namespace berth::coordinator
