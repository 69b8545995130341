// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/model/certificate.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/report/plan_tables.hpp"

namespace berth::report {

/// What a page shows. Holds references.
struct PageContent {
  PlanContent now;  ///< the jobs that are placed now, and those that wait
  const model::RawPlan& file;
  const model::Certificate* prices = nullptr;      ///< usable ones of a plan of one moment
  const model::RawHorizonPlan* in_time = nullptr;  ///< of a plan with a horizon
};

/// One HTML document about a plan that needs no other file and no network: figures and tables that
/// are readable without scripts, and a map of all machines that a script draws. Names from files
/// are escaped; a policy in the document permits its own script and style sheet only, by digest.
/// Equal content gives equal bytes. O(machines + tasks + jobs log jobs)
std::string page(const PageContent& content);

}  // namespace berth::report
