// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/required_job_repair.hpp"

#include "local_search/candidate_domains.hpp"
#include "local_search/fill_idle_capacity.hpp"
#include "local_search/insertion.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "berth/planner_model/precedence.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

using model::JobPlacement;
using model::Level;

/// Machines: domains of at most this size are also tried without each one of their machines.
/// Chosen, not tuned.
constexpr std::size_t kLeaveOneOut = 12;
constexpr int kSweeps = 3;  ///< most sweeps over the jobs unplaced at the end; chosen, not tuned

bool same_machines(const JobPlacement& a, const JobPlacement& b) {
  return std::ranges::equal(a.tasks, b.tasks, {}, &model::TaskPlacement::machine,
                            &model::TaskPlacement::machine);
}

class RequiredJobRepair {
 public:
  RequiredJobRepair(const planner_model::Valuation& valuation,
                    const planner_model::CouplingLimits* limits,
                    const std::vector<MachineId>& machines, int steps, const StopToken& stop)
      : workload_(valuation.instance().workload),
        occupancy_(valuation, machines, limits),
        stop_(stop),
        steps_(steps) {
    for (std::size_t l = 0; limits != nullptr && l < limits->size(); ++l) {
      occupancy_.limit_usage().allow(l, limits->capacity(l));
    }
  }

  bool run(model::Placement& placement, std::vector<JobId> required) {
    std::ranges::sort(required, std::less<>{}, [&](JobId job) { return hardness(job); });
    before_ = placement;
    if (!place_from(required, 0)) return false;
    place_other_jobs();
    insert_waiting();
    placement = occupancy_.placement();
    return true;
  }

 private:
  /// Key of the order of required jobs: GPUs, tasks, CPU, then precedence; the hardest first.
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, std::int64_t, planner_model::Precedence>
  hardness(JobId id) const {
    const model::Job& job = workload_.job(id);
    constexpr std::int64_t kMost = std::int64_t{1} << 61;  // guard: one group has less
    std::int64_t cpu = 0;
    for (const model::TaskGroup& g : workload_.groups_of(job)) {
      cpu = std::min(kMost, cpu + g.count * workload_.shape(g.shape).needs[model::kCpu]);
    }
    return {-workload_.gpu_milli(job), -std::int64_t{workload_.tasks(job)}, -cpu,
            planner_model::precedence(occupancy_.valuation(), id)};
  }

  bool place_from(const std::vector<JobId>& required, std::size_t k) {
    if (k == required.size()) return true;
    for (JobPlacement& choice : choices(required[k])) {
      if (--steps_ < 0 || stop_.requested()) return false;
      const Occupancy::Mark mark = occupancy_.mark();
      occupancy_.take(std::move(choice));
      if (place_from(required, k + 1)) {
        occupancy_.keep(mark);
        return true;
      }
      occupancy_.roll_back(mark);
    }
    return false;
  }

  /// Possible placements of the job, by descending value.
  std::vector<JobPlacement> choices(JobId id) {
    std::vector<std::pair<double, JobPlacement>> found;
    if (!occupancy_.limit_usage().surcharge(id)) return {};
    const model::Job& job = workload_.job(id);
    const bool single = workload_.tasks(job) == 1;
    const auto old = std::ranges::lower_bound(before_, id, {}, &JobPlacement::job);
    if (old != before_.end() && old->job == id && may_return(*old)) {
      found.emplace_back(occupancy_.valuation().placed(*old), *old);
    }
    for (const GpuTypeId type : local_search::candidate_types(occupancy_.index(), workload_, job)) {
      for (const Domain& all : occupancy_.index().domains(type, Level::cluster)) {
        for (const MachineId m : all.machines) try_on(id, std::vector{m}, found);
      }
      for (const Level level : {Level::rack, Level::pod, Level::cluster}) {
        if (single || level > job.domain) break;
        for (const Domain& domain : occupancy_.index().domains(type, level)) {
          try_on(id, domain.machines, found);
          for (std::size_t i = 0;
               domain.machines.size() <= kLeaveOneOut && i < domain.machines.size(); ++i) {
            std::vector<MachineId> others = domain.machines;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            try_on(id, others, found);
          }
        }
      }
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<JobPlacement> list;
    for (auto& [value, placement] : found) list.push_back(std::move(placement));
    return list;
  }

  /// Adds the placement on these machines, if any.
  void try_on(JobId id, const std::vector<MachineId>& machines,
              std::vector<std::pair<double, JobPlacement>>& found) {
    auto placement = occupancy_.fit(id, machines);
    if (!placement) return;
    if (std::ranges::any_of(found,
                            [&](const auto& f) { return same_machines(f.second, *placement); }))
      return;
    const double value = occupancy_.valuation().placed(*placement);
    found.emplace_back(value, std::move(*placement));
  }

  /// True when the former room of the job is free and limits allow it there.
  bool may_return(const JobPlacement& old) {
    const auto surcharge = occupancy_.limit_usage().surcharge(old.job);
    if (!surcharge || *surcharge > 0.0 || !occupancy_.limit_usage().carries(old)) return false;
    return occupancy_.is_free(old);
  }

  /// Places the other jobs by precedence.
  void place_other_jobs() {
    std::vector<std::pair<planner_model::Precedence, const JobPlacement*>> order;
    for (const JobPlacement& p : before_) {
      if (occupancy_.is_placed(p.job)) continue;
      const double density = planner_model::value_density(workload_, workload_.job(p.job),
                                                          occupancy_.valuation().placed(p));
      order.emplace_back(planner_model::precedence(workload_, p.job, density), &p);
    }
    std::ranges::sort(order, std::less<>{});
    for (const auto& [precedence, old] : order) {
      if (may_return(*old)) {
        occupancy_.take(*old);
      } else {
        local_search::place_in_idle_capacity(occupancy_, old->job);
      }
    }
  }

  /// Inserts unplaced jobs whose value exceeds that of their victims.
  void insert_waiting() {
    std::vector<JobId> jobs = model::planned_jobs(workload_);
    planner_model::sort_by_precedence(occupancy_.valuation(), jobs);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      bool changed = false;
      for (const JobId job : jobs) {
        if (occupancy_.is_placed(job) || stop_.requested() ||
            local_search::place_in_idle_capacity(occupancy_, job))
          continue;
        const local_search::Insertion found = local_search::find_insertion(occupancy_, job);
        changed |= found.gain > 0.0 && local_search::insert(occupancy_, job, found, 0.0).gain > 0.0;
      }
      if (!changed) return;
    }
  }

  model::WorkloadView workload_;
  Occupancy occupancy_;
  model::Placement before_;
  StopToken stop_;
  int steps_;
};

}  // namespace

bool repair_required_jobs(const planner_model::Valuation& valuation,
                          const planner_model::CouplingLimits* limits, model::Placement& placement,
                          const RequiredJobRepairOptions& options, const StopToken& stop) {
  const model::InstanceView& instance = valuation.instance();
  if (static_cast<std::int64_t>(instance.cluster.machines()) > options.machines) return false;
  std::vector<JobId> required;
  bool missing = false;
  for (const JobId job : model::planned_jobs(instance.workload)) {
    if (!instance.workload.job(job).required) continue;
    required.push_back(job);
    missing |= !std::ranges::binary_search(placement, job, {}, &JobPlacement::job);
  }
  if (!missing) return false;
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) machines.emplace_back(m);
  return RequiredJobRepair(valuation, limits, machines, options.steps, stop)
      .run(placement, std::move(required));
}

}  // namespace berth::solver
