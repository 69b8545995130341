// SPDX-License-Identifier: Apache-2.0
#include "priced_uplinks.hpp"

#include "exact.hpp"
#include "limit_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace berth::certify {

using model::CommunicationPattern;
using model::Job;
using model::LimitKind;
using model::TaskPlacement;

namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// Tasks of a job behind one uplink.
struct Behind {
  std::int64_t workers = 0, servers = 0;
};

/// Traffic over the uplinks of all racks, or all pods, that hold tasks.
template <class Add>
void add_loads(const model::Communication& communication,
               const std::map<std::size_t, Behind>& places, const Behind& all, const Add& add) {
  if (places.size() < 2) return;
  for (const auto& [link, b] : places) {
    if (communication.pattern == CommunicationPattern::ring) {
      add(link, communication.mbps);
      continue;
    }
    const Int128 pairs =
        Int128{b.workers} * (all.servers - b.servers) + Int128{all.workers - b.workers} * b.servers;
    const Int128 mbps =
        times_over_up(communication.mbps, pairs, std::max<std::int64_t>(1, all.servers));
    add(link, static_cast<std::int64_t>(std::min<Int128>(mbps, kUnlimited)));
  }
}

}  // namespace

std::int64_t ring_of(const Job& job) {
  return job.communication.pattern == CommunicationPattern::ring ? job.communication.mbps : 0;
}

PricedUplinks::PricedUplinks(const model::Instance& instance, const model::Certificate& certificate)
    : instance_(&instance), racks_(instance.cluster.racks.size()), least_capacity_(kUnlimited) {
  const model::Workload& workload = instance.workload;
  const auto add_limit = [&](const model::LimitScope& scope) {
    capacity_.push_back(limit_of(instance.cluster, LimitKind::uplink, scope));
  };
  for (std::size_t r = 0; r < racks_; ++r) add_limit({.rack = RackId(r)});
  for (std::size_t p = 0; p < instance.cluster.pods.size(); ++p) add_limit({.pod = PodId(p)});
  for (const model::Running& running : workload.running) {
    if (!running.pinned) continue;
    const Job& job = workload.job(running.job);
    for (const UplinkTraffic& load : loads(job, workload.tasks_of(running))) {
      if (auto& left = capacity_[load.link]) *left = std::max<std::int64_t>(0, *left - load.mbps);
    }
  }
  for (const auto& left : capacity_)
    least_capacity_ = std::min(least_capacity_, left.value_or(kUnlimited));
  for (const auto& l : certificate.limits) {
    if (l.kind != LimitKind::uplink) continue;
    price_.resize(capacity_.size(), 0);
    price_[l.scope.rack.valid() ? of(l.scope.rack) : of(l.scope.pod)] = l.price;
  }
}

std::vector<PricedUplinks::UplinkTraffic> PricedUplinks::loads(
    const Job& job, std::span<const TaskPlacement> tasks) const {
  std::vector<UplinkTraffic> result;
  const model::Communication& communication = job.communication;
  if (communication.pattern == CommunicationPattern::none || communication.mbps == 0) return result;
  const model::Cluster& cluster = instance_->cluster;
  std::map<std::size_t, Behind> racks, pods;
  Behind all;
  for (const TaskPlacement& t : tasks) {
    const RackId rack = cluster.machine_rack[t.machine.index()];
    const bool server =
        communication.pattern == CommunicationPattern::ps && t.group == communication.servers;
    for (Behind* b : {&racks[of(rack)], &pods[of(cluster.racks[rack.index()].pod)], &all}) {
      ++(server ? b->servers : b->workers);
    }
  }
  const auto add = [&](std::size_t link, std::int64_t mbps) { result.push_back({link, mbps}); };
  add_loads(communication, racks, all, add);
  add_loads(communication, pods, all, add);
  return result;
}

Int128 PricedUplinks::uplink_price(const Job& job, std::span<const TaskPlacement> tasks) const {
  if (price_.empty()) return 0;
  Int128 total = 0;
  for (const UplinkTraffic& load : loads(job, tasks))
    total += Int128{price_[load.link]} * load.mbps;
  return total;
}

Int128 PricedUplinks::capacity_value() const {
  Int128 total = 0;
  for (std::size_t l = 0; l < price_.size(); ++l) {
    if (price_[l] > 0) total += Int128{price_[l]} * capacity_[l].value();
  }
  return total;
}

void PricedUplinks::add(const model::Placement& placement, std::vector<Int128>& carried) const {
  carried.resize(capacity_.size(), 0);
  for (const model::JobPlacement& p : placement) {
    for (const UplinkTraffic& load : loads(instance_->workload.job(p.job), p.tasks)) {
      carried[load.link] += load.mbps;
    }
  }
}

void PricedUplinks::report(std::span<const Int128> carried, Findings& findings) const {
  for (std::size_t l = 0; l < carried.size(); ++l) {
    if (!capacity_[l] || carried[l] <= *capacity_[l]) continue;
    const bool rack = l < racks_;
    const std::string& name =
        rack ? instance_->cluster.racks[l].name : instance_->cluster.pods[l - racks_].name;
    findings.add(
        FaultKind::link_exceeded,
        "uplink of " + std::string(rack ? "rack " : "pod ") + name + ": jobs send " +
            std::to_string(static_cast<std::int64_t>(std::min<Int128>(carried[l], kUnlimited))) +
            " of " + std::to_string(*capacity_[l]) + " Mbit/s beside the pinned ones");
  }
}

}  // namespace berth::certify
