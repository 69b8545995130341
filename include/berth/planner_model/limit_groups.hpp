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

/// The unknowns of the dual that price limits. Each quota has a price of its own. Limits of
/// one kind form groups with one price per unit: those of all racks with GPUs of a type, and those
/// of all pods with them; types that share a rack (a pod) share a group. A type with a rack (pod)
/// without a limit has no group, because jobs may use those racks (pods).
class LimitGroups {
 public:
  struct LimitGroup {
    std::vector<std::size_t> limits = {};  ///< of `CouplingLimits`, ascending
    double capacity = 0.0;                 ///< sum over the limits
    double unit = 0.0;                     ///< largest use of any job per GPU of it, > 0
    double least = 1.0;   ///< smallest such use as a share of `unit`, at least 1/1024
    double wanted = 0.0;  ///< sum of the largest uses of all jobs
  };
  /// Demand of some jobs for a group. The sum does not depend on the order. Trivially copyable.
  struct Demand {
    static constexpr int kScaleLog2 = 16;  ///< `wanted` is in units of 2^-16: exact sums
    double most = 0.0;                     ///< largest use per GPU of a job
    double least = std::numeric_limits<double>::infinity();
    Int128 wanted = 0;  ///< as Group::wanted, in units of 2^-kScaleLog2
    void add(const Demand& other);
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< no group
  /// Lower bound on the use of all limits of a group by a job.
  struct GroupLoad {
    std::uint32_t group = kNone;
    double amount = 0.0;
    bool operator==(const GroupLoad&) const = default;
  };
  /// Kind by kind, of racks and of pods; an entry with kNone has no load.
  using GroupLoads = std::array<GroupLoad, 2 * model::kPlaceLimitKinds>;

  /// O(machines + jobs x types). Keeps references to the instance and the limits.
  LimitGroups(const model::InstanceView& instance, const CouplingLimits& limits);

  [[nodiscard]] const CouplingLimits& limits() const { return *limits_; }
  /// Number of groups.
  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] const std::vector<LimitGroup>& groups() const { return groups_; }
  /// Number of prices: one for each quota, then one for each group.
  [[nodiscard]] std::size_t prices() const { return limits_->of_queues() + size(); }
  /// The limits that have price `k`.
  [[nodiscard]] std::vector<std::size_t> priced_by(std::size_t k) const {
    if (k < limits_->of_queues()) return {k};
    return groups_[k - limits_->of_queues()].limits;
  }

  /// Demands of these jobs by group. The constructor sets the demands of all planned jobs with
  /// records in the instance; if these are a part of the workload, set the sums over all parts.
  [[nodiscard]] std::vector<Demand> demands(std::span<const JobId> jobs) const;
  void set_demands(std::span<const Demand> demands);

  /// Least use of limits by the job when its narrowest domain has this width and its GPU tasks run
  /// on `type`. Uplinks: every task of a ring in a rack (pod) counts with b / m_r of the ring's
  /// rate b, where m_r = min(tasks - 1, tasks of the job that any one rack (pod) holds), as in
  /// `certify/bound.hpp`; no load within a rack and for other traffic.
  /// O(groups of the job) for each kind.
  [[nodiscard]] GroupLoads group_loads(JobId job, GpuTypeId type, model::Level width) const;

 private:
  /// Limits of one kind, of racks or of pods.
  struct Tier {
    model::LimitKind kind = {};
    bool pods = false;
    std::vector<std::uint32_t> group = {};  ///< by GPU type, kNone
  };
  void add_tier(model::LimitKind kind, bool pods);
  [[nodiscard]] double least_use(const model::Job& job, GpuTypeId type, model::Level width,
                                 const Tier& tier) const;
  [[nodiscard]] double ring_traffic(const model::Job& job, GpuTypeId type, bool pods) const;

  model::InstanceView instance_;
  const CouplingLimits* limits_;
  std::vector<LimitGroup> groups_;
  std::vector<Tier> tiers_;  ///< in the order of GroupLoads; empty: there are no limits
  /// [racks, pods][type][k]: tasks of k whole GPUs that the roomiest one holds, k >= 1.
  std::array<std::vector<std::vector<std::int64_t>>, 2> most_tasks_;
};

}  // namespace berth::planner_model
