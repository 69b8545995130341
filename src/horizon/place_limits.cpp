// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/place_limits.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "berth/base/int128.hpp"

namespace berth::horizon {
namespace {

/// Tasks of a job in one rack or pod.
struct Inside {
  std::int32_t uplink = -1;
  std::int64_t workers = 0;
  std::int64_t servers = 0;
};

/// Mbit/s, rounded up, for so many pairs of a worker and a server on both sides of an uplink; more
/// than any uplink with a limit carries counts as this.
std::int64_t mbps_of_pairs(std::int64_t mbps, std::int64_t pairs, std::int64_t servers) {
  constexpr Int128 kMost = Int128{1} << 60;
  const Int128 sent = Int128{mbps} * pairs;
  return static_cast<std::int64_t>(std::min(kMost, (sent + servers - 1) / servers));
}

template <class Domains>
void add_traffic(const Traffic& traffic, const Domains& domains, const Inside& all,
                 std::vector<PlaceLimits::UplinkUse>& uses) {
  if (domains.size() < 2) return;
  for (const auto& [domain, in] : domains) {
    if (in.uplink < 0) continue;
    std::int64_t mbps = traffic.mbps;
    if (traffic.servers >= 0) {
      const std::int64_t pairs =
          in.workers * (all.servers - in.servers) + (all.workers - in.workers) * in.servers;
      mbps = mbps_of_pairs(mbps, pairs, std::max<std::int64_t>(1, all.servers));
    }
    if (mbps == 0) continue;
    uses.push_back({{in.uplink, mbps}, in.workers + in.servers, in.servers});
  }
}

}  // namespace

PlaceLimits::PlaceLimits(const Problem& problem) : problem_(problem) {
  for (const auto& steps : problem.place_limits) left_.emplace_back(steps);
}

std::vector<PlaceLimits::Use> PlaceLimits::uses_of_task(std::size_t machine,
                                                        const TaskGroup& group) const {
  std::vector<Use> uses;
  if (!used()) return uses;
  const Machine& of = problem_.machines[machine];
  const std::int64_t power = group.needs[model::kPower];
  for (const std::int32_t limit : {of.limits.rack_power, of.limits.pod_power}) {
    if (limit >= 0 && power > 0) uses.push_back({limit, power});
  }
  const std::int64_t milli =
      group.milli > 0 ? of.share_taken(group.milli) : model::kGpuMilli * group.gpus;
  if (of.limits.spare >= 0 && milli > 0) uses.push_back({of.limits.spare, milli});
  return uses;
}

std::vector<PlaceLimits::UplinkUse> PlaceLimits::traffic_of(
    const Option& option, std::span<const TaskShare> shares) const {
  std::vector<UplinkUse> uses;
  if (option.traffic < 0) return uses;
  const Traffic& traffic = problem_.traffics[static_cast<std::size_t>(option.traffic)];
  std::map<RackId, Inside> racks;
  std::map<PodId, Inside> pods;
  Inside all;
  for (const TaskShare& share : shares) {
    const Machine& machine = problem_.machines[share.machine.index()];
    Inside& rack = racks[machine.rack];
    Inside& pod = pods[machine.pod];
    rack.uplink = machine.limits.rack_uplink;
    pod.uplink = machine.limits.pod_uplink;
    for (Inside* inside : {&rack, &pod, &all}) {
      (share.group == traffic.servers ? inside->servers : inside->workers) += share.tasks;
    }
  }
  add_traffic(traffic, racks, all, uses);
  add_traffic(traffic, pods, all, uses);
  return uses;
}

Seconds PlaceLimits::earliest_fit(std::size_t machine, Seconds from, Seconds duration,
                                  const TaskGroup& group, Seconds until) const {
  if (!used()) return from;
  const std::vector<Use> uses = uses_of_task(machine, group);
  Seconds start = from;
  for (Seconds before = kNever; start != before && start < kNever;) {
    before = start;
    for (const Use& use : uses) {
      if (start < kNever) start = left(use.limit).earliest_fit(start, duration, use.amount, until);
    }
  }
  return start;
}

Seconds PlaceLimits::next_step(std::size_t machine, Seconds time) const {
  Seconds next = kNever;
  if (!used()) return next;
  const PlaceLimitIds& of = problem_.machines[machine].limits;
  for (const std::int32_t limit :
       {of.rack_power, of.pod_power, of.rack_uplink, of.pod_uplink, of.spare}) {
    if (limit >= 0) next = std::min(next, left(limit).next_step(time));
  }
  return next;
}

void PlaceLimits::reserve(const Option& option, Seconds start, std::span<const TaskShare> shares,
                          int sign) {
  if (!used()) return;
  const auto groups = problem_.tasks_of(option);
  const auto take = [&](const Use& use, Gpus times) {
    left_[static_cast<std::size_t>(use.limit)].reserve(start, start + option.duration,
                                                       times * use.amount);
  };
  for (const TaskShare& share : shares) {
    const TaskGroup& group = groups[static_cast<std::size_t>(share.group)];
    for (const Use& use : uses_of_task(share.machine.index(), group)) {
      take(use, Gpus{sign} * share.tasks);
    }
  }
  for (const UplinkUse& one : traffic_of(option, shares)) take(one.use, sign);
}

PlaceRoom::PlaceRoom(const PlaceLimits& limits, const Option& option, Seconds start,
                     std::size_t first, std::size_t last)
    : limits_(limits), option_(option), start_(start) {
  const Problem& problem = limits.problem();
  if (!limits.used() || option.traffic < 0 || first == last) return;
  const Machine& one = problem.machines[first];
  const Machine& other = problem.machines[last - 1];
  over_racks_ = one.rack != other.rack;
  over_pods_ = one.pod != other.pod;
  const Traffic& traffic = problem.traffics[static_cast<std::size_t>(option.traffic)];
  least_mbps_ = traffic.mbps;
  if (traffic.servers < 0) return;
  std::int64_t servers = 0;
  for (std::size_t g = 0; g < problem.tasks_of(option).size(); ++g) {
    if (std::cmp_equal(g, traffic.servers)) servers += problem.tasks_of(option)[g].tasks;
  }
  least_mbps_ = mbps_of_pairs(traffic.mbps, 1, std::max<std::int64_t>(1, servers));
}

std::int64_t& PlaceRoom::left(std::int32_t limit) {
  const auto [found, added] = left_.try_emplace(limit, 0);
  if (added) {
    found->second = limits_.left(limit).least_free(start_, start_ + option_.duration);
  }
  return found->second;
}

/// @param crossed  tasks may be on both sides of uplinks of this level
Gpus PlaceRoom::most_behind(std::int32_t uplink, bool crossed) {
  constexpr Gpus kAny = std::numeric_limits<Gpus>::max();
  if (uplink < 0 || !crossed) return kAny;
  if (left(uplink) < least_mbps_) return 0;
  const auto most = most_.find(uplink);
  return most == most_.end() ? kAny : std::max<Gpus>(0, most->second - behind_[uplink]);
}

Gpus PlaceRoom::most_on(std::size_t machine, const TaskGroup& group) {
  Gpus most = std::numeric_limits<Gpus>::max();
  if (!limits_.used()) return most;
  const PlaceLimitIds& of = limits_.problem().machines[machine].limits;
  most = std::min(most_behind(of.rack_uplink, over_racks_), most_behind(of.pod_uplink, over_pods_));
  for (const PlaceLimits::Use& use : limits_.uses_of_task(machine, group)) {
    most = std::min(most, std::max<Gpus>(0, left(use.limit)) / use.amount);
  }
  return most;
}

void PlaceRoom::add(std::size_t machine, const TaskGroup& group, Gpus tasks) {
  if (!limits_.used() || tasks == 0) return;
  for (const PlaceLimits::Use& use : limits_.uses_of_task(machine, group)) {
    left(use.limit) -= tasks * use.amount;
  }
  if (option_.traffic < 0) return;
  const PlaceLimitIds& of = limits_.problem().machines[machine].limits;
  for (const std::int32_t uplink : {of.rack_uplink, of.pod_uplink}) {
    if (uplink >= 0) behind_[uplink] += tasks;
  }
}

bool PlaceRoom::carries(std::span<const TaskShare> shares) {
  if (!limits_.used() || option_.traffic < 0) return true;
  const auto uses = limits_.traffic_of(option_, shares);
  const auto excess = [&](const PlaceLimits::UplinkUse& one) {
    return one.use.amount - left(one.use.limit);
  };
  const PlaceLimits::UplinkUse* worst = nullptr;  // of the fewest servers, by excess
  for (const PlaceLimits::UplinkUse& one : uses) {
    if (excess(one) <= 0) continue;
    const bool worse = worst == nullptr || one.servers < worst->servers ||
                       (one.servers == worst->servers && excess(one) > excess(*worst));
    if (worse) worst = &one;
  }
  if (worst == nullptr) return true;
  // without servers inside, every worker there sends all of its traffic out
  const std::int64_t mbps =
      limits_.problem().traffics[static_cast<std::size_t>(option_.traffic)].mbps;
  Gpus most = worst->tasks - 1;
  if (worst->servers == 0) most = std::min(most, left(worst->use.limit) / std::max<Gpus>(1, mbps));
  most_[worst->use.limit] = most;
  left_.clear();
  behind_.clear();
  // behind the last attempt: no uplink carries it
  if (++attempts_ == kMostAttempts) least_mbps_ = std::numeric_limits<std::int64_t>::max();
  return false;
}

}  // namespace berth::horizon
