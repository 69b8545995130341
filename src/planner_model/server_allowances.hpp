// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/placement.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/limit_usage.hpp"

namespace berth::planner_model {

/// What uplinks leave to the parameter servers of one job while they are placed one by one, its
/// workers being placed. A rack with w of W workers and s of S servers sends and receives
///
///   mbps (w (S - s) + (W - w) s) / S,
///
/// which rises with s while w < W / 2 and falls with s beyond; the same holds for pods.
class ServerAllowances {
 public:
  /// @param usage    null: there are no limits
  /// @param workers  tasks of the job's other groups
  ServerAllowances(const LimitUsage* usage, const model::Job& job, std::int32_t servers,
                   std::span<const model::TaskPlacement> workers);

  /// False when no uplink can bind.
  [[nodiscard]] bool bind() const { return usage_ != nullptr; }
  /// The uplinks of the machine's rack and pod carry one more server.
  [[nodiscard]] bool allow(MachineId machine) const;
  /// One of them carries the workers only if more servers are there.
  [[nodiscard]] bool need(MachineId machine) const;
  void take(MachineId machine);

 private:
  struct UplinkDomain {
    std::size_t limit;  ///< its uplink
    std::int64_t workers = 0, servers = 0;
  };
  [[nodiscard]] bool falls(const UplinkDomain& d) const { return 2 * d.workers > workers_; }
  [[nodiscard]] bool carries(const UplinkDomain& d, std::int64_t servers) const;
  [[nodiscard]] UplinkDomain of(std::size_t limit) const;
  void add(std::size_t limit, std::int64_t workers, std::int64_t servers);

  const LimitUsage* usage_ = nullptr;
  std::int64_t mbps_ = 0, workers_ = 0, servers_ = 0;  ///< rate of a worker; tasks in all
  std::vector<UplinkDomain> domains_;                  ///< racks and pods with tasks of the job
};

}  // namespace berth::planner_model
