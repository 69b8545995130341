// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::solver::local_search {

/// The quota hierarchy as nodes of the exchange graph: node 0 is "unplaced, outside all quotas"; a
/// job is unplaced at the node of its own quota. The path from node 0 to that node crosses the
/// limits of its quota's ancestors, the root first, and its own. So jobs of one quota replace each
/// other without crossing a limit, and jobs of two quotas cross only the limits that they do not
/// share.
class QuotaNodes {
 public:
  static constexpr double kFull = -1.0;  ///< as CrossingCost::in: a hard quota without room

  /// Penalty of one more job in the quota, or saved by one less: 0 except for soft quotas.
  struct CrossingCost {
    double in = 0.0;  ///< kFull: a hard quota without room for one more
    double out = 0.0;
    bool operator==(const CrossingCost&) const = default;
    [[nodiscard]] bool is_full() const { return in < 0.0; }
  };

  /// @param milli   GPU thousandths of each job
  QuotaNodes(const planner_model::LimitUsage& limit_usage, std::int64_t milli)
      : limit_usage_(&limit_usage), milli_(milli) {}

  /// The node of an unplaced job. May add nodes.
  std::uint32_t node_of(JobId job);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(limit_.size()) + 1; }
  /// @pre node > 0
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const { return parent_[node - 1]; }
  [[nodiscard]] const std::vector<std::uint32_t>& children(std::uint32_t node) const {
    return children_[node];
  }
  /// Present crossing costs, by node less one.
  [[nodiscard]] std::vector<CrossingCost> crossing_costs() const;

 private:
  const planner_model::LimitUsage* limit_usage_;
  std::int64_t milli_;
  std::vector<std::uint32_t> limit_, parent_;                ///< by node less one
  std::vector<std::vector<std::uint32_t>> children_ = {{}};  ///< by node
  std::map<std::uint32_t, std::uint32_t> node_of_limit_;
};

}  // namespace berth::solver::local_search
