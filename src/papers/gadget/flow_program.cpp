// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/gadget/flow_program.hpp"

#include "flow_layers.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"

namespace berth::papers::gadget {
namespace {

constexpr double kLeastPart = 1e-9;  ///< smaller flows are rounding of the solver

void check(const Substrate& substrate, std::span<const SlotJob> jobs) {
  if (substrate.gpus.size() > kMostFlowNodes) {
    throw InputError({.file = "", .line = 0, .field = "nodes"},
                     "the flow program is for " + std::to_string(kMostFlowNodes) +
                         " nodes at most; there are " + std::to_string(substrate.gpus.size()),
                     "take relax_slot, which is exact on trees");
  }
  for (const auto& link : substrate.links)
    BERTH_EXPECT(link.from < substrate.gpus.size() && link.to < substrate.gpus.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].job->bandwidth > 0.0) continue;
    throw InputError({.file = "", .line = 0, .field = "bandwidth"},
                     "job number " + std::to_string(j + 1) + " needs a bandwidth above 0", "");
  }
}

}  // namespace

Substrate substrate_of(const RingCluster& cluster) {
  const std::size_t servers = cluster.servers(), racks = cluster.rack_link.size();
  Substrate substrate{.gpus = cluster.gpus, .links = {}};
  substrate.gpus.resize(servers + racks + 1, 0);
  const auto connect = [&](std::size_t a, std::size_t b, double bandwidth) {
    substrate.links.push_back({a, b, bandwidth});
    substrate.links.push_back({b, a, bandwidth});
  };
  for (std::size_t s = 0; s < servers; ++s)
    connect(s, servers + cluster.rack[s], cluster.server_link[s]);
  for (std::size_t r = 0; r < racks; ++r)
    connect(servers + r, servers + racks, cluster.rack_link[r]);
  return substrate;
}

FlowRelaxation relax_flows(const Substrate& substrate, std::span<const SlotJob> jobs,
                           std::span<const std::int32_t> sizes) {
  check(substrate, jobs);
  solver::SignedProgram program;
  const std::size_t nodes = substrate.gpus.size();
  const FlowLayers::SharedRows rows{.jobs = 0, .nodes = jobs.size(), .links = jobs.size() + nodes};
  for (std::size_t j = 0; j < jobs.size(); ++j) program.add_row(1.0);
  for (const std::int32_t gpus : substrate.gpus) program.add_row(gpus);
  for (const auto& link : substrate.links) program.add_row(link.bandwidth);
  std::vector<FlowLayers> layers;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::int32_t most = sizes.empty() ? jobs[j].most() : sizes[j];
    for (std::int32_t k = sizes.empty() ? 1 : most; k <= most && k > 0; ++k) {
      for (std::size_t node = 0; node < nodes; ++node) {
        const auto held =
            std::accumulate(substrate.gpus.begin() + static_cast<std::ptrdiff_t>(node),
                            substrate.gpus.end(), std::int64_t{0});
        if (substrate.gpus[node] > 0 && held >= k)
          layers.emplace_back(substrate, FlowLayers::Embedding{&jobs[j], j, k, node}, rows,
                              program);
      }
    }
  }
  solver::SignedSolution solution = solver::solve(program);
  FlowRelaxation relaxation{.value = solution.value, .bound = solution.bound, .rings = {}};
  for (const FlowLayers& each : layers) each.take_rings(solution.x, kLeastPart, relaxation.rings);
  return relaxation;
}

}  // namespace berth::papers::gadget
