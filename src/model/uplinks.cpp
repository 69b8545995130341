// SPDX-License-Identifier: Apache-2.0
#include "berth/model/uplinks.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "berth/base/int128.hpp"

namespace berth::model {
namespace {

std::int64_t whole_mbps(double gbps) {
  return std::isinf(gbps) ? Uplinks::kNoLimit
                          : static_cast<std::int64_t>(std::floor(gbps * 1000.0));
}

/// Tasks of one domain.
struct Inside {
  std::int64_t workers = 0;
  std::int64_t servers = 0;
};

}  // namespace

JobTraffic job_traffic_of(const Workload& workload) {
  const bool some = std::ranges::any_of(workload.jobs, [](const Job& j) {
    return j.communication.pattern != CommunicationPattern::none;
  });
  return some ? JobTraffic::some : JobTraffic::none;
}

Uplinks::Uplinks(const Instance& instance, JobTraffic traffic) : instance_(&instance) {
  const Cluster& cluster = instance.cluster;
  for (const Rack& rack : cluster.racks) mbps_.push_back(whole_mbps(rack.uplink_gbps));
  for (const Pod& pod : cluster.pods) mbps_.push_back(whole_mbps(pod.uplink_gbps));
  unconstrained_ = traffic == JobTraffic::none ||
                   std::ranges::all_of(mbps_, [](std::int64_t m) { return m == kNoLimit; });
  if (unconstrained_) return;
  for (const Running& running : instance.workload.running) {
    if (!running.pinned) continue;
    for (const LinkLoad& l : load(running.job, instance.workload.tasks_of(running))) {
      if (mbps_[l.link] == kNoLimit) continue;
      mbps_[l.link] = std::max<std::int64_t>(0, mbps_[l.link] - l.mbps);
    }
  }
}

std::vector<LinkLoad> Uplinks::load(JobId job, std::span<const TaskPlacement> tasks) const {
  std::vector<LinkLoad> loads;
  const Communication& communication = instance_->workload.job(job).communication;
  if (communication.pattern == CommunicationPattern::none) return loads;
  add_level(loads, communication, tasks, false);
  add_level(loads, communication, tasks, true);
  return loads;
}

void Uplinks::add_level(std::vector<LinkLoad>& loads, const Communication& communication,
                        std::span<const TaskPlacement> tasks, bool pods) const {
  const Cluster& cluster = instance_->cluster;
  std::map<std::uint32_t, Inside> domains;
  Inside all;
  for (const TaskPlacement& t : tasks) {
    const RackId rack = cluster.machine_rack[t.machine.index()];
    const std::size_t link =
        pods ? cluster.racks.size() + cluster.racks[rack.index()].pod.index() : rack.index();
    Inside& here = domains[static_cast<std::uint32_t>(link)];
    const bool server =
        communication.pattern == CommunicationPattern::ps && t.group == communication.servers;
    ++(server ? here.servers : here.workers);
    ++(server ? all.servers : all.workers);
  }
  if (domains.size() < 2) return;
  for (const auto& [link, in] : domains) {
    if (communication.pattern == CommunicationPattern::ring) {
      loads.push_back({link, communication.mbps});
      continue;
    }
    const std::int64_t pairs =
        in.workers * (all.servers - in.servers) + (all.workers - in.workers) * in.servers;
    const Int128 sent = Int128{communication.mbps} * pairs;
    if (sent == 0) continue;
    constexpr Int128 kMost = Int128{1} << 61;  // more than any uplink with a limit carries
    const Int128 mbps = std::min(kMost, (sent + all.servers - 1) / all.servers);
    loads.push_back({link, static_cast<std::int64_t>(mbps)});
  }
}

}  // namespace berth::model
