// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pricing.hpp"
#include "restricted_master.hpp"
#include "work_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::solver {

/// Copies of a job type that one machine may get: as in the bound (none but what fits), or no more
/// than are open. The latter makes patterns that can be used whole, once few jobs are left.
enum class CopyLimit : std::uint8_t { unlimited, open };

/// Values and bounds without the rewards that drive required jobs in; these are not worth anything.
struct RelaxationLimits {
  double gap = 1e-5;       ///< stop when bound - value <= gap x bound ..
  double tolerance = 0.0;  ///< .. + tolerance (scaled)
  double enough = 1e300;   ///< stop at this value, rewards included: it cannot be more (scaled)
  int rounds = 150;        ///< of pricing
  std::size_t labels = 150000;  ///< of a machine, when pricing is thorough
  CopyLimit copies = CopyLimit::unlimited;
  double work = 1.0;  ///< part of the problem's work after which nothing is priced any more
};

/// The relaxation solved: patterns, how often each is used, and what it proves.
struct Relaxation {
  std::vector<MachinePattern> patterns;
  std::vector<double> usage;    ///< by pattern; a vertex
  double value = 0.0;           ///< scaled
  double bound = 0.0;           ///< scaled; proved by `price`
  double machines_bound = 0.0;  ///< the machines' part of `bound`
  std::vector<double> price;    ///< by job type, >= 0
  std::vector<double> worth;    ///< by bin type: what a machine earns at most at these prices
  int rounds = 0;
  int iterations = 0;
  double master_seconds = 0.0;
  double pricing_seconds = 0.0;
};

/// Prices the machines of every bin type that has some, in parallel. By bin type; bin types without
/// machines give nothing. `caps` by type: most copies a machine may get.
std::vector<PricingResult> price_bins(const PackingProblem& problem,
                                      const ResidualProblem& residual,
                                      std::span<const double> type_price,
                                      std::span<const double> bin_price,
                                      std::span<const std::int64_t> caps,
                                      const PricingLimits& limits);

/// Column generation (Gilmore and Gomory 1961) at interior prices of the master (Gondzio,
/// Gonzalez-Brevis and Munari 2013), until the bound meets the value.
Relaxation generate_columns(const PackingProblem& problem, const ResidualProblem& residual,
                            std::vector<MachinePattern> start, const RelaxationLimits& limits,
                            WorkBudget& budget);

}  // namespace berth::solver
