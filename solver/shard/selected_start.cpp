// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/selected_start.hpp"

#include "local_search/fill_idle_capacity.hpp"
#include "shard/domain_start.hpp"
#include "shard/whole_start.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/model/workload.hpp"
#include "berth/solver/occupancy.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {
namespace {

using model::Level;

/// Which of the jobs of one domain are placed first: large jobs, or jobs of large tasks, between
/// which small tasks fill the machines.
enum class First : std::uint8_t { large_jobs, large_tasks };

/// GPU thousandths of the largest part of the job that one machine must hold.
std::int64_t largest_part(const model::WorkloadView& workload, const model::Job& job) {
  if (job.domain == Level::machine) return workload.gpu_milli(job);
  std::int64_t largest = 0;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    largest = std::max(largest, workload.shape(group.shape).total_milli());
  }
  return largest;
}

/// Places gangs of narrow domains before those of wide ones, single tasks last: single tasks fit
/// wherever a gang leaves a machine.
void fill_by_domain(Occupancy& occupancy, std::span<const JobId> selected, const StopToken& stop,
                    First first = First::large_jobs) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  // by single task, domain, descending GPU thousandths of a part and of the job
  using Key = std::tuple<bool, Level, std::int64_t, std::int64_t>;
  std::map<Key, std::vector<JobId>> groups;
  for (const JobId id : selected) {
    const model::Job& job = workload.job(id);
    const std::int64_t part = first == First::large_tasks ? largest_part(workload, job) : 0;
    groups[{workload.tasks(job) == 1, job.domain, -part, -workload.gpu_milli(job)}].push_back(id);
  }
  for (const auto& [key, jobs] : groups) local_search::fill_idle_capacity(occupancy, jobs, stop);
}

/// Packs gangs into domains, then places the others. nullopt without such gangs.
std::optional<Occupancy> packed(const Occupancy& empty, std::span<const JobId> selected,
                                const StopToken& stop) {
  Occupancy occupancy = empty;
  bool any = false;
  for (const GpuTypeId type : empty.index().types()) {
    if (pack_domains_of(type, selected, occupancy)) any = true;
  }
  if (!any) return std::nullopt;
  fill_by_domain(occupancy, selected, stop);
  return occupancy;
}

/// Aim of job types, and most shapes, where gangs are packed: decisions 26 and 37.
constexpr int kContentJobTypes = 60;
constexpr std::size_t kMostContentShapes = 500;

/// The jobs that `pack` may place. @return false without gangs among them, and with many shapes
bool jobs_by_contents(const planner_model::Valuation& valuation, std::span<const JobId> selected,
                      std::vector<JobId>& jobs) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::set<ShapeId> shapes;
  bool gangs = false;
  for (const JobId id : selected) {
    const model::Job& job = workload.job(id);
    const bool suits = workload.gpu_milli(job) > 0 && valuation.place_independent(id) &&
                       !valuation.pays_for_moves(id);
    if (!suits) continue;
    jobs.push_back(id);
    gangs = gangs || workload.tasks(job) > 1;
    for (const model::TaskGroup& group : workload.groups_of(job)) shapes.insert(group.shape);
  }
  return gangs && shapes.size() <= kMostContentShapes;
}

/// Packs by contents of machines, then places the others. nullopt where nothing can be packed so.
std::optional<Occupancy> packed_by_contents(const Occupancy& empty, std::span<const JobId> selected,
                                            const ShardOptions& options, const RunContext& run) {
  std::vector<JobId> jobs;
  if (run.limits != nullptr || !jobs_by_contents(empty.valuation(), selected, jobs)) return {};
  PackOptions quick = options.pack;
  const std::int64_t gpus = empty.valuation().instance().cluster.gpus();
  quick.work = std::min(options.repack.work, options.repack.work_per_gpu * (gpus + 1));
  quick.job_types = std::min(quick.job_types, kContentJobTypes);
  quick.neighbourhoods = 0;
  Occupancy occupancy = empty;
  pack(occupancy, jobs, quick, run);
  fill_by_domain(occupancy, selected, run.stop);
  return occupancy;
}

/// Places running jobs where they run.
void stay(Occupancy& occupancy, std::span<const JobId> jobs) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  for (const JobId id : jobs) {
    auto present =
        planner_model::current_placement(workload, *workload.running_of(workload.job(id)));
    if (occupancy.limit_usage().surcharge(id) && occupancy.limit_usage().carries(present) &&
        occupancy.is_free(present)) {
      occupancy.take(std::move(present));
    }
  }
}

/// Those that hard quotas admit together beside the placed jobs, by precedence; ascending. The dive
/// takes it that all its jobs keep the quotas.
std::vector<JobId> within_quotas(const Occupancy& occupancy, std::span<const JobId> selected) {
  const planner_model::Valuation& valuation = occupancy.valuation();
  const model::WorkloadView& workload = valuation.instance().workload;
  const planner_model::LimitUsage& usage = occupancy.limit_usage();
  std::vector<JobId> order(selected.begin(), selected.end()), admitted;
  planner_model::sort_by_precedence(valuation, order);
  std::vector<std::int64_t> left;
  for (std::size_t l = 0; l < usage.size(); ++l) {
    left.push_back(usage.limits()->soft(l) ? model::kNoLimit : usage.left(l));
  }
  for (const JobId job : order) {
    const std::int64_t milli = workload.gpu_milli(workload.job(job));
    const auto quotas = usage.quotas_of(job);
    if (std::ranges::any_of(quotas, [&](std::uint32_t l) { return left[l] < milli; })) continue;
    for (const std::uint32_t l : quotas) {
      if (left[l] != model::kNoLimit) left[l] -= milli;
    }
    admitted.push_back(job);
  }
  std::ranges::sort(admitted);
  return admitted;
}

}  // namespace

bool some_job_may_move(const model::WorkloadView& workload) {
  return std::ranges::any_of(workload.tables().running,
                             [](const model::Running& r) { return !r.pinned; });
}

double plan_selected(const planner_model::Valuation& valuation, const PricedPools& pools,
                     std::span<const JobId> selected, const SelectedOptions& options,
                     const RunContext& run, model::Placement& placement) {
  const Occupancy none = without_placements(valuation, run.limits);
  BestStart best(none, placement);
  Occupancy empty = none;
  stay(empty, options.staying);
  const auto offer = [&](Occupancy start) {
    best.offer(std::move(start), pools, options.shard.dive.effort, run.stop);
  };
  for (const First first : {First::large_jobs, First::large_tasks}) {
    Occupancy filled = empty;
    fill_by_domain(filled, selected, run.stop, first);
    offer(std::move(filled));
  }
  if (auto found = packed(empty, selected, run.stop)) offer(std::move(*found));
  if (auto found = packed_by_contents(empty, selected, options.shard, run)) {
    offer(std::move(*found));
  }
  if (options.how == SelectedPlacement::fill_and_dive) {
    Occupancy dived = empty;
    dive(dived, pools, within_quotas(dived, selected), options.shard.dive, run.stop);
    offer(std::move(dived));
  }
  return best.write(placement);
}

}  // namespace berth::solver
