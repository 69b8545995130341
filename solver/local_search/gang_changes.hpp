// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/value.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver::local_search {

/// Mean price of a GPU by type.
class TypePrices {
 public:
  explicit TypePrices(const PricedPools& pools);
  [[nodiscard]] double of(GpuTypeId type) const;  ///< 0 for a type without pools

 private:
  std::map<GpuTypeId, double> price_;
};

/// A gang that goes to another GPU type, enters or leaves the plan.
struct GangChange {
  double loss = 0.0;  ///< of the gang's value less prices
  JobId gang;
  GpuTypeId to;  ///< invalid: out of the plan
};

/// GPU type of a placed job's first task with GPUs.
GpuTypeId type_of(const Occupancy& occupancy, JobId job);

/// All changes that lose less than `most`, by ascending loss. A gang has one group of several tasks
/// with GPUs; required gangs stay in the plan and where they are.
/// @param priced  values less prices of limits
std::vector<GangChange> gang_changes(const Occupancy& occupancy,
                                     const planner_model::Valuation& priced,
                                     const TypePrices& prices, double most);

}  // namespace berth::solver::local_search
