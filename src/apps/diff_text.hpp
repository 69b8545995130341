// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"
#include "berth/model/placement.hpp"
#include "berth/report/plan_by_names.hpp"

namespace berth::apps {

/// Two placements in the ids of one instance and the objective in which their jobs are valued.
struct Compared {
  const model::Instance& instance;
  model::Objective objective;
  model::Placement before, after;
  const report::PlanByNames* other = nullptr;  ///< the first plan, when it is one of other files
};

/// What differs: the objectives, then the jobs placed, stopped, moved and kept with what each
/// brings. Lines of at most 80 columns. O(tasks log jobs)
/// @param all  lists the jobs that are kept too
std::string difference_text(const Compared& compared, bool all);

/// What the files of the plans do not share, when the first plan is of other files.
/// @param first  name of its file
std::string files_text(const model::Instance& instance, const std::string& first,
                       const report::PlanByNames& other);

}  // namespace berth::apps
