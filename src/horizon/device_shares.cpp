// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/device_shares.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace berth::horizon {

bool has_shares(const Problem& problem) {
  return std::ranges::any_of(problem.options, [](const Option& o) { return o.share_milli > 0; });
}

std::map<MachineId, std::vector<const Outage*>> outages_with_shares(const Problem& problem) {
  std::map<MachineId, std::vector<const Outage*>> by_machine;
  for (const Outage& outage : problem.outages) {
    if (outage.milli < DeviceShares::kWhole) by_machine[outage.machine];
  }
  for (const Outage& outage : problem.outages) {
    const auto found = by_machine.find(outage.machine);
    if (found != by_machine.end()) found->second.push_back(&outage);
  }
  return by_machine;
}

std::vector<std::int32_t> partly_taken_devices(std::span<const Outage* const> outages) {
  std::uint64_t partly = 0;
  for (const Outage* outage : outages) {
    if (outage->milli < DeviceShares::kWhole) partly |= outage->devices;
  }
  std::vector<std::int32_t> devices;
  for (; partly != 0; partly &= partly - 1) devices.push_back(std::countr_zero(partly));
  return devices;
}

DeviceShares::DeviceShares(Seconds now, std::span<const Outage* const> outages) : now_(now) {
  for (const std::int32_t device : partly_taken_devices(outages)) {
    CapacityProfile& lane = lanes_.emplace_back(now_, kWhole);
    for (const Outage* outage : outages) {
      if (((outage->devices >> device) & 1) == 0) continue;
      lane.reserve(std::max(now_, outage->from), outage->to, outage->milli);
    }
  }
}

namespace {

/// First second of [from, to) without a free GPU, and the end of that step.
DeviceShares::Opening first_without(const CapacityProfile& gpus, Seconds from, Seconds to) {
  DeviceShares::Opening found{kNever, kNever};
  if (gpus.least_free(from, to) >= 1) return found;
  gpus.for_each_step(from, to, [&](Seconds step_from, Seconds step_to, Gpus free) {
    if (free < 1 && found.from == kNever) found = {step_from, step_to};
  });
  return found;
}

}  // namespace

Seconds DeviceShares::earliest_on(const CapacityProfile& lane, Seconds from, Seconds duration,
                                  Gpus milli, const CapacityProfile& gpus, Seconds limit) const {
  Seconds start = lane.earliest_fit(from, duration, milli, limit);
  while (start < limit) {
    Seconds blocked_to = kNever;
    lane.for_each_step(start, start + duration, [&](Seconds a, Seconds b, Gpus free) {
      if (free != kWhole || blocked_to < kNever) return;
      const Opening without = first_without(gpus, a, b);
      if (without.from < kNever) blocked_to = without.to;
    });
    if (blocked_to == kNever) return start;
    start = lane.earliest_fit(blocked_to, duration, milli, limit);
  }
  return kNever;
}

Seconds DeviceShares::earliest_fit(Seconds from, Seconds duration, Gpus milli,
                                   const CapacityProfile& gpus, Seconds until) const {
  Seconds best =
      std::min(gpus.earliest_fit(from, duration, 1, until), until >= kNever ? kNever : until + 1);
  for (const CapacityProfile& lane : lanes_) {
    if (best == from) return best;
    best = std::min(best, earliest_on(lane, from, duration, milli, gpus, best));
  }
  return best <= until ? best : kNever;
}

Gpus DeviceShares::least_free(std::size_t lane, Seconds from, Seconds to) const {
  return lane < lanes_.size() ? lanes_[lane].least_free(from, to) : kWhole;
}

std::vector<DeviceShares::Opening> DeviceShares::openings(std::size_t lane, Seconds from,
                                                          Seconds to) const {
  if (lane >= lanes_.size()) return {{from, to}};
  std::vector<Opening> spans;
  lanes_[lane].for_each_step(from, to, [&](Seconds a, Seconds b, Gpus free) {
    if (free != kWhole) return;
    if (!spans.empty() && spans.back().to == a) {
      spans.back().to = b;
    } else {
      spans.push_back({a, b});
    }
  });
  return spans;
}

Seconds DeviceShares::next_step(Seconds time) const {
  Seconds next = kNever;
  for (const CapacityProfile& lane : lanes_) next = std::min(next, lane.next_step(time));
  return next;
}

std::vector<DeviceShares::Opening> DeviceShares::reserve(std::size_t lane, Seconds from, Seconds to,
                                                         Gpus milli) {
  while (lanes_.size() <= lane) lanes_.emplace_back(now_, kWhole);
  std::vector<Opening> spans;
  if (milli > 0) spans = openings(lane, from, to);
  lanes_[lane].reserve(from, to, milli);
  if (milli < 0) spans = openings(lane, from, to);
  return spans;
}

namespace {

CapacityProfile part_of(const CapacityProfile& profile, Seconds from, Seconds to) {
  std::vector<CapacityStep> steps;
  profile.for_each_step(from, to, [&](Seconds at, Seconds, Gpus free) {
    steps.push_back({.from = at, .gpus = free});
  });
  return CapacityProfile(steps);
}

}  // namespace

SharedGpus::SharedGpus(const DeviceShares& shares, const CapacityProfile& gpus, Seconds from,
                       Seconds to)
    : shares_(shares), from_(from), to_(to), free_(part_of(gpus, from, to)) {}

Gpus SharedGpus::taken_by_job(std::size_t lane) const {
  const auto taken = taken_.find(lane);
  return taken == taken_.end() ? 0 : taken->second;
}

Seconds SharedGpus::seconds_opened(std::size_t lane, Gpus milli) const {
  const Gpus by_job = taken_by_job(lane);
  if (shares_.least_free(lane, from_, to_) - by_job < milli) return kNever;
  Seconds opened = 0;
  if (by_job > 0) return opened;
  for (const DeviceShares::Opening& span : shares_.openings(lane, from_, to_)) {
    if (free_.least_free(span.from, span.to) < 1) return kNever;
    opened += span.to - span.from;
  }
  return opened;
}

std::int32_t SharedGpus::take_share(Gpus milli) {
  std::size_t lanes = shares_.lanes();
  if (!taken_.empty()) lanes = std::max(lanes, taken_.rbegin()->first + 1);
  std::size_t best = 0;
  auto least = std::pair(kNever, Gpus{0});
  for (std::size_t lane = 0; lane <= lanes; ++lane) {
    const Seconds opened = seconds_opened(lane, milli);
    if (opened >= kNever) continue;
    const auto key = std::pair(opened, shares_.least_free(lane, from_, to_) - taken_by_job(lane));
    if (key >= least) continue;
    least = key;
    best = lane;
  }
  if (least.first >= kNever || !take_share_of(best, milli)) return -1;
  return static_cast<std::int32_t>(best);
}

bool SharedGpus::take_share_of(std::size_t lane, Gpus milli) {
  if (seconds_opened(lane, milli) >= kNever) return false;
  Gpus& taken = taken_[lane];
  if (taken == 0) {
    for (const DeviceShares::Opening& span : shares_.openings(lane, from_, to_)) {
      free_.reserve(span.from, span.to, 1);
    }
  }
  taken += milli;
  return true;
}

}  // namespace berth::horizon
