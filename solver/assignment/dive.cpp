// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/dive.hpp"

#include "assignment/assignment_dual.hpp"
#include "assignment/free_pools.hpp"
#include "assignment/present_places.hpp"
#include "local_search/ejection_chains.hpp"
#include "local_search/fill_idle_capacity.hpp"
#include "local_search/machine_repartition.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/solver/blmvm.hpp"

namespace berth::solver {
namespace {

using assignment::AssignmentDual;
using assignment::Bidder;
using assignment::FreePools;
using assignment::PlaceClass;
using assignment::PlaceCosts;
using assignment::PresentPlaces;

/// Decision to fix `count` jobs of a bidder to one option.
struct Decision {
  double weight;  ///< softmax weight of the option, 0 .. 1
  std::uint32_t bidder, option;
  std::size_t count;
  std::uint32_t rank;  ///< precedence rank of the first of these jobs
};

class Dive {
 public:
  Dive(AssignmentDual& dual, FreePools& free_pools,
       const local_search::SearchSpace<Occupancy>& space, std::span<const double> start,
       const DiveOptions& options, const StopToken& stop)
      : dual_(&dual),
        free_pools_(&free_pools),
        space_(space),
        options_(&options),
        stop_(stop),
        eps_(options.eps * dual.shape().price_scale) {
    for (std::size_t p = 0; p < start.size(); ++p) {
      prices_.push_back(std::clamp(start[p], 0.0, dual.shape().upper[p]));
    }
  }

  void run(DiveResult& result) {
    std::map<int, std::vector<std::uint32_t>, std::greater<>> classes;
    for (std::uint32_t b = 0; b < dual_->bidders().size(); ++b) {
      const auto milli = static_cast<std::uint64_t>(dual_->bidders()[b].gpus * 1000.0);
      classes[static_cast<int>(std::bit_width(milli / 1000))].push_back(b);
    }
    for (const auto& [size, bidders] : classes) {
      for (int pass = 1; pass <= options_->passes; ++pass) {
        dual_->set_supply(free_pools_->supply());
        if (dual_->active().empty() || stop_.requested()) break;
        reprice(result);
        const bool last = pass == options_->passes;
        const bool undecided =
            fix_decided(bidders, last ? options_->last_decided : options_->decided);
        ++result.passes;
        if (!undecided) break;
      }
      for (const std::uint32_t b : bidders) dual_->withdraw(b);
    }
  }

 private:
  void reprice(DiveResult& result) {
    const auto dual = [&](std::span<const double> x, std::span<double> gradient) {
      return dual_->value(x, eps_, gradient);
    };
    result.evaluations += minimise(prices_, dual_->shape().upper, dual,
                                   {.max_iterations = iterations_of_pass(result.passes)}, stop_)
                              .evaluations;
  }

  /// Iterations of one solve. The start prices may belong to a smaller eps, so the first solve has
  /// four times as many; the factor is chosen, not tuned.
  [[nodiscard]] int iterations_of_pass(int passes) const {
    return passes == 0 ? 4 * options_->iterations : options_->iterations;
  }

  /// Fixes the jobs of these bidders whose weight reaches `threshold`; false when no bidder is
  /// undecided.
  bool fix_decided(const std::vector<std::uint32_t>& bidders, double threshold) {
    std::vector<Decision> decisions;
    Decision most_certain{0.0, 0, 0, 1, 0};
    bool undecided = false;
    const std::vector<double> costs = dual_->place_costs().costs(prices_, eps_);
    std::vector<double> weights;
    for (const std::uint32_t b : bidders) {
      const Bidder& bidder = dual_->bidders()[b];
      if (bidder.undecided() == 0) continue;
      weights.resize(bidder.last - bidder.first);
      dual_->softmax_weights(bidder, costs, eps_, weights);
      undecided = add_decisions(b, weights, threshold, decisions, most_certain) || undecided;
    }
    if (decisions.empty() && most_certain.weight > 0.1) decisions.push_back(most_certain);
    std::ranges::sort(decisions, [](const Decision& a, const Decision& b) {
      return a.weight != b.weight ? a.weight > b.weight
                                  : std::tie(a.rank, a.option) < std::tie(b.rank, b.option);
    });
    for (const Decision& d : decisions) {
      if (stop_.requested()) break;
      apply(d);
    }
    return undecided;
  }

  /// Appends the decisions of one bidder: of c equal jobs with weight w, floor(c w + 1 - threshold)
  /// are fixed. True when some of the jobs remain undecided.
  bool add_decisions(std::uint32_t b, std::span<const double> weights, double threshold,
                     std::vector<Decision>& decisions, Decision& most_certain) const {
    const Bidder& bidder = dual_->bidders()[b];
    const auto jobs = static_cast<double>(bidder.undecided());
    const std::uint32_t rank = space_.ranks[bidder.jobs[bidder.decided]];
    std::size_t remainder = bidder.undecided();
    double wanted = 0.0;
    for (std::uint32_t k = 0; k < weights.size(); ++k) {
      const double share = jobs * weights[k];
      const auto count = std::min(remainder, static_cast<std::size_t>(share + 1.0 - threshold));
      wanted += share;
      if (count > 0) {
        const double weight = std::min(1.0, share / static_cast<double>(count));
        decisions.push_back({weight, b, bidder.first + k, count, rank});
        remainder -= count;
      } else if (share > most_certain.weight ||
                 (share == most_certain.weight && rank < most_certain.rank)) {
        most_certain = {share, b, bidder.first + k, 1, rank};
      }
    }
    return wanted - static_cast<double>(bidder.undecided() - remainder) > 0.1;
  }

  void apply(const Decision& d) {
    const PlaceClass& place_class =
        dual_->option_table().place_classes()[dual_->option(d.option).place_class];
    for (std::size_t i = 0; i < d.count; ++i) {
      const Bidder& bidder = dual_->bidders()[d.bidder];
      const std::uint32_t position = bidder.jobs[bidder.decided];
      if (!free_pools_->place(space_.jobs[position], dual_->option_table().profile(place_class),
                              place_class, prices_)) {
        dual_->forbid(d.option);
        return;
      }
      dual_->decide(d.bidder);
    }
  }

  AssignmentDual* dual_;
  FreePools* free_pools_;
  local_search::SearchSpace<Occupancy> space_;
  const DiveOptions* options_;
  StopToken stop_;
  double eps_;
  std::vector<double> prices_;
};

/// Places unplaced jobs that have options or use no GPU, by free pools.
/// @param present  of the running jobs among them
void fill(const local_search::SearchSpace<Occupancy>& space, FreePools& free_pools,
          PresentPlaces& present, model::Level finest, const StopToken& stop) {
  std::vector<JobId> waiting;
  for (std::size_t i = 0; i < space.jobs.size(); ++i) {
    const bool worthless = space.option_table.options(i).empty() && space.profile(i).milli > 0;
    if (!space.is_placed(i) && !worthless) waiting.push_back(space.jobs[i]);
  }
  const auto place = [&](JobId job, const planner_model::JobOption& option) {
    const auto position = std::ranges::lower_bound(space.jobs, job) - space.jobs.begin();
    const assignment::TaskDemand& demand = space.profile(static_cast<std::size_t>(position));
    if (demand.milli == 0) {
      if (!local_search::place_in_idle_capacity(space.state, job)) return false;
      present.take(space.state.placed(job));
      return true;
    }
    const bool by_pod = finest == model::Level::pod && option.width == model::Level::rack;
    return free_pools.place(job, demand,
                            {.type = option.type,
                             .width = by_pod ? model::Level::pod : option.width,
                             .scope = option.scope.level,
                             .domain = option.scope.domain},
                            {});
  };
  local_search::fill_idle_capacity(space.state, waiting, stop, {.finest = finest, .place = place});
}

double total_value(const Occupancy& occupancy, std::span<const JobId> jobs) {
  double sum = 0.0;
  for (const JobId job : jobs) sum += occupancy.value_of(job);
  return sum;
}

/// Number of placed required jobs, and value less surcharges.
std::pair<std::ptrdiff_t, double> score(const Occupancy& occupancy, std::span<const JobId> jobs) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  const auto required = [&](JobId job) {
    return workload.job(job).required && occupancy.is_placed(job);
  };
  return {std::ranges::count_if(jobs, required),
          total_value(occupancy, jobs) - occupancy.limit_usage().surcharges()};
}

/// Part of the value by which the fill alone must be better in a part of the cluster. There the
/// fill may be better because the prices give the best jobs to other shards: with hetero-4096 in 4
/// shards by 0.3 %, after which the whole plan is 0.2 % worse.
constexpr double kLeastGreedyGain = 0.01;

/// Fills `start` by value density alone and keeps the result if it is better than `best`: prices
/// that have not converged must not cost more than that. True when it is.
bool keep_better_greedy(Occupancy& best, Occupancy start,
                        const local_search::SearchSpace<Occupancy>& space,
                        const PricedPools& prices, const StopToken& stop) {
  FreePools free_pools(space.pool_index, start);
  PresentPlaces present(start, prices, space.jobs);
  if (!present.empty()) free_pools.prefer(present);
  const local_search::SearchSpace<Occupancy> from_start{.state = start,
                                                        .option_table = space.option_table,
                                                        .pool_index = space.pool_index,
                                                        .machines = space.machines,
                                                        .jobs = space.jobs,
                                                        .ranks = space.ranks};
  fill(from_start, free_pools, present, prices.pools.level, stop);
  auto least = score(best, space.jobs);
  const std::size_t machines = space.instance().cluster.machines();
  if (start.machines().size() < machines) least.second += kLeastGreedyGain * least.second;
  if (score(start, space.jobs) <= least) return false;
  best = std::move(start);
  return true;
}

}  // namespace

DiveResult dive(Occupancy& occupancy, const PricedPools& start, std::span<const JobId> jobs,
                const DiveOptions& options, const StopToken& stop) {
  BERTH_EXPECT(start.prices.size() == start.pools.size());
  DiveResult result;
  const planner_model::Valuation& valuation = occupancy.valuation();
  Occupancy before = occupancy;
  const assignment::PoolIndex pool_index(valuation.instance().cluster, start.pools);
  FreePools free_pools(pool_index, occupancy);
  AssignmentDual dual(valuation, pool_index, jobs, free_pools.supply());
  const std::vector<std::uint32_t> ranks = planner_model::precedence_ranks(valuation, jobs);
  dual.order_jobs(ranks);
  const local_search::SearchSpace<Occupancy> space{.state = occupancy,
                                                   .option_table = dual.option_table(),
                                                   .pool_index = pool_index,
                                                   .machines = free_pools.machines(),
                                                   .jobs = jobs,
                                                   .ranks = ranks};
  PresentPlaces present(occupancy, start, jobs);
  if (!present.empty()) free_pools.prefer(present);
  if (dual.shape().largest_value > 0.0) {
    Dive(dual, free_pools, space, start.prices, options, stop).run(result);
  }
  fill(space, free_pools, present, start.pools.level, stop.whole().patient());
  const auto search = [&] {
    if (stop.requested()) return;
    local_search::run_ejection_chains(space, start.prices, options.effort.chains, stop);
    local_search::repartition_machines(space, options.effort.repartitions, stop);
  };
  search();
  if (!stop.requested() &&
      keep_better_greedy(occupancy, std::move(before), space, start, stop.whole().patient())) {
    search();
  }
  result.value = total_value(occupancy, jobs);
  return result;
}

}  // namespace berth::solver
