// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/gadget/slot_embedding.hpp"

/// The slot as the paper solves it: a linear program over rings, one size a job, rounding. On a
/// tree each ring is a vector of workers by server. The decomposable flow program of the paper is
/// at or above this one (flow_program.hpp): parts of its rings may need more GPUs than a server
/// has.
///   max sum gain(ring) x(ring), sum of x of a job <= 1, loads of servers and links <= capacities.
namespace berth::papers::gadget {

struct RingColumn {
  std::size_t job = 0;  ///< position
  Ring ring;
  double gain = 0.0;
};

struct RingRelaxation {
  std::vector<RingColumn> columns;
  std::vector<double> x;  ///< by column; a vertex
  double value = 0.0;
  double bound = 0.0;  ///< that the prices prove: no solution has more
};

struct RingPrices {
  std::vector<double> gpu, server_link, rack_link;
};

/// The ring of least price, however full servers and links are; empty: more workers than GPUs.
/// By a dynamic programme over servers in racks. O(servers workers^2)
[[nodiscard]] Ring cheapest_ring(const RingCluster& cluster, const RingPrices& prices,
                                 std::int32_t workers, double bandwidth);

/// By column generation, until no ring has a reduced gain of 1e-5 of the largest one.
/// @param sizes  workers of each job, 0: none; empty: any number  @pre a PetscSession lives
[[nodiscard]] RingRelaxation relax_slot(const RingCluster& cluster, std::span<const SlotJob> jobs,
                                        std::span<const std::int32_t> sizes = {});

/// Algorithm 2, step 2: the size of each job with the largest gain x part of it in the relaxation.
[[nodiscard]] std::vector<std::int32_t> select_sizes(std::size_t jobs,
                                                     const RingRelaxation& relaxation);

/// The mean of the relaxation and of its images under random exchanges of servers with equal GPUs:
/// as good where links do not bind, and far from a vertex, as a solution of the paper's program may
/// be. The same x of each job, more columns.
[[nodiscard]] RingRelaxation spread(const RingCluster& cluster, const RingRelaxation& relaxation,
                                    std::uint64_t seed, std::size_t images);

/// Rings with the probabilities x, job by job; what they load together may exceed the capacities.
/// @param draw  counter of the draw
[[nodiscard]] std::vector<Ring> draw_rings(std::size_t jobs, const RingRelaxation& relaxation,
                                           std::uint64_t seed, std::uint64_t draw);

/// The best of several draws, each without the rings that do not fit behind those of more gain.
[[nodiscard]] std::vector<Ring> round_rings(const RingCluster& cluster,
                                            std::span<const SlotJob> jobs,
                                            const RingRelaxation& relaxation, std::uint64_t seed,
                                            std::uint64_t draws);

}  // namespace berth::papers::gadget
