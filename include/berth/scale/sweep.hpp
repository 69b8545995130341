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
  std::vector<int> ranks;  ///< ranks to measure, ascending, each from 1 to the size of the world
  MeasureOptions measure;
  Network network;
  std::vector<int> modelled;  ///< numbers of ranks to forecast
};

/// 1, 2, 4, ... below `ranks`, and `ranks`.
std::vector<int> usual_ranks(int ranks);

/// Returns the instance for a number of ranks; strong sweeps call it once. Called on rank 0 alone.
using InstanceSource = std::function<model::Instance(int ranks)>;

/// Measures the points one by one on the first ranks of `world`, while the other ranks rest, and
/// computes the forecasts. Complete on rank 0. Collective.
ScalingSweep run_sweep(const comm::Communicator& world, const InstanceSource& source,
                       const SweepOptions& options);

}  // namespace berth::scale
