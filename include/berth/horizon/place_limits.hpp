// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// What racks and pods leave over time of their power budgets, uplinks and GPUs beside spare ones.
/// The judge counts them in code of its own.
class PlaceLimits {
 public:
  /// An amount of one limit, in its unit.
  struct Use {
    std::int32_t limit = 0;
    std::int64_t amount = 0;
  };

  /// Of an uplink, by the tasks of one job behind it.
  struct UplinkUse {
    Use use;
    Gpus tasks = 0;
    Gpus servers = 0;  ///< of them
  };

  explicit PlaceLimits(const Problem& problem);

  [[nodiscard]] bool used() const { return !left_.empty(); }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const CapacityProfile& left(std::int32_t limit) const {
    return left_[static_cast<std::size_t>(limit)];
  }

  /// What one task uses of power budgets and spare GPUs; at most three.
  [[nodiscard]] std::vector<Use> uses_of_task(std::size_t machine, const TaskGroup& group) const;
  /// What the job's tasks in these places send over uplinks with a limit: nothing within a rack.
  /// O(shares log shares).
  [[nodiscard]] std::vector<UplinkUse> traffic_of(const Option& option,
                                                  std::span<const TaskShare> shares) const;

  /// Earliest t in from .. until with power and GPUs for a task throughout [t, t + duration);
  /// kNever: none.
  [[nodiscard]] Seconds earliest_fit(std::size_t machine, Seconds from, Seconds duration,
                                     const TaskGroup& group, Seconds until) const;
  /// Next change of a limit of the machine; kNever behind the last one.
  [[nodiscard]] Seconds next_step(std::size_t machine, Seconds time) const;
  /// Takes (sign 1) or returns (-1) what the placed job uses.
  void reserve(const Option& option, Seconds start, std::span<const TaskShare> shares, int sign);

 private:
  const Problem& problem_;
  std::vector<CapacityProfile> left_;  ///< by limit
};

/// What the limits leave to the tasks of one job while they are assigned to machines, from its
/// start to its end.
class PlaceRoom {
 public:
  /// @param limits       must outlive this
  /// @param first, last  the machines it may be assigned to; `last` is behind them
  PlaceRoom(const PlaceLimits& limits, const Option& option, Seconds start, std::size_t first,
            std::size_t last);

  /// Most further tasks on the machine.
  [[nodiscard]] Gpus most_on(std::size_t machine, const TaskGroup& group);
  void add(std::size_t machine, const TaskGroup& group, Gpus tasks);
  /// True when uplinks carry the traffic of all tasks. Otherwise the room is that before any was
  /// assigned, with fewer tasks behind an uplink that does not, for another assignment.
  bool carries(std::span<const TaskShare> shares);

 private:
  static constexpr int kMostAttempts = 32;

  [[nodiscard]] std::int64_t& left(std::int32_t limit);
  [[nodiscard]] Gpus most_behind(std::int32_t uplink, bool crossed);

  const PlaceLimits& limits_;
  const Option& option_;
  Seconds start_;
  bool over_racks_ = false;              ///< the machines are in several racks
  bool over_pods_ = false;               ///< ... and pods
  std::int64_t least_mbps_ = 0;          ///< on an uplink that the job crosses
  std::map<std::int32_t, Gpus> left_;    ///< by limit
  std::map<std::int32_t, Gpus> behind_;  ///< tasks, by uplink
  std::map<std::int32_t, Gpus> most_;    ///< ... and how many at most
  int attempts_ = 0;
};

}  // namespace berth::horizon
