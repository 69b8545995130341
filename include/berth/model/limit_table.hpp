// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "berth/base/strong_id.hpp"
#include "berth/model/cluster.hpp"

namespace berth::model {

/// Capacity that jobs on different machines share.
enum class LimitKind : std::uint8_t {
  gpu_quota,  ///< of a queue: GPUs of its jobs and of the jobs in queues within it
  uplink,     ///< of a rack or a pod: traffic that crosses its uplink
  power,      ///< of a rack or a pod: power that the tasks inside draw
  spare,      ///< of a pod's GPUs of one type: those that are not spare; a soft limit
  license,    ///< of the cluster: licenses of one kind; the bound leaves this limit out
};

/// One row for each kind. Planner and judge share these keys and scopes; each counts the use in
/// code of its own.
struct LimitRow {
  std::string_view key;         ///< in cluster.yaml, and of prices in plan.json
  std::string_view unit;        ///< of amounts; a price is per unit
  double units;                 ///< units per 1 in the file
  double most;                  ///< largest value in a file; a guard against typing errors
  std::string_view title;       ///< of all limits of the kind, in reports
  std::string_view gap_key;     ///< key of their unused capacity in gap_parts
  std::string_view proof_part;  ///< begins the prices in the proof's digest
  /// Precedes the limit in the instance's digest, which then leaves out absent limits. Empty: the
  /// limit is always in the digest.
  std::string_view tag;
  double Rack::*of_rack;  ///< null: no limit of racks; an infinite value: this rack has none
  double Pod::*of_pod;
  /// Tasks use what they need of this row of kResourceTable, in their rack and pod; kResources: the
  /// kind has a count of its own.
  std::size_t resource = kResources;
};
inline constexpr std::array kLimitRows{
    LimitRow{.key = "gpu_quota",
             .unit = "GPU thousandths",
             .units = 1000.0,
             .most = 0x1p40,
             .title = "quotas",
             .gap_key = "quotas",
             .proof_part = "\nqueues\n",
             .tag = {},
             .of_rack = nullptr,
             .of_pod = nullptr},
    LimitRow{.key = "uplink_gbps",
             .unit = "Mbit/s",
             .units = 1000.0,
             .most = 1e9,
             .title = "uplinks",
             .gap_key = "links",
             .proof_part = "\nlinks\n",
             .tag = {},
             .of_rack = &Rack::uplink_gbps,
             .of_pod = &Pod::uplink_gbps},
    LimitRow{.key = "power_w",
             .unit = "W",
             .units = 1.0,
             .most = 0x1p40,
             .title = "power budgets",
             .gap_key = "power",
             .proof_part = "\npower\n",
             .tag = "power ",
             .of_rack = &Rack::power_w,
             .of_pod = &Pod::power_w,
             .resource = kPower},
    LimitRow{.key = "spare",
             .unit = "GPU thousandths",
             .units = 1000.0,
             .most = 0x1p40,
             .title = "spare GPUs",
             .gap_key = "spare",
             .proof_part = "\nspare\n",
             .tag = "spare ",
             .of_rack = nullptr,
             .of_pod = nullptr},
    LimitRow{.key = "licenses",
             .unit = "licenses",
             .units = 1.0,
             .most = 0x1p40,
             .title = "licenses",
             .gap_key = "licenses",
             .proof_part = "\nlicenses\n",
             .tag = "license ",
             .of_rack = nullptr,
             .of_pod = nullptr},
};
inline constexpr std::size_t kLimitKinds = kLimitRows.size();
/// Rows of limits that racks and pods may have.
inline constexpr auto kPlaceLimitKinds = static_cast<std::size_t>(
    std::ranges::count_if(kLimitRows, [](const LimitRow& row) { return row.of_rack != nullptr; }));

constexpr std::size_t index_of(LimitKind kind) { return static_cast<std::size_t>(kind); }
constexpr const LimitRow& row_of(LimitKind kind) { return kLimitRows[index_of(kind)]; }

/// Calls `visit(kind, resource)` for each kind that counts what tasks need of a resource.
template <class Visit>
void for_each_limited_resource(const Visit& visit) {
  for (std::size_t k = 0; k < kLimitKinds; ++k) {
    const std::size_t resource = kLimitRows[k].resource;
    if (resource < kResources) visit(static_cast<LimitKind>(k), resource);
  }
}

/// Calls `visit(row, limit)` for each limit that a rack or a pod may have.
template <class Domain, class Visit>
void for_each_limit(Domain& domain, const Visit& visit) {
  for (const LimitRow& row : kLimitRows) {
    if constexpr (std::is_same_v<std::remove_const_t<Domain>, Rack>) {
      if (row.of_rack != nullptr) visit(row, domain.*row.of_rack);
    } else {
      if (row.of_pod != nullptr) visit(row, domain.*row.of_pod);
    }
  }
}

template <class Archive>
void describe(Archive& archive, Pod& pod) {
  archive(pod.name);
  for_each_limit(pod, [&](const LimitRow&, double& limit) { archive(limit); });
}
template <class Archive>
void describe(Archive& archive, Rack& rack) {
  archive(rack.name, rack.pod);
  for_each_limit(rack, [&](const LimitRow&, double& limit) { archive(limit); });
}

/// The queue, pod or rack that a limit belongs to: exactly one is valid. Spare GPUs are of a pod
/// and a GPU type.
struct LimitScope {
  QueueId queue = {};
  PodId pod = {};
  RackId rack = {};
  GpuTypeId gpu_type = {};  ///< valid for spare GPUs only

  auto operator<=>(const LimitScope&) const = default;

  [[nodiscard]] std::string_view key() const {  ///< in plan.json
    return queue.valid() ? "queue" : rack.valid() ? "rack" : "pod";
  }
  [[nodiscard]] std::string_view name(const Cluster& cluster) const {
    return queue.valid()  ? cluster.queues[queue.index()].name
           : rack.valid() ? cluster.racks[rack.index()].name
                          : cluster.pods[pod.index()].name;
  }
};

}  // namespace berth::model
