// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::strads {

/// A unit that a round may work on: an unplaced job, a part of the cluster, ...
struct Block {
  std::int64_t id = 0;      ///< >= 0, unique; the last tie-breaker and part of the random key
  double importance = 0.0;  ///< >= 0, finite; what working on it may gain
  std::uint32_t rank = 0;   ///< order among blocks of equal key, before the id
};

enum class SelectionRule : std::uint8_t {
  largest,  ///< by importance, ties by rank, then id
  sampled,  ///< without replacement, in proportion to importance plus a floor
};

struct ScheduleOptions {
  SelectionRule rule = SelectionRule::sampled;
  /// Added to every importance when sampled, as a share of their mean, > 0, so that a block of
  /// little importance is chosen some day. Default: docs/decisions/0005.
  double floor = 0.1;
};

/// *Schedule*: positions of the `most` blocks of this round, the first choice first.
///
/// Sampling takes the largest of log(weight) - log(-log u), u drawn from a counter keyed by (seed,
/// round, id) (Gumbel's trick): the result depends on the set of blocks alone, not on their order
/// or on the rank. O(blocks log blocks).
std::vector<std::size_t> schedule(std::span<const Block> blocks, std::size_t most, int round,
                                  std::uint64_t seed, const ScheduleOptions& options = {});

/// Turns of scheduler shards: in a round, one of `schedulers` groups of sources offers blocks.
/// @pre schedulers > 0
[[nodiscard]] constexpr bool has_turn(std::int64_t source, int round, int schedulers) {
  return source % schedulers == round % schedulers;
}

/// Longest-processing-time dispatch: assigns the loads in descending order, each to the worker with
/// the least load so far; returns the worker of each load; ties by position. At most (4/3 - 1/(3
/// workers)) of the best makespan (Graham 1969). @pre workers > 0
std::vector<int> dispatch(std::span<const std::int64_t> loads, int workers);

}  // namespace berth::strads
