// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <cstdio>
#include <optional>
#include <string>

#include <CLI/App.hpp>

#include "berth/model/horizon_plan.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::apps {

/// Flags of `berth plan`.
struct PlanFlags {
  pipeline::Input input;
  pipeline::PlanOptions plan;
  LogFlags log;
  std::string out;
  std::string trace;       ///< empty = none
  int threads = 0;         ///< 0 = default_threads
  model::Horizon horizon;  ///< length 0: a plan of this moment
  std::string keep;        ///< a plan whose starts are promises; empty = none
  std::optional<double> keep_price = {};
  std::string policy;        ///< of `berth simulate`, in place of Berth's own plan; empty = none
  std::string profiles;      ///< that it looks at; empty = none
  double time_limit = 1e12;  ///< seconds; the default means none
};

/// Where the figures of the plan go: standard error when the plan itself goes to standard output.
std::FILE* figures_stream(const PlanFlags& flags);

/// Adds files, limits and log, and a flag for each option that the table shows on the command line.
void add_plan_flags(CLI::App& command, PlanFlags& flags);

}  // namespace berth::apps
