// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/gadget/ring_network.hpp"

/// The problem of one slot (equations 10 and 11 of the paper):
///   max sum_i mu_i(zeta_i (y_i + z_i)) - mu_i(zeta_i z_i)
/// over rings of y_i workers that fit together, with z_i worker-slots before this one.
namespace berth::papers::gadget {

/// A job that is there.
struct SlotJob {
  const RingJob* job = nullptr;
  std::int64_t done = 0;  ///< worker-slots so far
  std::size_t index = 0;  ///< among all jobs

  /// Workers that it may have in this slot.
  [[nodiscard]] std::int32_t most() const;
  [[nodiscard]] double gain(std::int32_t workers) const {
    return job->utility(done + workers) - job->utility(done);
  }
};

/// Rings of one slot as they grow.
class SlotEmbedding {
 public:
  SlotEmbedding(const RingCluster& cluster, std::span<const SlotJob> jobs)
      : network_(cluster), jobs_(jobs), rings_(jobs.size()) {}

  [[nodiscard]] std::int32_t workers(std::size_t job) const { return workers_of(rings_[job]); }
  [[nodiscard]] std::int64_t free_gpus() const { return network_.free_gpus(); }
  /// Embeds the job anew with so many workers; false, and its ring stays, when there is no room.
  bool set(std::size_t job, std::int32_t workers);
  /// Lets jobs grow while any may: always the step of most utility per GPU, from a job's workers to
  /// any larger number. A step that does not fit is replaced by smaller ones. Steps are compared by
  /// logarithm: gains far from the turn of a sigmoid are no numbers, but the job needs GPUs all the
  /// same. O(jobs N (N + servers log servers))
  void grow();
  [[nodiscard]] std::vector<Ring> take_rings() { return std::move(rings_); }

 private:
  RingNetwork network_;
  std::span<const SlotJob> jobs_;
  std::vector<Ring> rings_;  ///< by position
};

/// GADGET's slot by the exact tree shortcut.
[[nodiscard]] std::vector<Ring> slot_greedy(const RingCluster& cluster,
                                            std::span<const SlotJob> jobs);

/// Largest gain of a slot if only the number of GPUs limits it: exact where links do not bind, as
/// any free GPUs make a ring then, and an upper bound always. Knapsack, O(jobs N gpus)
[[nodiscard]] double slot_optimum(std::span<const SlotJob> jobs, std::int64_t gpus);

[[nodiscard]] double slot_gain(std::span<const SlotJob> jobs, std::span<const Ring> rings);

}  // namespace berth::papers::gadget
