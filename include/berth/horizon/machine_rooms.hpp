// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/device_shares.hpp"
#include "berth/horizon/machine_marks.hpp"
#include "berth/horizon/place_limits.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// What is free on one machine at every moment of a span.
struct Room {
  Gpus gpus = 0;
  model::Resources amounts = kUnlimited;  ///< kNoLimit where no job can lack it

  [[nodiscard]] Gpus tasks_of(const TaskGroup& group, Gpus most) const;  ///< that fit, <= most
  void take(const TaskGroup& group, Gpus tasks);
};

/// Free GPUs and free amounts of the resources of every machine over time. Profiles are kept only
/// for resources that can be short while GPUs are free: on some machine more tasks of a group fit
/// its GPUs than its amount.
class MachineRooms {
 public:
  /// Without what outages close or take.
  explicit MachineRooms(const Problem& problem);

  [[nodiscard]] const CapacityProfile& gpus(std::size_t machine) const { return gpus_[machine]; }
  [[nodiscard]] CapacityProfile& gpus(std::size_t machine) { return gpus_[machine]; }
  /// True when no job that the group's job avoids is there in [from, to).
  [[nodiscard]] bool clear_for(const TaskGroup& group, std::size_t machine, Seconds from,
                               Seconds to) const;
  [[nodiscard]] MachineMarks& marks() { return marks_; }
  [[nodiscard]] const PlaceLimits& limits() const { return limits_; }
  [[nodiscard]] PlaceLimits& limits() { return limits_; }
  /// @pre some task has a share of a GPU
  [[nodiscard]] const DeviceShares& shares(std::size_t machine) const { return shares_[machine]; }
  [[nodiscard]] DeviceShares& shares(std::size_t machine) { return shares_[machine]; }

  /// Earliest t >= from with the GPUs of a task, or its share, free throughout [t, t + duration).
  [[nodiscard]] Seconds devices_fit(std::size_t machine, Seconds from, Seconds duration,
                                    const TaskGroup& group, Seconds until = kNever) const;
  /// Earliest t in from .. until with room for a task throughout [t, t + duration), beside jobs
  /// that may be there and within the limits of its rack and pod; kNever: none.
  [[nodiscard]] Seconds earliest_fit(std::size_t machine, Seconds from, Seconds duration,
                                     const TaskGroup& group, Seconds until = kNever) const;
  [[nodiscard]] Room least_free(std::size_t machine, Seconds from, Seconds to) const;
  /// Tasks of the group that an empty machine holds.
  [[nodiscard]] Gpus most_tasks(std::size_t machine, const TaskGroup& group) const;
  /// Next change of anything on the machine or of a limit of its places; kNever behind the last.
  [[nodiscard]] Seconds next_step(std::size_t machine, Seconds time) const;

  /// Takes amounts in [from, to), or returns them when the sign is -1. GPUs are the caller's.
  void reserve(std::size_t machine, Seconds from, Seconds to, const model::Resources& amounts,
               int sign);

 private:
  const CapacityProfile& row(std::size_t machine, std::size_t r) const {
    return amounts_[machine * rows_.size() + r];
  }

  const Problem& problem_;
  MachineMarks marks_;
  PlaceLimits limits_;
  std::vector<CapacityProfile> gpus_;     ///< by MachineId
  std::vector<DeviceShares> shares_;      ///< by MachineId; empty: no task has a share
  std::vector<std::size_t> rows_;         ///< of model::kResourceTable
  std::vector<CapacityProfile> amounts_;  ///< [MachineId x rows_ + index in rows_]
};

}  // namespace berth::horizon
