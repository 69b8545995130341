// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>
#include <vector>

#include "berth/base/assert.hpp"
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

struct ShareStart {
  Seconds start;
  Seconds end;
  std::size_t share;
  std::int32_t gpus;
};

std::vector<ShareStart> shares_by_start(const Problem& problem, const Plan& plan) {
  std::vector<ShareStart> result;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const JobStart& start = plan.starts[j];
    if (!start.placed()) continue;
    const Option& option =
        problem.options_of(problem.jobs[j])[static_cast<std::size_t>(start.option)];
    const auto groups = problem.tasks_of(option);
    for (auto i = static_cast<std::size_t>(start.shares.begin);
         i < static_cast<std::size_t>(start.shares.end); ++i) {
      const TaskShare& share = plan.shares[i];
      result.push_back({start.start, start.start + option.duration, i,
                        share.tasks * groups[static_cast<std::size_t>(share.group)].gpus});
    }
  }
  std::ranges::sort(result, {}, [](const ShareStart& s) { return std::tie(s.start, s.share); });
  return result;
}

}  // namespace

void assign_devices(const Problem& problem, Plan& plan) {
  std::vector<std::uint64_t> used(problem.machines.size(), 0);
  std::vector<InUseQueue> ends(problem.machines.size());
  for (const Outage& outage : problem.outages) {
    // later outages close the whole machine: no job runs then
    if (outage.from > problem.now || outage.to <= problem.now) continue;
    used[outage.machine.index()] |= outage.devices;
    ends[outage.machine.index()].push({outage.to, outage.devices});
  }
  for (const ShareStart& s : shares_by_start(problem, plan)) {
    const std::size_t m = plan.shares[s.share].machine.index();
    while (!ends[m].empty() && ends[m].top().end <= s.start) {
      used[m] &= ~ends[m].top().devices;
      ends[m].pop();
    }
    std::uint64_t devices = 0;
    for (std::int32_t count = 0; count < s.gpus; ++count) {
      const std::uint64_t free = ~(used[m] | devices);
      devices |= free & (~free + 1);  // the lowest bit
    }
    BERTH_ENSURE(static_cast<std::int32_t>(std::bit_width(devices)) <= problem.machines[m].gpus);
    used[m] |= devices;
    ends[m].push({s.end, devices});
    plan.shares[s.share].devices = devices;
  }
}

}  // namespace berth::horizon
