// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/gadget/slot_embedding.hpp"

/// The slot as a program of flows on any network (GADGET, equations 12 to 19, in the form of Rost
/// and Schmid of which every solution is a sum of rings): an oracle beside the rings on trees.
namespace berth::papers::gadget {

/// Nodes with GPUs, or none (switches), and directed links, bandwidth in Gbit/s.
struct Substrate {
  struct Link {
    std::size_t from = 0, to = 0;
    double bandwidth = 0.0;
  };
  std::vector<std::int32_t> gpus;  ///< by node
  std::vector<Link> links;
};

/// Servers, then racks, then the core; a link each way.
[[nodiscard]] Substrate substrate_of(const RingCluster& cluster);

/// A part of a ring: its workers in order, and the way from each to the next.
struct EmbeddedRing {
  std::size_t job = 0;                           ///< position
  std::vector<std::size_t> nodes;                ///< by worker
  std::vector<std::vector<std::size_t>> routes;  ///< by worker: links; empty: the same node
  double part = 0.0;                             ///< > 0
};

struct FlowRelaxation {
  double value = 0.0;               ///< of the flows: sum of gain x part
  double bound = 0.0;               ///< that the prices prove: no solution has more
  std::vector<EmbeddedRing> rings;  ///< which the flows are a sum of
};

/// Nodes of the largest substrate.
inline constexpr std::size_t kMostFlowNodes = 20;

/// For each job, number of workers k and node of the first worker a path of k layers, which leaves
/// the node, sets a worker wherever it changes layers, and ends where it began:
///
///   max sum gain_k arrived,  sum of arrived of a job <= 1,  out(layer, node) <= in(layer, node),
///   workers of a node <= its GPUs,  bandwidth x flow of a link <= its bandwidth.
///
/// The program is at or above that over whole rings (relax_slot): a part of a ring may have more
/// workers on a server than it has GPUs, and need no link.
///
/// What leaves a node may be less than what enters: flows that do not arrive earn nothing. The
/// first worker is on the node of least index, as a ring may be told from any worker on.
/// @param sizes  workers of each job, 0: none; empty: any number
/// @throws InputError: more than kMostFlowNodes nodes; a job without bandwidth
/// @pre a PetscSession lives
/// O(rows^3) an iteration, rows = jobs x servers x sum of sizes x nodes
[[nodiscard]] FlowRelaxation relax_flows(const Substrate& substrate, std::span<const SlotJob> jobs,
                                         std::span<const std::int32_t> sizes = {});

}  // namespace berth::papers::gadget
