// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "findings.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// The uplinks of racks and pods: what they carry beside pinned jobs, each way, and at what price.
class Links {
 public:
  /// Traffic of one job on one uplink.
  struct Load {
    std::size_t link;  ///< racks first, then pods
    std::int64_t mbps;
  };

  Links(const model::Instance& instance, const model::Certificate& certificate);

  [[nodiscard]] std::size_t of(RackId rack) const { return rack.index(); }
  [[nodiscard]] std::size_t of(PodId pod) const { return racks_ + pod.index(); }

  /// Mbit/s. Empty: no limit.
  [[nodiscard]] const std::optional<std::int64_t>& room(std::size_t link) const {
    return room_[link];
  }
  [[nodiscard]] std::int64_t price(std::size_t link) const {
    return price_.empty() ? 0 : price_[link];
  }
  /// True when crossing some link costs, or some link cannot carry it.
  [[nodiscard]] bool matter_to(std::int64_t mbps) const {
    return mbps > 0 && (!price_.empty() || mbps > least_room_);
  }
  /// False when no link has a price or a limit.
  [[nodiscard]] bool matter() const { return matter_to(std::numeric_limits<std::int64_t>::max()); }
  /// Traffic of a job over links, in order of links; nothing within one rack.
  [[nodiscard]] std::vector<Load> loads(const model::Job& job,
                                        std::span<const model::TaskPlacement> tasks) const;
  /// What a job pays for its traffic.
  [[nodiscard]] Int128 toll(const model::Job& job,
                            std::span<const model::TaskPlacement> tasks) const;
  /// Sum of room x price. @pre priced links have a limit
  [[nodiscard]] Int128 worth() const;

  /// One fault for every link that carries more than it can.
  void report(const model::Placement& placement, Findings& findings) const;

 private:
  const model::Instance* instance_;
  std::size_t racks_;
  std::vector<std::optional<std::int64_t>> room_;
  std::int64_t least_room_ = 0;
  std::vector<std::int64_t> price_;  ///< empty when there are none
};

/// Mbit/s of the job's ring, 0 when it has none.
std::int64_t ring_of(const model::Job& job);

/// Why the prices of links cannot be used; empty when they can.
std::string unusable_links(const model::Instance& instance, const model::Certificate& certificate);

}  // namespace berth::certify
