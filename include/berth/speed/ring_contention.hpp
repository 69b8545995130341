// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/speed/model.hpp"

namespace berth::speed {

/// A job of ring all-reduce, one worker a GPU (SJF-BCO; Yu, Ji, Rajan and Liu, MobiHoc 2022,
/// equation 8).
struct RingJob {
  double gradient_gbit = 0.0;       ///< m
  double forward_per_sample = 0.0;  ///< Delta f: seconds
  double backward = 0.0;            ///< Delta b: seconds of a mini-batch
  double batch = 1.0;               ///< M: samples of an iteration of one worker
  double reduce_gbps = 1.0;         ///< C: what a GPU reduces, data of all its inputs
  double reference = 0.0;  ///< samples/s at which the job takes its `duration`; 0: not such a job
};

/// How jobs that share a link slow each other down.
enum class LinkSharing {
  count,  ///< k = xi1 x number of jobs on the link, as in the paper (equations 6 and 7)
  /// Each other job counts for the part of its time in which it communicates, which depends on the
  /// bandwidth it gets: the least fixed point over all jobs that share links.
  duty,
};

struct RingOptions {
  double internal_gbps = 1.0;        ///< b(i): inside a machine
  double external_gbps = 1.0;        ///< b(e): of a machine whose class has no nic_mbps
  double degradation = 0.0;          ///< alpha of f(alpha, k) = max(1, k + alpha (k - 1)), >= 0
  double contention = 1.0;           ///< xi1, (0, 1]; unused with LinkSharing::duty
  double seconds_per_machine = 0.0;  ///< xi2: overhead of an iteration for each machine of the ring
  LinkSharing sharing = LinkSharing::count;
};

/// Rates of rings that share links: the NIC of each machine, and the uplinks of racks and pods. A
/// job loads the links of the machines, racks and pods that hold some of its workers but not all.
/// With bandwidth B = min over its links of capacity / f(alpha, k), in a machine b(i), an iteration
/// of w workers takes
///   tau = (m/w) 2 (w-1) / B + (m/w) (w-1) / C + xi2 machines + Delta f M + Delta b
/// and the rate is w M / tau / reference: progress is not cut to whole iterations. The batch of a
/// running job, when given, replaces w M.
class RingModel final : public Model {
 public:
  /// `jobs` by JobId; all are referred to. A job without reference has the rate of `others` and
  /// loads no link.
  /// @throws std::invalid_argument: an amount that is negative, not finite, or 0 where it divides
  RingModel(const model::Cluster& cluster, std::span<const RingJob> jobs,
            const RingOptions& options, const Model& others);

  [[nodiscard]] bool coupled() const override { return true; }

  /// The links that the ring loads.
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override;

  /// O(machines of all jobs x log), for LinkSharing::duty at most 64 times.
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  const model::Cluster* cluster_;
  std::span<const RingJob> jobs_;
  RingOptions options_;
  const Model* others_;
};

}  // namespace berth::speed
