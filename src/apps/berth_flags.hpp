// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <CLI/App.hpp>

#include "berth/sim/berth_policy.hpp"

namespace berth::apps {

/// `simulate --policy berth`: options as the command line has them, times in seconds.
struct BerthFlags {
  std::string objective = "flow";
  bool preemption = true;
  std::int64_t spacing = 30, refresh = 300, least_run = 300;
  sim::BerthOptions options;
};

void add_berth_flags(CLI::App& command, BerthFlags& flags);

/// @throws InputError for an objective that has no meaning for a policy in time
sim::BerthOptions berth_options(const BerthFlags& flags);

/// What the summary of a run says of them.
void record_berth(const BerthFlags& flags, std::map<std::string, std::string>& options);

}  // namespace berth::apps
