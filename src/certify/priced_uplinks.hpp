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
class PricedUplinks {
 public:
  /// Traffic of one job on one uplink.
  struct UplinkTraffic {
    std::size_t link;  ///< racks first, then pods
    std::int64_t mbps;
  };

  PricedUplinks(const model::Instance& instance, const model::Certificate& certificate);

  [[nodiscard]] std::size_t of(RackId rack) const { return rack.index(); }
  [[nodiscard]] std::size_t of(PodId pod) const { return racks_ + pod.index(); }

  /// Mbit/s. Empty: no limit.
  [[nodiscard]] const std::optional<std::int64_t>& capacity(std::size_t link) const {
    return capacity_[link];
  }
  [[nodiscard]] std::int64_t price(std::size_t link) const {
    return price_.empty() ? 0 : price_[link];
  }
  /// True when crossing some link costs, or some link cannot carry it.
  [[nodiscard]] bool constrain(std::int64_t mbps) const {
    return mbps > 0 && (!price_.empty() || mbps > least_capacity_);
  }
  /// False when no link has a price or a limit.
  [[nodiscard]] bool constrain_any() const {
    return constrain(std::numeric_limits<std::int64_t>::max());
  }
  /// Traffic of a job over links, in order of links; nothing within one rack.
  [[nodiscard]] std::vector<UplinkTraffic> loads(const model::Job& job,
                                                 std::span<const model::TaskPlacement> tasks) const;
  /// What a job pays for its traffic.
  [[nodiscard]] Int128 uplink_price(const model::Job& job,
                                    std::span<const model::TaskPlacement> tasks) const;
  /// Sum of capacity x price. @pre priced links have a limit
  [[nodiscard]] Int128 capacity_value() const;

  /// Adds the traffic of these jobs. @param carried  Mbit/s by link, empty at first
  void add(const model::Placement& placement, std::vector<Int128>& carried) const;
  /// One fault for every link that carries more than it can. @param carried  as of `add`
  void report(std::span<const Int128> carried, Findings& findings) const;

 private:
  const model::Instance* instance_;
  std::size_t racks_;
  std::vector<std::optional<std::int64_t>> capacity_;
  std::int64_t least_capacity_ = 0;
  std::vector<std::int64_t> price_;  ///< empty when there are none
};

/// Mbit/s of the job's ring, 0 when it has none.
std::int64_t ring_of(const model::Job& job);

}  // namespace berth::certify
