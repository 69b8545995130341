// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// Randomised rounding of mixed packing and covering programs (Raghavan and Thompson 1987), with
/// the gains that PD-ORS and SMD multiply the relaxation by first.
namespace berth::papers {

/// What the analysis of a gain counts.
struct RoundingRisk {
  double delta = 0.5;       ///< probability of a bad event, (0, 1]
  double rows = 1.0;        ///< r packing or m covering rows
  double bad_events = 3.0;  ///< kinds of bad event that share delta: 3 in PD-ORS, 2 in SMD
};

/// Gain of at most 1 with which each packing row breaks with probability at most
/// delta / (bad_events rows) by Chernoff's upper tail: the smaller root of G^2 - (2 + c) G + 1 = 0,
/// c = 3 ln(bad_events r / delta) / W.
/// @param width  W_b: least right-hand side over coefficient, > 0
[[nodiscard]] double packing_gain(double width, const RoundingRisk& risk);

/// Gain of at least 1 with which each covering row falls short with that probability, by the lower
/// tail: the larger root with c = 2 ln(bad_events m / delta) / W. @param width  W_a, > 0
[[nodiscard]] double covering_gain(double width, const RoundingRisk& risk);

/// Each component up with probability equal to its fractional part, else down. Parts within 1e-9
/// of a whole number are whole. @param x  >= 0  @param seed  the draw of component j is of
/// (seed, attempt, j)
[[nodiscard]] std::vector<std::int64_t> round_once(std::span<const double> x, std::uint64_t seed,
                                                   std::uint64_t attempt);

struct RoundingTries {
  double gain = 1.0;       ///< G or M_delta
  std::uint64_t most = 1;  ///< attempts: S or F
  std::uint64_t seed = 1;
};

/// First rounding of gain x that is accepted; none within `most` attempts: nothing.
[[nodiscard]] std::optional<std::vector<std::int64_t>> round_until(
    std::span<const double> x, const RoundingTries& tries,
    const std::function<bool(std::span<const std::int64_t>)>& accept);

}  // namespace berth::papers
