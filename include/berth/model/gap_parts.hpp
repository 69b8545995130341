// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/limit_table.hpp"

namespace berth::model {

/// The term that determined the upper bound.
enum class BoundBasis : std::uint8_t {
  prices,    ///< jobs and machines at the certificate's prices
  values,    ///< all jobs at their best option: no resource is scarce
  capacity,  ///< all GPU thousandths (objective allocate)
  search,    ///< search over all placements; its whole gap is in `leaves`
};

/// The parts of upper_bound - objective, in units of the objective; they sum to it.
struct GapParts {
  /// Regret of jobs: largest profit after prices less the profit in the plan.
  struct RegretBySize {
    std::int64_t gpus = 0;  ///< jobs of up to this many GPUs, a power of two; 0: without GPUs
    std::int64_t jobs = 0;  ///< number of jobs with a regret
    double amount = 0.0;
  };
  /// Idle capacity: the most that machines could earn at these prices less what their content pays.
  struct IdleByType {
    std::string gpu_type;  ///< empty: machines without GPUs
    double amount = 0.0;
  };
  BoundBasis basis = BoundBasis::prices;
  std::vector<RegretBySize> regret;  ///< ascending gpus; entries of amount 0 are left out
  std::vector<IdleByType> idle;      ///< ascending GpuTypeId; entries of amount 0 are left out
  /// By LimitKind: unused capacity of these limits at its price, and penalties paid.
  std::array<double, kLimitKinds> limits{};
  double whole_jobs = 0.0;  ///< bound of a choice of whole jobs less what those of the plan earn
  double leaves = 0.0;  ///< the tree's largest leaf less the plan's own leaf; search: its best open
                        ///< node less the plan
  double rounding = 0.0;  ///< of the prices' fixed point, and of the bound to an integer
};

}  // namespace berth::model
