// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/class_prices.hpp"

#include "horizon/price_search.hpp"
#include "horizon/start_prices.hpp"

#include <utility>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/horizon/plan.hpp"

namespace berth::solver {

HorizonBound price_classes(const berth::horizon::Problem& classes,
                           const berth::horizon::Problem& pieces,
                           const ClassPriceOptions& options) {
  using namespace horizon_plan;
  BERTH_EXPECT(!classes.jobs.empty() && !pieces.jobs.empty());
  const auto plan = list_plan(pieces, wspt_order(pieces, kLongDelay));
  HorizonBound found{.grid = price_grid(pieces, plan, options.intervals),
                     .ends = {},
                     .temperature = options.temperature,
                     .list_cost = berth::horizon::cost_of(pieces, plan)};
  const auto consider = [&](const EndPrices& ends) {
    const double bound = exact_dual(classes, found.grid, ends);
    if (!found.ends.empty() && bound <= found.bound) return;
    found.bound = bound;
    found.ends = ends;
  };
  EndPrices ends = start_prices(pieces, plan, found.grid);
  consider(EndPrices(ends.size(), 0.0));
  consider(ends);
  std::vector<NearlyEqualJobs> all;
  for (std::size_t j = 0; j < classes.jobs.size(); ++j) all.push_back({.job = JobId(j)});
  const SmoothedDual dual(classes, found.grid, std::move(all));
  found.evaluations = minimise_at(dual, options.temperature, ends,
                                  {.iterations = options.iterations,
                                   .memory = 0,
                                   .expected_decrease = found.list_cost - found.bound},
                                  {});
  consider(ends);
  return found;
}

}  // namespace berth::solver
