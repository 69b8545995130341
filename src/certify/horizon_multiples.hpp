// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::certify {

/// Prices of GPUs in whole multiples of some number u: a job of n GPUs pays for floor(n / u) u of
/// them, a pool of C free GPUs earns for floor(C / u) u. Proof: what runs in a pool has sum n <= C,
/// so sum floor(n / u) <= C / u, and the left side is whole.
class GangMultiples {
 public:
  /// @throws InputError when one has no GPUs or no curve, or options pay for more than GPUs
  GangMultiples(const horizon::Problem& problem,
                std::span<const horizon::MultipleOfGpus> multiples);

  [[nodiscard]] std::size_t size() const { return multiples_.size(); }
  /// GPUs that a job of this option pays for at the price of multiple m when it runs on `curve`.
  [[nodiscard]] horizon::Gpus counted(std::size_t m, std::size_t curve,
                                      const horizon::Option& option) const;
  /// GPUs that the pool earns for, by time; empty when it has another curve. O(outages log
  /// outages).
  [[nodiscard]] std::vector<horizon::CapacityStep> capacity(std::size_t m, PoolId pool) const;

 private:
  const horizon::Problem& problem_;
  std::span<const horizon::MultipleOfGpus> multiples_;
};

}  // namespace berth::certify
