// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::model {

/// What the upper bound was in the end.
enum class BoundBasis : std::uint8_t {
  prices,    ///< jobs and machines at the certificate's prices
  values,    ///< all jobs at their best: nothing is scarce
  capacity,  ///< all GPU thousandths (objective allocate)
};

/// Where upper_bound - objective lies, in units of the objective. All amounts together are it.
struct GapParts {
  /// What jobs would keep after their prices at best, less what they keep in the plan.
  struct RegretBySize {
    std::int64_t gpus = 0;  ///< jobs of up to so many GPUs, a power of two; 0: without GPUs
    std::int64_t jobs = 0;  ///< with a regret
    double amount = 0.0;
  };
  /// What machines could earn at these prices, less what their content pays.
  struct IdleByType {
    std::string gpu_type;  ///< empty: machines without GPUs
    double amount = 0.0;
  };
  BoundBasis basis = BoundBasis::prices;
  std::vector<RegretBySize> regret;  ///< ascending gpus; only those with an amount
  std::vector<IdleByType> idle;      ///< in the cluster's order of types; only those with an amount
  double quotas = 0.0;    ///< what is left of them at their prices, what is lost over them
  double links = 0.0;     ///< what is left of uplinks at their prices
  double leaves = 0.0;    ///< the tree's largest leaf beyond the one that the plan is in
  double rounding = 0.0;  ///< of the prices' fixed point; of the bound to a whole number
};

}  // namespace berth::model
