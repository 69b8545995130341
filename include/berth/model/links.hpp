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
  std::uint32_t link = 0;  ///< position in `Links`: racks by RackId, then pods by PodId
  std::int64_t mbps = 0;
};

/// Whether any job of a workload sends anything.
enum class Talk : std::uint8_t { none, some };
/// @pre all jobs are here
Talk talk_of(const Workload& workload);

/// The uplinks of a cluster beside the traffic of pinned jobs. The planner's view; the judge has
/// its own.
class Links {
 public:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  /// @param talk  of the whole, where the instance is a part of one
  Links(const Instance& instance, Talk talk);
  explicit Links(const Instance& instance) : Links(instance, talk_of(instance.workload)) {}

  /// True when no traffic can meet a limit: no job talks, or every uplink is without limit.
  [[nodiscard]] bool idle() const { return idle_; }
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
  bool idle_ = true;
};

}  // namespace berth::model
