// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::report {

/// A plan of other files, yesterday's for instance, in the ids of an instance by names of jobs,
/// task groups and machines.
struct PlanByNames {
  using Raw = const model::RawPlacement*;
  model::Placement placement;                  ///< jobs at places that the instance has, ascending
  std::vector<std::pair<JobId, Raw>> changed;  ///< jobs with other tasks or machines now, ascending
  std::vector<Raw> gone;                       ///< placed jobs that the instance lacks
  std::vector<JobId> fresh;                    ///< jobs that the plan does not name, ascending
};

/// @param plan  outlives the result. Whether a place is free now does not count.
/// O((jobs + machines + tasks) log)
PlanByNames by_names(const model::InstanceView& instance, const model::RawPlan& plan);

/// GPU thousandths that the tasks of a plan file take.
std::int64_t gpu_milli(const model::RawPlacement& placed);

}  // namespace berth::report
