// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/horizon/device_shares.hpp"
#include "berth/horizon/machine_timeline.hpp"

namespace berth::horizon {
namespace {

/// GPUs of one machine in use until `end`.
struct InUse {
  Seconds end;
  std::uint64_t devices;
  bool operator>(const InUse& other) const { return end > other.end; }
};
using InUseQueue = std::priority_queue<InUse, std::vector<InUse>, std::greater<>>;

/// GPUs that a share of tasks, or a span of a lane with all shares in it, needs together.
struct DeviceSpan {
  Seconds start;
  Seconds end;
  std::vector<std::size_t> shares;  ///< in Plan::shares
  std::size_t machine;
  std::int32_t gpus;
  std::uint64_t fixed = 0;  ///< the GPU that outages give to a lane
};

/// Spans that overlap become one. @param spans  of one lane
void add_merged(std::vector<DeviceSpan> spans, std::vector<DeviceSpan>& result) {
  std::ranges::stable_sort(spans, {}, &DeviceSpan::start);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0 && spans[i].start < result.back().end) {
      DeviceSpan& last = result.back();
      last.end = std::max(last.end, spans[i].end);
      last.shares.insert(last.shares.end(), spans[i].shares.begin(), spans[i].shares.end());
      last.fixed |= spans[i].fixed;
    } else {
      result.push_back(std::move(spans[i]));
    }
  }
}

using SpansOfLanes = std::map<std::pair<std::size_t, std::int32_t>, std::vector<DeviceSpan>>;

/// Shares that run hold their GPU as lanes, where jobs of the plan may join them.
void add_running_shares(const Problem& problem, SpansOfLanes& lanes) {
  for (const auto& [machine, outages] : outages_with_shares(problem)) {
    const auto devices = partly_taken_devices(outages);
    for (std::size_t lane = 0; lane < devices.size(); ++lane) {
      const std::uint64_t device = std::uint64_t{1} << devices[lane];
      for (const Outage* outage : outages) {
        const bool runs = outage->milli < DeviceShares::kWhole && outage->to > problem.now;
        if (!runs || (outage->devices & device) == 0) continue;
        lanes[{machine.index(), static_cast<std::int32_t>(lane)}].push_back(
            {.start = problem.now,
             .end = outage->to,
             .shares = {},
             .machine = machine.index(),
             .gpus = 1,
             .fixed = device});
      }
    }
  }
}

std::vector<DeviceSpan> spans_by_start(const Problem& problem, const Plan& plan) {
  std::vector<DeviceSpan> result;
  SpansOfLanes lanes;
  if (has_shares(problem)) add_running_shares(problem, lanes);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const JobStart& start = plan.starts[j];
    if (!start.placed()) continue;
    const Option& option =
        problem.options_of(problem.jobs[j])[static_cast<std::size_t>(start.option)];
    const auto groups = problem.tasks_of(option);
    for (auto i = static_cast<std::size_t>(start.shares.begin);
         i < static_cast<std::size_t>(start.shares.end); ++i) {
      const TaskShare& share = plan.shares[i];
      const std::int32_t gpus = share.tasks * groups[static_cast<std::size_t>(share.group)].gpus;
      DeviceSpan span{.start = start.start,
                      .end = start.start + option.duration,
                      .shares = {i},
                      .machine = share.machine.index(),
                      .gpus = share.lane < 0 ? gpus : 1};
      if (share.lane < 0) {
        result.push_back(std::move(span));
      } else {
        lanes[{span.machine, share.lane}].push_back(std::move(span));
      }
    }
  }
  for (auto& [lane, spans] : lanes) add_merged(std::move(spans), result);
  // those with a GPU first, then by the first share
  std::ranges::stable_sort(result, {}, [](const DeviceSpan& s) {
    return std::tuple(s.start, s.fixed == 0, s.shares.empty() ? 0 : s.shares.front());
  });
  return result;
}

/// The lowest free ones.
std::uint64_t free_devices(std::uint64_t used, std::int32_t count) {
  std::uint64_t devices = 0;
  for (; count > 0; --count) {
    const std::uint64_t free = ~(used | devices);
    devices |= free & (~free + 1);
  }
  return devices;
}

}  // namespace

void assign_devices(const Problem& problem, Plan& plan) {
  const bool shares = has_shares(problem);
  std::vector<std::uint64_t> used(problem.machines.size(), 0);
  std::vector<InUseQueue> ends(problem.machines.size());
  for (const Outage& outage : problem.outages) {
    // later outages close the whole machine: no job runs then
    if (outage.from > problem.now || outage.to <= problem.now) continue;
    if (shares && outage.milli < DeviceShares::kWhole) continue;  // a lane
    used[outage.machine.index()] |= outage.devices;
    ends[outage.machine.index()].push({outage.to, outage.devices});
  }
  for (const DeviceSpan& span : spans_by_start(problem, plan)) {
    const std::size_t m = span.machine;
    while (!ends[m].empty() && ends[m].top().end <= span.start) {
      used[m] &= ~ends[m].top().devices;
      ends[m].pop();
    }
    const std::uint64_t devices = span.fixed != 0 ? span.fixed : free_devices(used[m], span.gpus);
    BERTH_ENSURE(static_cast<std::int32_t>(std::bit_width(devices)) <= problem.machines[m].gpus);
    used[m] |= devices;
    ends[m].push({span.end, devices});
    for (const std::size_t share : span.shares) plan.shares[share].devices = devices;
  }
}

}  // namespace berth::horizon
