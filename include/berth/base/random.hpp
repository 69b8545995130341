// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "berth/base/int128.hpp"

namespace berth {

/// Mixes 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// Counter-based random numbers: a draw is a function of its key (seed, stage, round, job, ...)
/// alone, so it depends neither on the rank or thread that draws nor on the order of draws.
constexpr std::uint64_t random_bits(std::initializer_list<std::uint64_t> key) {
  std::uint64_t state = 0;
  for (const std::uint64_t part : key) state = mix64(state ^ mix64(part));
  return state;
}

/// Uniform in [0, 1), with 53 random bits.
constexpr double random_unit(std::initializer_list<std::uint64_t> key) {
  return static_cast<double>(random_bits(key) >> 11) * 0x1.0p-53;
}

/// Uniform in [0, bound), bound > 0. Bias below 2^-32 for bound < 2^32.
constexpr std::uint64_t random_below(std::uint64_t bound,
                                     std::initializer_list<std::uint64_t> key) {
  return static_cast<std::uint64_t>((static_cast<Uint128>(random_bits(key)) * bound) >> 64);
}

}  // namespace berth
