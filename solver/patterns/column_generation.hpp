// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pricing.hpp"
#include "restricted_master.hpp"
#include "work_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::solver {

/// Limit of the copies of a job type in one pattern: what fits the machine (`unlimited`, as in the
/// bound), or also the type's open demand (`open`), so that a whole copy of the pattern can be
/// used when few jobs are open.
enum class CopyLimit : std::uint8_t { unlimited, open };

/// When column generation stops. The relative gap is taken of values and bounds without the rewards
/// that force required jobs in, because rewards are no value (decision 6).
struct RelaxationLimits {
  double gap = 1e-5;            ///< stop when bound - value <= gap x bound + tolerance
  double tolerance = 0.0;       ///< absolute part of that gap, scaled
  double enough = 1e300;        ///< a known upper bound: stop at this value, scaled, with rewards
  int rounds = 150;             ///< most rounds of pricing; untuned guard
  std::size_t labels = 150000;  ///< most labels of a machine, in thorough pricing; untuned guard
  CopyLimit copies = CopyLimit::unlimited;
  double work = 1.0;  ///< part of the work budget, 0 .. 1, after which the loop stops
};
/// A solved relaxation: patterns, how often each is used, the bound and the prices that prove it.
struct Relaxation {
  std::vector<MachinePattern> patterns;
  std::vector<double> usage;    ///< by pattern; a vertex of the restricted master
  double value = 0.0;           ///< scaled
  double bound = 0.0;           ///< scaled; proved by `price`
  double machines_bound = 0.0;  ///< part of `bound` that machines earn: sum_p N_p worth_p
  std::vector<double> price;    ///< by job type, >= 0
  std::vector<double> worth;    ///< by bin type: most that a machine earns at `price`, scaled
  int rounds = 0;
  int iterations = 0;
  double master_seconds = 0.0;
  double pricing_seconds = 0.0;
};

/// Solves the pricing problem of every bin type with machines, in parallel. Results by bin type;
/// a bin type without machines has an empty result.
/// @param type_price  by job type, scaled
/// @param bin_price   by bin type, scaled: only contents that earn more are returned
/// @param caps        by job type: most copies in one machine
std::vector<PricingResult> price_bins(const PackingProblem& problem,
                                      const ResidualProblem& residual,
                                      std::span<const double> type_price,
                                      std::span<const double> bin_price,
                                      std::span<const std::int64_t> caps,
                                      const PricingLimits& limits);

/// Column generation (Gilmore and Gomory 1961) at interior prices of the master (Gondzio,
/// Gonzalez-Brevis and Munari 2013): alternates master and pricing until the Lagrangian bound meets
/// the master's value within `limits`, then moves to a vertex.
/// @param start  first columns; the result is empty when none of them fits the residual
Relaxation generate_columns(const PackingProblem& problem, const ResidualProblem& residual,
                            std::vector<MachinePattern> start, const RelaxationLimits& limits,
                            WorkBudget& budget);

}  // namespace berth::solver
