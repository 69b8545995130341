// SPDX-License-Identifier: Apache-2.0
#include "shard/shard_state.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {
namespace {

/// Number of required jobs and value of the placed ones among some jobs, in the order in which
/// repacks compare them.
std::pair<std::int64_t, double> worth(const Occupancy& occupancy, std::span<const JobId> jobs) {
  std::pair<std::int64_t, double> sum;
  for (const JobId job : jobs) {
    if (!occupancy.is_placed(job)) continue;
    sum.first += occupancy.valuation().instance().workload.job(job).required ? 1 : 0;
    sum.second += occupancy.value_of(job);
  }
  return sum;
}

}  // namespace

/// min(idle GPUs, GPUs of unplaced single tasks) / all GPUs. Machines without free CPU count as
/// idle: the wrong task may have the CPU (decision 22).
double ShardState::recoverable_share(std::span<const JobId> singles) const {
  std::int64_t idle = 0, waiting = 0;
  for (const MachineId m : machines) idle += occupancy.room().free_milli(m);
  for (const JobId job : singles) {
    if (!occupancy.is_placed(job)) waiting += workload().gpu_milli(workload().job(job));
  }
  const std::int64_t all = model::kGpuMilli * std::max<std::int64_t>(1, gpus());
  return static_cast<double>(std::min(idle, waiting)) / static_cast<double>(all);
}

/// Places all single tasks anew by the pattern LP into the room that gangs leave, if the
/// recoverable share is large enough, and keeps the result if its value is larger. Searches that
/// place shares one by one leave idle capacity that no share fits (decision 22).
ShardState::RepackResult ShardState::repack(const StopToken& stop) {
  RepackResult result;
  const auto consider = [&](JobId job) {
    if (packable(job) && workload().running_of(workload().job(job)) == nullptr) {
      result.singles.push_back(job);
    }
  };
  for (const JobEntry& entry : occupancy.entries()) consider(entry.job());
  if (stop.requested() || recoverable_share(result.singles) < options.repack.idle) return {};
  const auto was = worth(occupancy, result.singles);
  const Occupancy::Mark mark = occupancy.mark();
  for (const JobId job : result.singles) {
    if (occupancy.is_placed(job)) occupancy.give_back(job);
  }
  PackOptions quick = options.pack;
  quick.neighbourhoods = options.repack.neighbourhoods;
  quick.work = std::min(options.repack.work, options.repack.work_per_gpu * (gpus() + 1));
  RunContext shared = run;
  shared.gap = std::max(run.gap, options.repack.gap);
  shared.stop = stop;
  PackResult found = pack(occupancy, result.singles, quick, shared);
  result.prices = std::move(found.prices);
  result.gpu_worth = std::move(found.gpu_worth);
  const auto is = worth(occupancy, result.singles);
  if (is > was) {
    occupancy.keep(mark);
    result.gain = is.second - was.second;
  } else {
    occupancy.roll_back(mark);
  }
  return result;
}

/// Sets the task prices of the shard. Tasks of shapes that were not packed pay what their GPUs
/// would earn with single tasks; so machines earn no more with gangs, and the prices prove a bound
/// for all jobs (decision 22, "A bound by patterns").
void ShardState::set_task_prices(RepackResult repack_result) {
  if (repack_result.singles.empty()) return;
  task_prices = std::move(repack_result.prices);
  std::vector<char> packed(workload().tables().shapes.size(), 0);
  for (const JobId job : repack_result.singles) {
    packed[workload().groups_of(workload().job(job)).front().shape.index()] = 1;
  }
  for (std::size_t s = 0; s < packed.size(); ++s) {
    const auto milli = static_cast<double>(workload().tables().shapes[s].total_milli());
    if (packed[s] != 0 || milli == 0.0) continue;
    for (std::size_t t = 0; t < repack_result.gpu_worth.size(); ++t) {
      const double gpu = std::min(repack_result.gpu_worth[t], least_price[t]);
      if (gpu < kInfinity) task_prices.push_back({ShapeId(s), GpuTypeId(t), milli / 1000.0 * gpu});
    }
  }
  std::ranges::sort(task_prices, {},
                    [](const TaskPrice& p) { return std::pair(p.shape, p.gpu_type); });
}

double repack(Shard& shard) {
  ShardState& s = shard.state();
  return s.run.limits != nullptr ? 0.0 : s.repack(s.run.stop).gain;
}

}  // namespace berth::solver
