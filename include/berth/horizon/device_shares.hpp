// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// True when some option has tasks that take a share of a GPU.
bool has_shares(const Problem& problem);

/// The outages of every machine of which some take a part of a GPU. O(outages log).
std::map<MachineId, std::vector<const Outage*>> outages_with_shares(const Problem& problem);

/// GPUs of a machine of which its outages take a part, ascending.
std::vector<std::int32_t> partly_taken_devices(std::span<const Outage* const> outages);

/// Shares of the GPUs of one machine over time. A lane stands for one GPU while tasks with shares
/// use it, and for none otherwise: the GPU of another such span of the lane may be a different one.
/// So spans of lanes are intervals like tasks of whole GPUs, and as many free GPUs at every moment
/// suffice for all. Lane i < n is partly_taken_devices()[i] until the outages end.
class DeviceShares {
 public:
  static constexpr Gpus kWhole = model::kGpuMilli;  ///< thousandths of a GPU

  /// A span of a lane in which it needs one more GPU of the machine.
  struct Opening {
    Seconds from = 0;
    Seconds to = 0;
  };

  /// Without what the machine's outages take and close.
  explicit DeviceShares(Seconds now, std::span<const Outage* const> outages = {});

  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }

  /// Earliest t in from .. until with `milli` free on a lane, or on a GPU of `gpus`, throughout
  /// [t, t + duration); kNever: none. O(lanes x steps).
  [[nodiscard]] Seconds earliest_fit(Seconds from, Seconds duration, Gpus milli,
                                     const CapacityProfile& gpus, Seconds until = kNever) const;

  /// Thousandths of the lane that are free throughout [from, to). Lanes that are not there yet are
  /// whole.
  [[nodiscard]] Gpus least_free(std::size_t lane, Seconds from, Seconds to) const;
  /// Spans of [from, to) in which the lane stands for no GPU, ascending.
  [[nodiscard]] std::vector<Opening> openings(std::size_t lane, Seconds from, Seconds to) const;
  /// Next change of any lane; kNever behind the last one.
  [[nodiscard]] Seconds next_step(Seconds time) const;

  /// Takes (milli > 0) or returns thousandths in [from, to). Returns the spans in which the lane
  /// begins or ceases to stand for a GPU.
  std::vector<Opening> reserve(std::size_t lane, Seconds from, Seconds to, Gpus milli);

 private:
  [[nodiscard]] Seconds earliest_on(const CapacityProfile& lane, Seconds from, Seconds duration,
                                    Gpus milli, const CapacityProfile& gpus, Seconds limit) const;

  Seconds now_;
  std::vector<CapacityProfile> lanes_;  ///< free thousandths
};

/// What the tasks of one job may take of a machine's GPUs throughout one span.
class SharedGpus {
 public:
  /// @param shares  must outlive this
  SharedGpus(const DeviceShares& shares, const CapacityProfile& gpus, Seconds from, Seconds to);

  [[nodiscard]] Gpus free_gpus() const { return free_.least_free(from_, to_); }
  void take_gpus(Gpus gpus) { free_.reserve(from_, to_, gpus); }
  /// Takes thousandths of a lane: one that needs the fewest seconds of a further GPU, then the
  /// fullest. Returns the lane; -1: none has room.
  std::int32_t take_share(Gpus milli);
  /// Takes thousandths of this lane, if they are free.
  bool take_share_of(std::size_t lane, Gpus milli);

 private:
  [[nodiscard]] Gpus taken_by_job(std::size_t lane) const;
  /// Seconds of a further GPU that the lane needs; kNever when it has no room.
  [[nodiscard]] Seconds seconds_opened(std::size_t lane, Gpus milli) const;

  const DeviceShares& shares_;
  Seconds from_, to_;
  CapacityProfile free_;               ///< whole GPUs
  std::map<std::size_t, Gpus> taken_;  ///< by lane, by this job
};

}  // namespace berth::horizon
