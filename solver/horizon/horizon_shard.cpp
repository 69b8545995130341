// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/horizon_shard.hpp"

#include "horizon/append_rows.hpp"
#include "horizon/curves_of_bound.hpp"
#include "horizon/list_planner.hpp"
#include "horizon/part_of_problem.hpp"
#include "horizon/regrets.hpp"
#include "horizon/start_prices.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::solver {

using horizon::JobStart;
using horizon::MachineTimeline;
using horizon::Plan;
using horizon::Problem;
using horizon_plan::CurvesOfBound;
using horizon_plan::ListPlanner;
using horizon_plan::PlaceRule;
using horizon_plan::PricedTime;

namespace {

/// A guest is taken when its gain is still this share of its bid.
constexpr double kLeastShare = 0.5;

/// No completion after this one costs less than `cost`. Costs do not fall. O(log x pieces).
horizon::Seconds useful_until(const Problem& problem, const horizon::Job& job, double cost) {
  const auto useful = [&](horizon::Seconds end) {
    return std::ranges::any_of(problem.options_of(job), [&](const horizon::Option& option) {
      return cost_at(problem.cost_of(option), end) < cost;
    });
  };
  horizon::Seconds low = job.release, high = horizon::kNever;
  if (useful(high)) return high;
  while (high - low > 1) {
    const horizon::Seconds middle = low + (high - low) / 2;
    (useful(middle) ? low : high) = middle;
  }
  return low;
}

/// Required jobs that wait, then cost.
std::pair<std::int64_t, double> rank_of(const Problem& problem, const Plan& plan) {
  std::int64_t missing = 0;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    missing += problem.jobs[j].required && !plan.starts[j].placed() ? 1 : 0;
  }
  return {missing, cost_of(problem, plan)};
}

/// Jobs of a problem with names, and their starts, without those that `leaves` is true for, by
/// ascending names.
template <class Leaves>
void compact(NamedJobs& jobs, Plan& plan, const Leaves& leaves) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < jobs.names.size(); ++j) {
    if (!leaves(j)) order.push_back(j);
  }
  std::ranges::sort(order, {}, [&](std::size_t j) { return jobs.names[j]; });
  std::vector<PoolId> all;
  for (std::size_t p = 0; p < jobs.problem.pools.size(); ++p) all.emplace_back(p);
  horizon_plan::PoolMap pools;
  NamedJobs result{.problem = horizon_plan::machines_of_pools(jobs.problem, all, pools),
                   .names = {}};
  Plan starts;
  for (const std::size_t j : order) {
    horizon_plan::append_job(jobs.problem, JobId(j), pools, result.problem);
    result.names.push_back(jobs.names[j]);
    const JobStart& start = plan.starts[j];
    starts.starts.push_back(horizon_plan::with_shares(start, start.shares.of(plan.shares), starts));
  }
  jobs = std::move(result);
  plan = std::move(starts);
}

}  // namespace

/// The plan between `bids` and `settle`: own jobs, then guests.
struct Exchange {
  explicit Exchange(const Problem& problem) : timeline(problem), planner(problem, timeline) {}

  MachineTimeline timeline;
  ListPlanner planner;
};

struct HorizonShard::State {
  HorizonShardTask task;
  std::vector<double> guest_costs = {};                ///< from the first guest on
  std::vector<horizon::Seconds> guest_deadlines = {};  ///< their own
  std::unique_ptr<Exchange> exchange = {};

  [[nodiscard]] std::size_t own() const { return task.jobs.names.size() - guest_costs.size(); }

  /// The bound with cost shares, and the problem with dependencies, by positions.
  HorizonBound local_bound() {
    HorizonBound bound = task.bound;
    bound.bound = -kInfinity;  // that of the whole problem ends no search here
    bound.shares.clear();
    Problem& problem = task.jobs.problem;
    problem.dependencies.clear();
    const auto& names = task.jobs.names;
    const auto position = [&](JobId name) {
      const auto found = std::ranges::lower_bound(names, name);
      return found != names.end() && *found == name
                 ? JobId(static_cast<std::size_t>(found - names.begin()))
                 : JobId();
    };
    for (const model::Dependency& pair : task.dependencies) {
      const JobId job = position(pair.job), after = position(pair.after);
      if (job.valid() && after.valid())
        problem.dependencies.push_back({.job = job, .after = after});
    }
    for (horizon::CostShare share : task.bound.shares) {
      share.job = position(share.job);
      share.after = position(share.after);
      if (share.job.valid() && share.after.valid()) bound.shares.push_back(share);
    }
    return bound;
  }

  /// True by position for jobs with dependencies.
  [[nodiscard]] std::vector<bool> bound_to_others() const {
    std::vector<bool> result(task.jobs.names.size(), false);
    const auto set = [&](JobId name) {
      const auto found = std::ranges::lower_bound(task.jobs.names, name);
      if (found == task.jobs.names.end() || *found != name) return;
      result[static_cast<std::size_t>(found - task.jobs.names.begin())] = true;
    };
    for (const model::Dependency& pair : task.dependencies) {
      set(pair.job);
      set(pair.after);
    }
    return result;
  }

  [[nodiscard]] HorizonPlanOptions options() const {
    HorizonPlanOptions result;
    result.job_visits = result.job_visits / result.machine_visits * task.machine_visits;
    result.machine_visits = task.machine_visits;
    return result;
  }

  /// What placing the guest now would gain; it is placed then. 0: no place that gains.
  double place_guest(JobId id) {
    ListPlanner& planner = exchange->planner;
    planner.place(id, PlaceRule::cheapest, PricedTime{});
    if (!planner.built().start_of(id).placed()) return 0.0;
    const double before = guest_costs[id.index() - own()];
    const double gain = before - planner.built().cost_of(id);
    if (gain > 0.0) return gain;
    (void)planner.built().remove(id);
    return 0.0;
  }
};

HorizonShard::HorizonShard(HorizonShardTask task)
    : state_(std::make_unique<State>(State{.task = std::move(task)})) {}
HorizonShard::HorizonShard(HorizonShard&&) noexcept = default;
HorizonShard& HorizonShard::operator=(HorizonShard&&) noexcept = default;
HorizonShard::~HorizonShard() = default;

ShardId HorizonShard::id() const { return state_->task.shard; }
const std::vector<JobId>& HorizonShard::names() const { return state_->task.jobs.names; }
const Plan& HorizonShard::plan() const { return state_->task.plan; }
double HorizonShard::cost() const { return cost_of(state_->task.jobs.problem, state_->task.plan); }

void HorizonShard::plan(const StopToken& stop) {
  HorizonShardTask& task = state_->task;
  if (task.planned) return;
  const HorizonBound bound = state_->local_bound();
  HorizonPlanOptions options = state_->options();
  const Plan pools = plan_on_pools(task.jobs.problem, bound, options, stop);
  if (rank_of(task.jobs.problem, pools) < rank_of(task.jobs.problem, task.plan)) task.plan = pools;
  if (!task.kept.starts.empty()) options.kept = &task.kept;
  task.plan = plan_on_machines(task.jobs.problem, bound, task.plan, options, stop);
  task.planned = true;
}

std::vector<HorizonOffer> HorizonShard::offers() const {
  const HorizonShardTask& task = state_->task;
  const HorizonBound bound = state_->local_bound();
  const CurvesOfBound at(task.jobs.problem, bound);
  const std::vector<double> regrets = horizon_plan::regrets(at.priced, at.prices, task.plan);
  const std::vector<bool> bound_to_others = state_->bound_to_others();
  std::vector<HorizonOffer> offers;
  for (std::size_t j = 0; j < regrets.size(); ++j) {
    if (bound_to_others[j]) continue;
    const horizon::Job& job = task.jobs.problem.jobs[j];
    const JobStart& start = task.plan.starts[j];
    HorizonOffer offer{.job = task.jobs.names[j], .regret = regrets[j], .cost = 0.0};
    if (start.placed()) {
      const auto& option =
          task.jobs.problem.options_of(job)[static_cast<std::size_t>(start.option)];
      offer.cost = cost_at(task.jobs.problem.cost_of(option), start.start + option.duration);
    } else if (job.required) {
      offer.cost = kInfinity;
      offer.regret = horizon_plan::cost_range(task.jobs.problem, job, horizon_plan::kLongDelay);
    }
    if (offer.regret > 0.0) offers.push_back(offer);
  }
  return offers;
}

std::vector<HorizonBid> HorizonShard::bids(HorizonGuests guests) {
  HorizonShardTask& task = state_->task;
  (void)state_->local_bound();
  const auto own = task.jobs.names.size();
  const horizon_plan::PoolMap pools = horizon_plan::same_pools(task.jobs.problem.pools.size());
  for (std::size_t g = 0; g < guests.jobs.names.size(); ++g) {
    horizon_plan::append_job(guests.jobs.problem, JobId(g), pools, task.jobs.problem);
    task.jobs.names.push_back(guests.jobs.names[g]);
    horizon::Job& job = task.jobs.problem.jobs.back();
    state_->guest_deadlines.push_back(job.deadline);
    job.deadline = std::min(job.deadline, useful_until(task.jobs.problem, job, guests.costs[g]));
  }
  state_->guest_costs = std::move(guests.costs);
  state_->exchange = std::make_unique<Exchange>(task.jobs.problem);
  state_->exchange->planner.keep(task.plan);
  std::vector<HorizonBid> bids;
  for (std::size_t j = own; j < task.jobs.names.size(); ++j) {
    const double gain = state_->place_guest(JobId(j));
    if (gain <= 0.0) continue;
    bids.push_back({.job = task.jobs.names[j], .shard = task.shard, .gain = gain});
    (void)state_->exchange->planner.built().remove(JobId(j));
  }
  return bids;
}

std::vector<JobId> HorizonShard::take(std::span<const HorizonBid> granted) {
  const std::vector<JobId>& names = state_->task.jobs.names;
  std::vector<JobId> taken;
  for (const HorizonBid& bid : granted) {
    const auto guest =
        std::find(names.begin() + static_cast<std::ptrdiff_t>(state_->own()), names.end(), bid.job);
    BERTH_EXPECT(guest != names.end());
    const JobId id(static_cast<std::size_t>(guest - names.begin()));
    const double gain = state_->place_guest(id);
    if (gain > 0.0 && gain >= kLeastShare * bid.gain) {
      taken.push_back(bid.job);
    } else if (gain > 0.0) {
      (void)state_->exchange->planner.built().remove(id);
    }
  }
  return taken;
}

void HorizonShard::settle(std::span<const JobId> left) {
  HorizonShardTask& task = state_->task;
  const std::size_t own = state_->own();
  task.plan = state_->exchange->planner.built().plan();
  for (std::size_t g = 0; g < state_->guest_costs.size(); ++g) {
    task.jobs.problem.jobs[own + g].deadline = state_->guest_deadlines[g];
  }
  state_->exchange.reset();
  state_->guest_costs.clear();
  state_->guest_deadlines.clear();
  task.jobs.problem.dependencies.clear();
  compact(task.jobs, task.plan, [&](std::size_t j) {
    if (j >= own) return !task.plan.starts[j].placed();
    return std::ranges::find(left, task.jobs.names[j]) != left.end();
  });
}

void HorizonShard::improve(std::uint64_t seed, std::int64_t share, const StopToken& stop) {
  HorizonShardTask& task = state_->task;
  if (stop.requested()) return;
  const HorizonBound bound = state_->local_bound();
  HorizonPlanOptions options = state_->options();
  options.seed = seed;
  options.machine_visits /= share;
  task.plan = improve_on_machines(task.jobs.problem, bound, task.plan, options, stop);
}

}  // namespace berth::solver
