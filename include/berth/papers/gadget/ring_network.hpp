// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/papers/gadget/ring_instance.hpp"

namespace berth::papers::gadget {

/// What is left of a cluster in one slot.
class RingNetwork {
 public:
  explicit RingNetwork(const RingCluster& cluster);

  [[nodiscard]] std::int64_t free_gpus() const { return total_; }
  /// Whether GPUs and links have room. O(servers)
  [[nodiscard]] bool fits(const Ring& ring, double bandwidth) const;
  void take(const Ring& ring, double bandwidth) { change(ring, bandwidth, -1); }  ///< @pre fits
  void release(const Ring& ring, double bandwidth) { change(ring, bandwidth, 1); }
  /// A ring of so many workers that fits, empty only if there is none: on one server, the fullest
  /// that has room; else in one rack, the fullest; else over racks, those with most room first, and
  /// in each the servers with most room, so that few links are loaded. @pre workers > 0
  /// O(servers log servers)
  [[nodiscard]] Ring embed(std::int32_t workers, double bandwidth) const;

 private:
  void change(const Ring& ring, double bandwidth, int sign);
  [[nodiscard]] Ring on_one_server(std::int32_t workers) const;
  [[nodiscard]] std::int64_t room(std::size_t rack, double bandwidth) const;
  void fill(std::size_t rack, double bandwidth, std::int32_t& left, Ring& ring) const;

  const RingCluster* cluster_;
  std::vector<std::int32_t> gpus_;  ///< free, by server
  std::vector<double> server_link_, rack_link_;
  std::vector<std::vector<std::size_t>> servers_;  ///< by rack
  std::int64_t total_ = 0;
};

}  // namespace berth::papers::gadget
