// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/planner_model/coupling_limits.hpp"

namespace berth::planner_model {

/// The unknowns of the prices of limits. Each quota has a price of its own. Uplinks that rings
/// compete for are taken together: those of all racks with GPUs of a type, and those of all pods
/// with them; types that share a rack (a pod) share a group. One price per Mbit/s serves a group.
/// There is no group for a type some of whose racks (pods) have no limit: rings may go round by
/// those.
class LimitGroups {
 public:
  struct Group {
    std::vector<std::size_t> limits = {};  ///< of `CouplingLimits`, ascending
    double capacity = 0.0;                 ///< of all of them
    double unit = 0.0;    ///< most Mbit/s that any ring can send for each of its GPUs, > 0
    double least = 1.0;   ///< least that one does, as a share of that; at least 1/1024
    double wanted = 0.0;  ///< Mbit/s, if all rings sent the most they can
  };
  /// What some rings ask of a group; adds up to the same in any order. Trivially copyable.
  struct RingDemand {
    static constexpr int kScaleLog2 = 16;
    double most = 0.0;  ///< Mbit/s for each GPU of one, as `least`
    double least = std::numeric_limits<double>::infinity();
    Int128 wanted = 0;  ///< as in Group, in units of 2^-kScaleLog2 Mbit/s
    void add(const RingDemand& other);
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// The least traffic a ring puts on a group as a whole.
  struct GroupLoad {
    std::uint32_t group = kNone;
    double amount = 0.0;
    bool operator==(const GroupLoad&) const = default;
  };
  using GroupLoads =
      std::array<GroupLoad, 2>;  ///< on racks and on pods; those with kNone are nothing

  /// O(machines + rings x types). Keeps references to the instance and the limits.
  LimitGroups(const model::Instance& instance, const CouplingLimits& limits);

  [[nodiscard]] const CouplingLimits& limits() const { return *limits_; }
  /// Those of racks and pods.
  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// A price for each quota, then one for each group.
  [[nodiscard]] std::size_t prices() const { return limits_->of_queues() + size(); }
  /// The limits that price `k` is for.
  [[nodiscard]] std::vector<std::size_t> priced_by(std::size_t k) const {
    if (k < limits_->of_queues()) return {k};
    return groups_[k - limits_->of_queues()].limits;
  }

  /// By group. The constructor sets the demands of all planned jobs that the instance has: where
  /// these are a part, the sums of all parts are to be set.
  [[nodiscard]] std::vector<RingDemand> demands(std::span<const JobId> jobs) const;
  void set_demands(std::span<const RingDemand> demands);

  /// What the job's ring costs at least when it lies in a domain of this width and no narrower one,
  /// its GPU tasks on `type`: every task in a rack (pod) pays b / m_r of what the ring sends,
  /// m_r = min(tasks - 1, tasks of the job that any one rack (pod) holds), as in
  /// `certify/bound.hpp`. Nothing within a rack, nothing for other traffic.
  /// O(groups of the job).
  [[nodiscard]] GroupLoads group_loads(JobId job, GpuTypeId type, model::Level width) const;

 private:
  /// Racks or pods.
  struct Tier {
    std::vector<std::uint32_t> group;  ///< by GPU type, kNone
    /// [type][k]: tasks of k whole GPUs that the roomiest rack (pod) holds, k >= 1.
    std::vector<std::vector<std::int64_t>> most;
  };
  [[nodiscard]] Tier make_tier(bool pods);
  [[nodiscard]] GroupLoad group_load(const model::Job& job, GpuTypeId type, const Tier& tier) const;

  const model::Instance* instance_;
  const CouplingLimits* limits_;
  std::vector<Group> groups_;
  Tier racks_, pods_;
};

}  // namespace berth::planner_model
