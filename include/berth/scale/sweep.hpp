// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"
#include "berth/scale/measure.hpp"
#include "berth/scale/results.hpp"

namespace berth::scale {

struct SweepOptions {
  Scaling scaling = Scaling::strong;
  std::vector<int> ranks;  ///< to be measured, ascending, each from 1 to the ranks there are
  MeasureOptions measure;
  Network network;
  std::vector<int> modelled;  ///< ranks to be forecast
};

/// 1, 2, 4, ... and `ranks` itself.
std::vector<int> usual_ranks(int ranks);

/// The instance for a number of ranks; strong sweeps ask once. Called on rank 0 alone.
using InstanceSource = std::function<model::Instance(int ranks)>;

/// Measures one point after the other on the first ranks of `world`, while the others rest, and
/// forecasts the rest. Complete on rank 0. Collective.
ScalingSweep run_sweep(const comm::Communicator& world, const InstanceSource& source,
                       const SweepOptions& options);

}  // namespace berth::scale
