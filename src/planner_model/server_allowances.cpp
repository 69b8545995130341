// SPDX-License-Identifier: Apache-2.0
#include "server_allowances.hpp"

#include <algorithm>
#include <array>

#include "berth/base/int128.hpp"

namespace berth::planner_model {
namespace {

/// Uplinks of the machine's rack and pod.
std::array<std::size_t, 2> uplinks(const LimitUsage& usage, MachineId machine) {
  constexpr model::LimitKind kUplink = model::LimitKind::uplink;
  const model::Cluster& cluster = usage.cluster();
  return {usage.limits()->at(kUplink, cluster.machine_rack[machine.index()]),
          usage.limits()->at(kUplink, cluster.pod_of(machine))};
}

}  // namespace

ServerAllowances::ServerAllowances(const LimitUsage* usage, const model::Job& job,
                                   std::int32_t servers,
                                   std::span<const model::TaskPlacement> workers)
    : mbps_(job.communication.mbps), workers_(std::ssize(workers)), servers_(servers) {
  const bool limited = usage != nullptr && usage->limits() != nullptr &&
                       usage->limits()->has(model::LimitKind::uplink);
  if (!limited || job.communication.pattern != model::CommunicationPattern::ps) return;
  usage_ = usage;
  for (const model::TaskPlacement& t : workers) {
    for (const std::size_t limit : uplinks(*usage_, t.machine)) add(limit, 1, 0);
  }
}

ServerAllowances::UplinkDomain ServerAllowances::of(std::size_t limit) const {
  const auto known = std::ranges::find(domains_, limit, &UplinkDomain::limit);
  return known == domains_.end() ? UplinkDomain{.limit = limit} : *known;
}

void ServerAllowances::add(std::size_t limit, std::int64_t workers, std::int64_t servers) {
  auto known = std::ranges::find(domains_, limit, &UplinkDomain::limit);
  if (known == domains_.end()) known = domains_.insert(known, {.limit = limit});
  known->workers += workers;
  known->servers += servers;
}

bool ServerAllowances::carries(const UplinkDomain& d, std::int64_t servers) const {
  const std::int64_t left = usage_->left(d.limit);
  if (left == model::kNoLimit) return true;
  const Int128 pairs =
      Int128{d.workers} * (servers_ - servers) + Int128{workers_ - d.workers} * servers;
  return Int128{mbps_} * pairs <= Int128{left} * servers_;
}

bool ServerAllowances::allow(MachineId machine) const {
  return std::ranges::all_of(uplinks(*usage_, machine), [&](std::size_t limit) {
    const UplinkDomain d = of(limit);
    return falls(d) || carries(d, d.servers + 1);
  });
}

bool ServerAllowances::need(MachineId machine) const {
  return std::ranges::any_of(uplinks(*usage_, machine), [&](std::size_t limit) {
    const UplinkDomain d = of(limit);
    return falls(d) && !carries(d, d.servers);
  });
}

void ServerAllowances::take(MachineId machine) {
  for (const std::size_t limit : uplinks(*usage_, machine)) add(limit, 0, 1);
}

}  // namespace berth::planner_model
