// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "svg_plot.hpp"

#include <string>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::sim {

struct NamedPlot {
  std::string file;
  Plot plot;
};

/// What a run looks like: GPUs allocated and jobs waiting and running over time (the series), and
/// the share of finished jobs by JCT (at most 512 points).
std::vector<NamedPlot> plots_of(const model::Cluster& cluster, const Run& run,
                                const std::string& policy);

}  // namespace berth::sim
