// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <map>
#include <string>

#include <CLI/App.hpp>

#include "berth/pipeline/plan_cluster.hpp"

namespace berth::apps {

/// What `berth plan` was asked for.
struct PlanFlags {
  pipeline::Input input;
  pipeline::PlanOptions plan;
  LogFlags log;
  std::string out;
  std::string trace;  ///< empty = none
  std::string objective = "value";
  std::string offer_choice = "sampled";
  bool online = false;
  bool take_all = false;
  int batch = 1;
  int threads = 0;           ///< 0 = default_threads
  double time_limit = 1e12;  ///< seconds: none
};

void add_plan_flags(CLI::App& command, PlanFlags& flags);

/// The same, for the record in the plan file.
std::map<std::string, std::string> record(const PlanFlags& flags);

}  // namespace berth::apps
