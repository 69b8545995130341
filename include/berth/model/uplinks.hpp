// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {

/// What a job sends over one uplink, each way.
struct LinkLoad {
  std::uint32_t link = 0;  ///< position in `Uplinks`: racks by RackId, then pods by PodId
  std::int64_t mbps = 0;
};

/// Whether any job of a workload sends anything.
enum class JobTraffic : std::uint8_t { none, some };
/// @pre all jobs are here
JobTraffic job_traffic_of(const Workload& workload);

/// The uplinks of a cluster beside the traffic of pinned jobs. The planner's view; the judge has
/// its own.
class Uplinks {
 public:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  /// @param traffic  of the whole, where the instance is a part of one
  Uplinks(const Instance& instance, JobTraffic traffic);
  explicit Uplinks(const Instance& instance)
      : Uplinks(instance, job_traffic_of(instance.workload)) {}

  /// True when no traffic can meet a limit: no job communicates, or every uplink is without limit.
  [[nodiscard]] bool unconstrained() const { return unconstrained_; }
  [[nodiscard]] std::size_t size() const { return mbps_.size(); }
  [[nodiscard]] std::int64_t mbps(std::uint32_t link) const { return mbps_[link]; }

  /// Traffic of a job as placed, by link.
  ///   ring: its rate on the uplink of each rack it has tasks in, when there are several; pods
  ///   alike ps:   ceil(rate (w (P - p) + (W - w) p) / P) with w of W workers and p of P servers
  ///   inside
  /// O(tasks log tasks).
  [[nodiscard]] std::vector<LinkLoad> load(JobId job, std::span<const TaskPlacement> tasks) const;

 private:
  void add_level(std::vector<LinkLoad>& loads, const Communication& communication,
                 std::span<const TaskPlacement> tasks, bool pods) const;

  const Instance* instance_;
  std::vector<std::int64_t> mbps_;
  bool unconstrained_ = true;
};

}  // namespace berth::model
