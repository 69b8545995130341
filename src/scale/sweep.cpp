// SPDX-License-Identifier: Apache-2.0
#include "berth/scale/sweep.hpp"

#include <array>
#include <exception>
#include <utility>

#include <unistd.h>

#include "berth/base/assert.hpp"
#include "berth/partition/partition.hpp"

namespace berth::scale {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Measures one point on the first ranks; the others rest. All ranks throw when it fails.
ScalingPoint measure_on(const comm::Communicator& world, int ranks, model::Instance& instance,
                        const MeasureOptions& options) {
  ScalingPoint point;
  comm::Status failure;
  const auto group = world.first(ranks);
  try {
    if (group) point = measure(*group, instance, options);
  } catch (...) {
    failure = comm::failure_of(std::current_exception());
  }
  world.rest();
  world.agree(failure);
  return point;
}

void add_forecasts(ScalingSweep& sweep, const model::Instance& instance,
                   const SweepOptions& options) {
  const auto shards = partition::split(instance.cluster, options.measure.plan.partition);
  for (const int ranks : options.modelled) {
    Owners owners;
    if (options.scaling == Scaling::strong) {
      owners = partition::own(instance.cluster, shards, ranks).owner;
    }
    sweep.forecasts.push_back(
        forecast(sweep.points, options.scaling, ranks, owners, options.network));
  }
}

}  // namespace

std::vector<int> usual_ranks(int ranks) {
  BERTH_EXPECT(ranks >= 1);
  std::vector<int> result;
  for (int r = 1; r < ranks; r *= 2) result.push_back(r);
  result.push_back(ranks);
  return result;
}

ScalingSweep run_sweep(const comm::Communicator& world, const InstanceSource& source,
                       const SweepOptions& options) {
  ScalingSweep sweep{.scaling = options.scaling,
                     .instance = "",
                     .machine = host_name(),
                     .points = {},
                     .network = options.network,
                     .forecasts = {}};
  model::Instance instance;
  for (const int ranks : options.ranks) {
    BERTH_EXPECT(1 <= ranks && ranks <= world.size());
    const bool needed = sweep.points.empty() || options.scaling == Scaling::weak;
    world.agreed([&] {
      if (world.rank() == 0 && needed) instance = source(ranks);
    });
    sweep.points.push_back(measure_on(world, ranks, instance, options.measure));
  }
  if (world.rank() == 0 && !sweep.points.empty()) add_forecasts(sweep, instance, options);
  return sweep;
}

}  // namespace berth::scale
