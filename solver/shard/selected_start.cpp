// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/selected_start.hpp"

#include "local_search/fill_idle_capacity.hpp"
#include "shard/domain_packing.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/model/workload.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

using model::Level;

/// Number of placed required jobs, and value less surcharges.
std::pair<int, double> whole_score(const Occupancy& occupancy) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  int required = 0;
  for (const JobEntry& entry : occupancy.entries()) {
    required += entry.is_placed() && workload.job(entry.job()).required ? 1 : 0;
  }
  return {required, occupancy.value() - occupancy.limit_usage().surcharges()};
}

/// All jobs, unplaced, on the whole cluster.
Occupancy without_placements(const planner_model::Valuation& valuation,
                             const planner_model::CouplingLimits* limits) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < valuation.instance().cluster.machines(); ++m)
    machines.emplace_back(m);
  Occupancy occupancy(valuation, machines, limits);
  occupancy.admit(model::planned_jobs(valuation.instance().workload));
  for (std::size_t l = 0; l < occupancy.limit_usage().size(); ++l) {
    occupancy.limit_usage().allow(l, limits->capacity(l));
  }
  return occupancy;
}

/// Places gangs of narrow domains before those of wide ones, single tasks last, and large jobs
/// before small ones: single tasks fit wherever a gang leaves a machine.
void fill_by_domain(Occupancy& occupancy, std::span<const JobId> selected, const StopToken& stop) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  // by single task, domain, descending GPUs
  std::map<std::tuple<bool, Level, std::int64_t>, std::vector<JobId>> groups;
  for (const JobId id : selected) {
    const model::Job& job = workload.job(id);
    groups[{workload.tasks(job) == 1, job.domain, -workload.gpu_milli(job)}].push_back(id);
  }
  for (const auto& [key, jobs] : groups) local_search::fill_idle_capacity(occupancy, jobs, stop);
}

/// Packs the selected jobs of one GPU type that must be in one pod or rack to keep their value.
class PackingOnType {
 public:
  PackingOnType(Occupancy& occupancy, GpuTypeId type)
      : occupancy_(occupancy),
        workload_(occupancy.valuation().instance().workload),
        type_(type),
        pods_(occupancy.index().domains(type, Level::pod)) {
    const model::Cluster& cluster = occupancy.valuation().instance().cluster;
    racks_.resize(pods_.size());
    std::size_t p = 0;
    for (const Domain& rack : occupancy.index().domains(type, Level::rack)) {
      while (cluster.pod_of(pods_[p].machines.front()) != cluster.pod_of(rack.machines.front()))
        ++p;
      racks_[p].push_back(&rack);
    }
  }

  /// @return false when no selected job needs a domain
  bool run(std::span<const JobId> selected) {
    for (const JobId job : selected) add(job);
    if (items_.empty()) return false;
    std::vector<RoomOfRacks> room;
    for (const auto& racks : racks_) {
      for (room.emplace_back(); const Domain* rack : racks) room.back().push_back(units_in(*rack));
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].units = workload_.gpu_milli(workload_.job(jobs_[i])) / unit_;
    }
    const std::vector<ItemPlace> places = pack_domains(room, items_);
    for (const bool in_rack : {true, false}) {
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (places[i].pod >= 0 && items_[i].in_rack == in_rack) place(jobs_[i], places[i]);
      }
    }
    return true;
  }

 private:
  void add(JobId id) {
    const model::Job& job = workload_.job(id);
    if (workload_.tasks(job) == 1 || job.home_pod.valid() || job.home_rack.valid()) return;
    if (workload_.gpu_milli(job) == 0 || occupancy_.is_placed(id)) return;  // on another type
    if (((job.gpu_types >> type_.value()) & 1) == 0) return;
    const planner_model::Valuation& valuation = occupancy_.valuation();
    const double best = valuation.best(id);
    if (!(best > 0.0)) return;
    auto widest = static_cast<int>(job.domain);
    const auto value = [&](int width) {
      return valuation.option(id, type_, static_cast<Level>(width), Level::machine);
    };
    while (widest > 0 && value(widest) < best) --widest;
    const auto level = static_cast<Level>(widest);
    if (value(widest) < best || level == Level::machine || level == Level::cluster) return;
    for (const model::TaskGroup& group : workload_.groups_of(job)) {
      unit_ = std::gcd(unit_, workload_.shape(group.shape).total_milli());
    }
    jobs_.push_back(id);
    items_.push_back({.value = best, .in_rack = level == Level::rack});
  }

  [[nodiscard]] std::int64_t units_in(const Domain& rack) const {
    std::int64_t units = 0;
    for (const MachineId m : rack.machines) units += occupancy_.room().free_milli(m) / unit_;
    return units;
  }

  void place(JobId job, const ItemPlace& where) {
    const auto pod = static_cast<std::size_t>(where.pod);
    const Domain& domain =
        where.rack < 0 ? pods_[pod] : *racks_[pod][static_cast<std::size_t>(where.rack)];
    if (occupancy_.limit_usage().surcharge(job).value_or(kInfinity) >
        occupancy_.valuation().best(job))
      return;
    std::vector<MachineId> open = domain.machines;
    std::erase_if(
        open, [&](MachineId m) { return !occupancy_.limit_usage().admits(job, m, domain.level); });
    if (auto placement = occupancy_.fit(job, open)) occupancy_.take(std::move(*placement));
  }

  Occupancy& occupancy_;
  model::WorkloadView workload_;
  GpuTypeId type_;
  std::span<const Domain> pods_;
  std::vector<std::vector<const Domain*>> racks_;  ///< by pod
  std::int64_t unit_ = 0;                          ///< GPU thousandths
  std::vector<JobId> jobs_;
  std::vector<DomainItem> items_;  ///< of these jobs
};

/// Packs gangs into domains, then places the others. nullopt without such gangs.
std::optional<Occupancy> packed(const Occupancy& empty, std::span<const JobId> selected,
                                const StopToken& stop) {
  Occupancy occupancy = empty;
  bool any = false;
  for (const GpuTypeId type : empty.index().types()) {
    if (PackingOnType(occupancy, type).run(selected)) any = true;
  }
  if (!any) return std::nullopt;
  fill_by_domain(occupancy, selected, stop);
  return occupancy;
}

/// Share of the value that the local search may be expected to win. Chosen, not tuned.
constexpr double kSearchGain = 0.005;

/// Fills what is left and improves the result, unless it is far below the best one; keeps it as the
/// best one if it is better.
void finish(Occupancy after, const PricedPools& pools, const SearchEffort& effort,
            const StopToken& stop, Occupancy& best) {
  local_search::fill_idle_capacity(after, after.unplaced_jobs(), stop);
  if (whole_score(after).second < (1.0 - kSearchGain) * whole_score(best).second) return;
  improve(after, pools, effort, stop);
  if (whole_score(after) > whole_score(best)) best = std::move(after);
}

}  // namespace

double plan_selected(const planner_model::Valuation& valuation,
                     const planner_model::CouplingLimits* limits, const PricedPools& pools,
                     std::span<const JobId> selected, SelectedPlacement how,
                     const DiveOptions& options, model::Placement& placement,
                     const StopToken& stop) {
  const Occupancy empty = without_placements(valuation, limits);
  Occupancy best = empty;
  for (const model::JobPlacement& placed : placement) best.take(placed);
  const auto before = whole_score(best);
  Occupancy filled = empty;
  fill_by_domain(filled, selected, stop);
  finish(std::move(filled), pools, options.effort, stop, best);
  if (auto found = packed(empty, selected, stop)) {
    finish(std::move(*found), pools, options.effort, stop, best);
  }
  if (how == SelectedPlacement::fill_and_dive) {
    Occupancy dived = empty;
    dive(dived, pools, selected, options, stop);
    finish(std::move(dived), pools, options.effort, stop, best);
  }
  if (whole_score(best) <= before) return 0.0;
  placement = best.placement();
  return whole_score(best).second - before.second;
}

}  // namespace berth::solver
