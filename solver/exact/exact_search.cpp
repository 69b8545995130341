// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/exact_search.hpp"

#include "exact/aggregate_bound.hpp"
#include "exact/machine_symmetry.hpp"
#include "exact/placement_enumerator.hpp"
#include "local_search/fill_idle_capacity.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/planner_model/equal_jobs.hpp"
#include "berth/planner_model/precedence.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

using exact::AggregateBound;
using exact::MachineSymmetry;
using exact::PlacementEnumerator;
using model::JobPlacement;

/// Placements of one job on one GPU type; chosen, not tuned.
constexpr std::size_t kMostPlacements = 200;
constexpr std::size_t kPriceVectors = 6;  ///< of the bound; chosen, not tuned
constexpr double kRounding = 1e-9;        ///< of sums of values, relative

/// All machines without any job, under the limits' capacities.
Occupancy empty_occupancy(const planner_model::Valuation& valuation,
                          const planner_model::CouplingLimits* limits) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < valuation.instance().cluster.machines(); ++m) {
    machines.emplace_back(m);
  }
  Occupancy occupancy(valuation, machines, limits);
  for (std::size_t l = 0; limits != nullptr && l < limits->size(); ++l) {
    occupancy.limit_usage().allow(l, limits->capacity(l));
  }
  return occupancy;
}

/// Required jobs and jobs of some value, largest first; equal jobs are neighbours.
std::vector<JobId> decided_jobs(const planner_model::Valuation& valuation) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::vector<std::tuple<std::int64_t, std::int64_t, double, planner_model::JobClass, JobId>> order;
  for (const JobId id : model::planned_jobs(workload)) {
    const model::Job& job = workload.job(id);
    const double value = valuation.best(id);
    if (!job.required && value <= 0.0 && job.running < 0) continue;
    std::int64_t cpu = 0;
    for (const model::TaskGroup& g : workload.groups_of(job)) {
      cpu += g.count * workload.shape(g.shape).needs[model::kCpu];
    }
    const planner_model::JobClass kind =
        job.running < 0 ? planner_model::job_class(workload, job) : planner_model::JobClass{};
    order.emplace_back(-workload.gpu_milli(job), -cpu, -value, kind, id);
  }
  std::ranges::sort(order);
  std::vector<JobId> jobs;
  for (const auto& entry : order) jobs.push_back(std::get<JobId>(entry));
  return jobs;
}

class ExactSearch {
 public:
  ExactSearch(const Occupancy& empty, std::vector<JobId> jobs, std::int64_t steps,
              const StopToken& stop)
      : occupancy_(empty),
        workload_(empty.valuation().instance().workload),
        jobs_(std::move(jobs)),
        bonus_(bonuses()),
        symmetry_(empty, jobs_),
        bound_(empty, jobs_, bonus_),
        enumerator_(occupancy_, symmetry_, kMostPlacements),
        left_(bound_.capacity()),
        steps_left_(steps),
        stop_(stop) {
    occupancy_.admit(jobs_);
  }

  /// @param known  a placement whose value is to be exceeded
  ExactSearchResult run(const model::Placement& known, std::int64_t steps) {
    const double before = value_of(known);
    best_value_ = before;
    add_prices(known);
    search_from(0, 0.0);
    return {.improved = improved_,
            .complete = steps_left_ >= 0 && enumerator_.is_complete(),
            .steps = steps - std::max<std::int64_t>(0, steps_left_)};
  }

  [[nodiscard]] const model::Placement& best() const { return best_; }

 private:
  /// By job: 0, or for a required job more than all jobs together are worth.
  [[nodiscard]] std::vector<double> bonuses() const {
    double all = 1.0;
    for (const JobId job : jobs_) all += std::abs(occupancy_.valuation().best(job));
    std::vector<double> bonus;
    for (const JobId job : jobs_) bonus.push_back(workload_.job(job).required ? all : 0.0);
    return bonus;
  }

  [[nodiscard]] const JobPlacement* find(const model::Placement& placement, JobId job) const {
    const auto at = std::ranges::lower_bound(placement, job, {}, &JobPlacement::job);
    return at != placement.end() && at->job == job ? &*at : nullptr;
  }

  [[nodiscard]] GpuTypeId type_of(const JobPlacement& placement) const {
    for (const model::TaskPlacement& task : placement.tasks) {
      if (task.devices != 0)
        return occupancy_.valuation().instance().cluster.class_of(task.machine).gpu_type;
    }
    return {};
  }

  /// Value of the decided jobs with bonuses, less surcharges.
  [[nodiscard]] double value_of(const model::Placement& placement) {
    const Occupancy::Mark mark = occupancy_.mark();
    double value = 0.0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const JobPlacement* placed = find(placement, jobs_[j]);
      if (placed == nullptr) continue;
      occupancy_.take(*placed);
      value += occupancy_.value_of(jobs_[j]) + bonus_[j];
    }
    value -= occupancy_.limit_usage().surcharges();
    occupancy_.roll_back(mark);
    return value;
  }

  /// Prices for several depths, at what the known placement leaves there.
  void add_prices(const model::Placement& known) {
    std::vector<double> after(jobs_.size() + 1, 0.0);
    for (std::size_t j = jobs_.size(); j-- > 0;) {
      const JobPlacement* placed = find(known, jobs_[j]);
      after[j] = after[j + 1];
      if (placed != nullptr) after[j] += occupancy_.valuation().placed(*placed) + bonus_[j];
    }
    std::vector<double> left = bound_.capacity();
    std::size_t next = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (j * kPriceVectors >= next * jobs_.size()) {
        bound_.add_prices(j, left, after[j]);
        ++next;
      }
      if (const JobPlacement* placed = find(known, jobs_[j])) change(left, j, *placed, -1.0);
    }
  }

  void change(std::vector<double>& left, std::size_t job, const JobPlacement& placed,
              double sign) const {
    const std::span<const double> use = bound_.use(job, type_of(placed));
    for (std::size_t r = 0; r < use.size(); ++r) left[r] += sign * use[r];
  }

  [[nodiscard]] double least_gain() const { return kRounding * std::max(1.0, best_value_); }

  /// False when an equal state at this depth had as much value.
  bool is_new(std::size_t depth, double value) {
    const std::uint64_t key = mix64(symmetry_.state_key(occupancy_) + depth);
    const auto [at, fresh] = seen_.try_emplace(key, value);
    if (fresh) return true;
    if (at->second >= value) return false;
    at->second = value;
    return true;
  }

  void search_from(std::size_t depth, double value) {
    if (depth == jobs_.size()) {
      if (value <= best_value_ + least_gain()) return;
      best_value_ = value;
      improved_ = true;
      best_ = occupancy_.placement();
      return;
    }
    if (value + bound_.bound(depth, left_) <= best_value_ + least_gain()) return;
    if (!is_new(depth, value)) return;
    if (!is_skipped(depth)) {
      for (PlacementEnumerator::ValuedPlacement& option : enumerator_.placements(jobs_[depth])) {
        if (--steps_left_ < 0 || stop_.requested()) return;
        place(depth, value, std::move(option));
      }
    }
    search_from(depth + 1, value);
  }

  /// True when the job before equals this one and is unplaced: then only the other way round is
  /// searched.
  [[nodiscard]] bool is_skipped(std::size_t depth) const {
    if (depth == 0 || occupancy_.is_placed(jobs_[depth - 1])) return false;
    const model::Job &before = workload_.job(jobs_[depth - 1]), &job = workload_.job(jobs_[depth]);
    return before.running < 0 && job.running < 0 &&
           planner_model::job_class(workload_, before) == planner_model::job_class(workload_, job);
  }

  void place(std::size_t depth, double value, PlacementEnumerator::ValuedPlacement option) {
    const double gain = option.value + bonus_[depth];
    if (gain <= 0.0) return;
    change(left_, depth, option.placement, -1.0);
    const JobPlacement kept = option.placement;
    occupancy_.take(std::move(option.placement));
    search_from(depth + 1, value + gain);
    occupancy_.give_back(jobs_[depth]);
    change(left_, depth, kept, +1.0);
  }

  Occupancy occupancy_;
  model::WorkloadView workload_;
  std::vector<JobId> jobs_;
  std::vector<double> bonus_;
  MachineSymmetry symmetry_;
  AggregateBound bound_;
  PlacementEnumerator enumerator_;
  std::vector<double> left_;                        ///< by resource of the bound
  std::unordered_map<std::uint64_t, double> seen_;  ///< by state and depth: the largest value
  std::int64_t steps_left_;
  StopToken stop_;
  double best_value_ = 0.0;
  bool improved_ = false;
  model::Placement best_;  ///< set when improved
};

/// The placement found, and the jobs that the search did not decide where room is left.
model::Placement with_other_jobs(Occupancy occupancy, const model::Placement& found,
                                 const model::Placement& before) {
  occupancy.admit(model::planned_jobs(occupancy.valuation().instance().workload));
  for (const JobPlacement& placed : found) occupancy.take(placed);
  for (const JobPlacement& old : before) {
    if (occupancy.is_placed(old.job) || occupancy.valuation().best(old.job) > 0.0) continue;
    const auto surcharge = occupancy.limit_usage().surcharge(old.job);
    const bool allowed = surcharge && *surcharge <= 0.0 && occupancy.limit_usage().carries(old) &&
                         occupancy.limit_usage().surcharge_of_place(old) <= 0.0;
    if (allowed && occupancy.is_free(old)) occupancy.take(old);
  }
  local_search::fill_idle_capacity(occupancy, occupancy.unplaced_jobs());
  return occupancy.placement();
}

}  // namespace

ExactSearchResult search_exactly(const planner_model::Valuation& valuation,
                                 const planner_model::CouplingLimits* limits,
                                 model::Placement& placement, const ExactSearchOptions& options,
                                 const StopToken& stop) {
  const std::int64_t gpus = valuation.instance().cluster.gpus();
  std::vector<JobId> jobs;
  if (options.steps > 0 && options.takes(gpus, 0)) jobs = decided_jobs(valuation);
  if (jobs.empty() || !options.takes(gpus, std::ssize(jobs))) return {};
  const std::int64_t steps = options.within_size(options.steps, gpus);
  const Occupancy empty = empty_occupancy(valuation, limits);
  ExactSearch search(empty, std::move(jobs), steps, stop);
  const ExactSearchResult result = search.run(placement, steps);
  if (result.improved) placement = with_other_jobs(empty, search.best(), placement);
  return result;
}

}  // namespace berth::solver
