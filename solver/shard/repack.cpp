// SPDX-License-Identifier: Apache-2.0
#include "local_search/fill_idle_capacity.hpp"
#include "shard/shard_state.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/planner_model/option_enumerator.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {
namespace {

/// Aim of the job types with gangs: most jobs have values of their own, and few of these are close
/// to the prices. Decision 26: 300 need 100 times as long, and their values are no better.
constexpr int kGangJobTypes = 60;
/// Jobs of more pairs of shape and GPU types are not packed with gangs: the balanced greedy
/// compares each with each machine. Decision 37 measures 240; the limit is an untuned guard.
constexpr std::size_t kMostGangFamilies = 2000;
/// Most packings of gangs. Decision 26.
constexpr int kGangPasses = 4;

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

/// Places `jobs` anew into the room that the others leave: `packed`, a part of them, by the pattern
/// LP, then the rest into idle room. Keeps the result if more required jobs are placed, or as many
/// and the value is larger.
ShardState::RepackResult ShardState::pack_anew(std::vector<JobId> jobs,
                                               std::span<const JobId> packed,
                                               const PackOptions& quick, const StopToken& stop) {
  RepackResult result;
  const auto was = worth(occupancy, jobs);
  const bool all_required = std::ranges::all_of(
      jobs, [&](JobId job) { return !workload().job(job).required || occupancy.is_placed(job); });
  const Occupancy::Mark mark = occupancy.mark();
  for (const JobId job : jobs) {
    if (occupancy.is_placed(job)) occupancy.give_back(job);
  }
  RunContext shared = run;
  shared.gap = std::max(run.gap, options.repack.gap);
  shared.stop = stop;
  PackResult found = pack(occupancy, packed, quick, shared, all_required ? was.second : -kInfinity);
  if (packed.size() < jobs.size()) local_search::fill_idle_capacity(occupancy, jobs);
  result.prices = std::move(found.prices);
  result.gpu_worth = std::move(found.gpu_worth);
  result.bound = found.bound;
  result.relaxed = found.stats.columns > 0;
  const auto is = worth(occupancy, jobs);
  for (const JobId job : jobs) {
    if (!occupancy.is_placed(job)) result.unplaced.push_back(job);
  }
  result.jobs = std::move(jobs);
  if (is > was) {
    occupancy.keep(mark);
    result.gain = is.second - was.second;
  } else {
    occupancy.roll_back(mark);
  }
  return result;
}

/// Packs gangs by contents. The relaxation may count on a part of a gang that is then not placed
/// whole, and have worse places for the others: while the value is not within the gap of the first
/// bound, packs anew without the unplaced gangs that are worth more than their tasks cost.
ShardState::RepackResult ShardState::pack_gangs(std::vector<JobId> jobs, const PackOptions& quick,
                                                const StopToken& stop) {
  std::vector<JobId> packed = jobs;
  RepackResult result = pack_anew(std::move(jobs), packed, quick, stop);
  std::map<std::pair<ShapeId, GpuTypeId>, double> price;
  for (const TaskPrice& p : result.prices) price[{p.shape, p.gpu_type}] = p.price;
  const auto profitable = [&](JobId job) {
    const planner_model::OptionEnumerator job_options(*valuation, job);
    return std::ranges::any_of(job_options.types(), [&](GpuTypeId type) {
      double cost = 0.0;
      for (const model::TaskGroup& g : workload().groups_of(workload().job(job))) {
        const auto at = price.find({g.shape, type});
        if (at != price.end()) cost += g.count * at->second;
      }
      return job_options.best(type) > cost;
    });
  };
  std::vector<JobId> unplaced = result.unplaced;
  const double gap = std::max(run.gap, options.repack.gap);
  for (int pass = 1; pass < kGangPasses && !stop.requested(); ++pass) {
    if (result.bound - worth(occupancy, result.jobs).second <= gap * result.bound) break;
    const std::size_t before = packed.size();
    std::erase_if(packed, [&](JobId job) {
      return std::ranges::binary_search(unplaced, job) && !workload().job(job).required &&
             profitable(job);
    });
    if (packed.size() == before) break;
    RepackResult again = pack_anew(std::move(result.jobs), packed, quick, stop);
    result.jobs = std::move(again.jobs);
    result.gain += again.gain;
    unplaced = std::move(again.unplaced);
    if (again.gain == 0.0 && !again.relaxed) break;  // the greedy does not count on parts of gangs
  }
  return result;
}

/// Places the jobs of the pattern LP anew: single tasks if the recoverable share is large enough
/// (decision 22), then all jobs with the gangs if some of them are not placed (decision 26). The
/// latter know the values of the tasks less exactly. Searches that place tasks one by one leave
/// idle capacity that no task fits. Returns one result for each of these packings.
std::vector<ShardState::RepackResult> ShardState::repack(const StopToken& stop) {
  if (stop.requested()) return {};
  std::vector<JobId> singles, jobs;
  std::set<std::pair<ShapeId, std::uint64_t>> families;  // shape and GPU types of a task
  bool gangs = false;
  for (const JobEntry& entry : occupancy.entries()) {
    const model::Job& record = workload().job(entry.job());
    const bool with_gangs = packable_with_gangs(entry.job());
    if (packable(entry.job()) && !valuation->pays_for_moves(entry.job())) {
      singles.push_back(entry.job());
    } else if (with_gangs) {
      gangs = true;
    }
    if (!with_gangs) continue;
    jobs.push_back(entry.job());
    if (families.size() > kMostGangFamilies) continue;
    for (const model::TaskGroup& g : workload().groups_of(record)) {
      families.emplace(g.shape, record.gpu_types);
    }
  }
  PackOptions quick = options.pack;
  quick.work = std::min(options.repack.work, options.repack.work_per_gpu * (gpus() + 1));
  std::vector<RepackResult> results;
  if (recoverable_share(singles) >= options.repack.idle) {
    quick.neighbourhoods = options.repack.neighbourhoods;
    const std::vector<JobId> packed = singles;
    results.push_back(pack_anew(std::move(singles), packed, quick, stop));
  }
  const auto waits = [&](JobId job) { return !occupancy.is_placed(job); };
  if (!gangs || families.size() > kMostGangFamilies || std::ranges::none_of(jobs, waits)) {
    return results;
  }
  quick.job_types = std::min(quick.job_types, kGangJobTypes);
  quick.neighbourhoods = 0;
  results.push_back(pack_gangs(std::move(jobs), quick, stop));
  return results;
}

/// Adds the prices of a packing to the task prices of the shard. Tasks of shapes that were not
/// packed pay what their GPUs would earn with single tasks; so machines earn no more with gangs,
/// and the prices prove a bound for all jobs (decision 22, "A bound by patterns").
void ShardState::add_task_prices(RepackResult repack_result) {
  std::vector<TaskPrice> prices = std::move(repack_result.prices);
  std::vector<char> packed(workload().tables().shapes.size(), 0);
  for (const JobId job : repack_result.jobs) {
    for (const model::TaskGroup& g : workload().groups_of(workload().job(job))) {
      packed[g.shape.index()] = 1;
    }
  }
  for (std::size_t s = 0; s < packed.size(); ++s) {
    const auto milli = static_cast<double>(workload().tables().shapes[s].total_milli());
    if (packed[s] != 0 || milli == 0.0) continue;
    for (std::size_t t = 0; t < repack_result.gpu_worth.size(); ++t) {
      const double gpu = std::min(repack_result.gpu_worth[t], least_price[t]);
      if (gpu < kInfinity) prices.push_back({ShapeId(s), GpuTypeId(t), milli / 1000.0 * gpu});
    }
  }
  std::ranges::sort(prices, {}, [](const TaskPrice& p) { return std::pair(p.shape, p.gpu_type); });
  task_prices.push_back(std::move(prices));
}

double repack(Shard& shard) {
  ShardState& s = shard.state();
  double gain = 0.0;
  if (s.run.limits != nullptr) return gain;
  for (const ShardState::RepackResult& packing : s.repack(s.run.stop)) gain += packing.gain;
  return gain;
}

}  // namespace berth::solver
