// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/dual_part.hpp"

namespace berth::solver {

struct HorizonBoundOptions {
  int intervals = 32;  ///< of each price curve, before nodes where capacity changes; 4 .. 128
  double merge_tolerance = 0.05;  ///< jobs this similar are merged in the search; 0: none
  /// Smoothing of the search as fractions of what a delay over the horizon costs a job, descending;
  /// empty: by the kind of costs.
  std::vector<double> temperatures = {};
  int iterations = 40;     ///< most iterations of the minimiser at one temperature
  bool flat_start = true;  ///< try prices that are linear over the whole grid too
  /// Where gangs are large parts of a pool, they may pay by size, and few of them are proved by
  /// 16 times as many intervals; false: as everywhere.
  bool large_gangs = true;
  DualRanks* ranks = nullptr;  ///< that evaluate parts of the dual; null: this process alone
};

/// Prices on a grid of their own, laid out as those of HorizonBound.
struct ProofPrices {
  std::vector<berth::horizon::Seconds> grid;  ///< empty: none
  /// Of the types, the quotas, the multiples; then the budgets.
  std::vector<double> ends;
  std::vector<berth::horizon::MultipleOfGpus> multiples;  ///< that have prices of their own
};

/// Prices of GPU time, and the bound they give.
struct HorizonBound {
  std::vector<berth::horizon::Seconds> grid;  ///< nodes, shared by all curves
  /// [2 (curve K + k)]: price at the start of interval k; next: at its end; of the types, then of
  /// the quotas; then one price of each budget
  std::vector<double> ends;
  double bound = 0.0;        ///< on the cost of every plan, in doubles; the judge proves it
  double temperature = 0.0;  ///< of the last smoothing
  int evaluations = 0;       ///< of the smoothed dual
  std::size_t budgets = 0;   ///< of the problem
  double list_cost = 0.0;    ///< of the WSPT plan from which the search starts
  /// Of costs that jobs bear for those that wait for them; prices and bound are at these costs.
  std::vector<berth::horizon::CostShare> shares = {};
  std::vector<berth::horizon::SizeFactor> sizes =
      {};  ///< that gangs pay for, instead of their GPUs
  /// That have prices of their own in `ends`: none but at proof prices.
  std::vector<berth::horizon::MultipleOfGpus> multiples = {};
  /// Prices that prove more, which the certificate takes; a plan is searched at both.
  ProofPrices proof = {};
};

/// Lower bound on the cost of every plan by prices lambda_p(t) >= 0 of GPU time, linear on
/// intervals (quotas and budgets of GPU-hours have prices too, which their jobs pay beside it):
///
///   LB = sum_j min( [0 if j may be left out], min over options, pools p, t >= release of
///                   f_j(t + d) + n (Lambda_p(t + d) - Lambda_p(t)) )  -  sum_p integral lambda_p
///                   C_p
///
/// Proof: the jobs of a plan use at most C_p(t) of pool p at almost every t; multiply by lambda_p
/// and integrate. Prices start from a WSPT plan (Smith 1956) and minimise the smoothed dual by TAO
/// BLMVM at descending temperatures. All prices 0 is a candidate too.
/// Where jobs wait for others, the costs are also shared along dependencies; where gangs are large
/// parts of a pool, they also pay by size; and the best bound counts. O(evaluations x jobs x
/// intervals). The same bits on any number of ranks and threads. @pre a PetscSession exists; main
/// thread
HorizonBound bound_horizon(const berth::horizon::Problem& problem,
                           const HorizonBoundOptions& options = {}, const StopToken& stop = {});

/// The bound that the prices give, over all jobs. O(jobs x intervals).
double exact_dual(const berth::horizon::Problem& problem,
                  const std::vector<berth::horizon::Seconds>& grid,
                  const std::vector<double>& ends);

/// The prices in fixed point, rounded to the nearest, for the judge. O(intervals).
berth::horizon::PriceCertificate certificate_of(const HorizonBound& bound);

}  // namespace berth::solver
