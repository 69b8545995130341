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

/// The unknowns of the dual that price limits. Each quota has a price of its own. Uplinks that
/// rings compete for form groups with one price per Mbit/s: the uplinks of all racks with GPUs of a
/// type, and those of all pods with them; types that share a rack (a pod) share a group. A type
/// with a rack (pod) without a limit has no group, because rings may use those racks (pods).
class LimitGroups {
 public:
  struct Group {
    std::vector<std::size_t> limits = {};  ///< of `CouplingLimits`, ascending
    double capacity = 0.0;                 ///< Mbit/s, sum over the limits
    double unit = 0.0;                     ///< largest rate of any ring per GPU of it, Mbit/s, > 0
    double least = 1.0;   ///< smallest such rate as a share of `unit`, at least 1/1024
    double wanted = 0.0;  ///< Mbit/s, sum of the largest rates of all rings
  };
  /// Demand of some rings for a group. The sum does not depend on the order. Trivially copyable.
  struct RingDemand {
    static constexpr int kScaleLog2 = 16;  ///< `wanted` is in units of 2^-16 Mbit/s: exact sums
    double most = 0.0;                     ///< largest rate per GPU of a ring, Mbit/s
    double least = std::numeric_limits<double>::infinity();
    Int128 wanted = 0;  ///< as Group::wanted, in units of 2^-kScaleLog2 Mbit/s
    void add(const RingDemand& other);
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< no group
  /// Lower bound on the traffic of a ring on all uplinks of a group.
  struct GroupLoad {
    std::uint32_t group = kNone;
    double amount = 0.0;
    bool operator==(const GroupLoad&) const = default;
  };
  using GroupLoads =
      std::array<GroupLoad, 2>;  ///< on racks and on pods; an entry with kNone has no load

  /// O(machines + rings x types). Keeps references to the instance and the limits.
  LimitGroups(const model::Instance& instance, const CouplingLimits& limits);

  [[nodiscard]] const CouplingLimits& limits() const { return *limits_; }
  /// Number of groups.
  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Number of prices: one for each quota, then one for each group.
  [[nodiscard]] std::size_t prices() const { return limits_->of_queues() + size(); }
  /// The limits that have price `k`.
  [[nodiscard]] std::vector<std::size_t> priced_by(std::size_t k) const {
    if (k < limits_->of_queues()) return {k};
    return groups_[k - limits_->of_queues()].limits;
  }

  /// Demands of these jobs by group. The constructor sets the demands of all planned jobs with
  /// records in the instance; if these are a part of the workload, set the sums over all parts.
  [[nodiscard]] std::vector<RingDemand> demands(std::span<const JobId> jobs) const;
  void set_demands(std::span<const RingDemand> demands);

  /// Least load of the job's ring when its narrowest domain has this width and its GPU tasks run on
  /// `type`: every task in a rack (pod) counts with b / m_r of the ring's rate b, where
  /// m_r = min(tasks - 1, tasks of the job that any one rack (pod) holds), as in
  /// `certify/bound.hpp`. No load within a rack and for other traffic.
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
