// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Shares of time on GPU types (Gavel: Narayanan et al., OSDI 2020): job j runs x_jt of the time on
/// type t with its g_j GPUs and makes sum_t r_jt x_jt progress. Feasible: x >= 0, sum_t x_jt <= 1,
/// and sum_j g_j x_jt <= N_t.
namespace berth::solver {

struct ShareProblem {
  std::vector<double> capacity;  ///< N_t: GPUs by type, > 0
  std::vector<double> gpus;      ///< g_j by job, > 0
  std::vector<double> rate;      ///< r_jt by [job x types + type], >= 0, and > 0 for some type

  [[nodiscard]] std::size_t types() const { return capacity.size(); }
  [[nodiscard]] std::size_t jobs() const { return gpus.size(); }
  [[nodiscard]] std::span<const double> rates_of(std::size_t job) const {
    return std::span(rate).subspan(job * types(), types());
  }
};

struct TimeShares {
  std::vector<double> share;  ///< x_jt by [job x types + type], feasible
  double value = 0.0;         ///< of the objective
  double bound = 0.0;         ///< >= the optimum, proved by `price` and `weight`
  std::vector<double> price;  ///< lambda_t >= 0: of a GPU of the type for all the time
  /// w_j >= 0. bound = (sum_t lambda_t N_t + sum_j max(0, max_t (w_j r_jt - lambda_t g_j))) / sum w
  /// for the least progress; without the division, and all w_j = 1, for the sum.
  std::vector<double> weight;
  int columns = 0;  ///< of the decomposition

  [[nodiscard]] double gap() const { return bound > 0.0 ? (bound - value) / bound : 0.0; }
};

struct ShareOptions {
  double gap = 1e-4;      ///< stops at this relative gap
  int most_columns = 96;  ///< of the decomposition
};

/// Largest least progress, min_j sum_t r_jt x_jt. Dantzig and Wolfe (1960): capacities are the rows
/// of a small master problem; at its prices each job buys the progress z cheapest, and z is as
/// large as the least prices allow. Blocks of jobs are priced in parallel and added in their order:
/// the result does not depend on threads. O(columns x jobs x types log) time, O(jobs x types)
/// memory. @pre at least one type; without jobs everything is 0
TimeShares max_min_shares(const ShareProblem& problem, const ShareOptions& options = {});

/// Largest total progress, sum_j sum_t r_jt x_jt, by the same decomposition.
TimeShares max_sum_shares(const ShareProblem& problem, const ShareOptions& options = {});

}  // namespace berth::solver
