// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/time.hpp"

namespace berth::horizon {

/// Fraction bits of a certificate's prices. With 16, slopes round to nothing and bounds lose up to
/// 13 %; with 32 they keep 1e-7.
inline constexpr int kPriceFractionBits = 32;

/// Unit of CostShare::share.
inline constexpr std::int64_t kShareUnit = std::int64_t{1} << 16;

/// A job that waits for another is charged the rest of its cost, and that other one `share` of what
/// it would cost if it started then.
struct CostShare {
  JobId job;
  JobId after;             ///< a job that it waits for
  std::int64_t share = 0;  ///< in 1 / kShareUnit; those of a job sum to no more than that
};

/// GPUs that a gang of `gpus` GPUs pays for on a curve, in 1 / kRentUnit of a GPU (problem.hpp).
/// Where a curve has sizes, a job pays the most that gangs of one of them that it could hold would.
struct SizeFactor {
  std::size_t curve = 0;
  Gpus gpus = 1;
  std::int64_t factor = 0;
};

/// A price of GPUs in whole multiples of `gpus` GPUs: beside the price of its curve, a job also
/// pays for the largest multiple in its GPUs, and a pool earns for the largest one in its free
/// GPUs.
struct MultipleOfGpus {
  std::size_t curve = 0;
  Gpus gpus = 1;
};

/// Prices that prove a bound: lambda(t) = start + slope (t - node) per GPU and second on each
/// interval between neighbouring nodes, 0 after the last node, in units of 2^-kPriceFractionBits.
/// Prices of Problem::curves, then of Problem::quotas, then of `multiples`; where these are missing
/// as a whole, quotas may be too: they cost nothing.
struct PriceCertificate {
  std::vector<Seconds> nodes;        ///< ascending, intervals + 1, the first one Problem::now; or
                                     ///< empty: all prices are 0
  std::vector<std::int64_t> starts;  ///< [curve * intervals + interval], >= 0
  std::vector<std::int64_t> slopes;  ///< per second; start + slope x length >= 0
  /// Of Problem::budgets: the price of a GPU-second on intervals that end by Problem::budgets_end.
  std::vector<std::int64_t> budgets = {};
  std::vector<CostShare> shares = {};
  std::vector<SizeFactor> sizes = {};
  std::vector<MultipleOfGpus> multiples = {};

  [[nodiscard]] std::size_t intervals() const { return nodes.empty() ? 0 : nodes.size() - 1; }
};

template <class Archive>
void describe(Archive& archive, PriceCertificate& certificate) {
  archive(certificate.nodes, certificate.starts, certificate.slopes, certificate.budgets);
}

}  // namespace berth::horizon
