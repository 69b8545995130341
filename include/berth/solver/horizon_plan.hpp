// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::solver {

struct HorizonPlanOptions {
  /// Jobs are listed by the start below which this share of their smoothed primal lies.
  std::vector<double> quantiles = {0.6, 0.75};
  /// Smoothing of that primal, as multiples of the bound's last temperature.
  std::vector<double> softness = {1.0, 4.0, 30.0};
  /// Gangs are listed earlier by lead x (GPUs / GPUs of a pool) x duration.
  double pool_lead = 0.1;
  std::vector<double> machine_leads = {0.0, 0.2, 0.5, 1.0};
  /// Jobs that may be left out are also listed by least slack: first those whose rent is at most
  /// this share of their gain.
  std::vector<double> rent_shares = {0.85, 0.92, 0.96, 0.98, 1.0};
  int shift_passes = 2;  ///< passes of the left shift over the best plan
  int reorderings = 4;   ///< pairs of lists with the jobs of largest regret moved forward
  /// Reinsertions of neighbourhoods of jobs: job_visits / jobs, at most `most_tries`; up to four
  /// times as many for at most 1,000 jobs with gangs of large parts of a pool; on machines no more
  /// than machine_visits / (14 x machines), for a try places about 14 jobs.
  std::int64_t job_visits = 20'000'000;
  std::int64_t machine_visits = 4'000'000;
  std::int64_t most_tries = 30'000;
  /// Starts that half of the lists take first, where they are free; null: none.
  const berth::horizon::Plan* kept = nullptr;
  /// Starts that one more list of `plan_on_machines` takes first, where they are free; null: none.
  const berth::horizon::Plan* moments = nullptr;
  std::uint64_t seed = 0;  ///< of the draws of reinsertions
};

/// Plan over pools: list scheduling by start quantiles of the smoothed primal, each job at its
/// earliest or at its cheapest start at the bound's prices; the cheapest of all lists, shifted
/// left. Where the bound has proof prices, a second search at these, by threshold accepting, runs
/// beside it, and the better plan counts. Same plan for any number of threads. O(lists x jobs x (K
/// + searches)).
berth::horizon::Plan plan_on_pools(const berth::horizon::Problem& problem,
                                   const HorizonBound& bound,
                                   const HorizonPlanOptions& options = {},
                                   const StopToken& stop = {});

/// Plan on machines, every GPU named: list scheduling in the order of the starts of `pools`, a plan
/// over pools of the same problem; gangs are listed earlier, because they wait for whole machines.
berth::horizon::Plan plan_on_machines(const berth::horizon::Problem& problem,
                                      const HorizonBound& bound, const berth::horizon::Plan& pools,
                                      const HorizonPlanOptions& options = {},
                                      const StopToken& stop = {});

/// The search goes on from a plan on machines: reinsertions of its jobs by the draws of
/// `options.seed`, then a left shift. Never dearer, and without fewer required jobs.
/// @param plan  with machines; of the same problem
berth::horizon::Plan improve_on_machines(const berth::horizon::Problem& problem,
                                         const HorizonBound& bound,
                                         const berth::horizon::Plan& plan,
                                         const HorizonPlanOptions& options = {},
                                         const StopToken& stop = {});

}  // namespace berth::solver
