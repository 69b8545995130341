// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::strads {

/// Something that may be worked on in a round: a job that waits, a part of the cluster, ...
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
  double floor = 0.1;  ///< added to every importance when sampled, as a share of their mean, > 0:
                       ///< a block of little importance must come up some day
};

/// *Schedule*: positions of the `most` blocks of this round, the first choice first.
///
/// Sampling takes the largest of log(weight) - log(-log u), u drawn from a counter keyed by
/// (seed, round, id) (Gumbel's trick): so it depends on the set of blocks alone, not on their
/// order, nor on who asks. O(blocks log blocks).
std::vector<std::size_t> schedule(std::span<const Block> blocks, std::size_t most, int round,
                                  std::uint64_t seed, const ScheduleOptions& options = {});

/// Scheduler shards take turns: in a round one of `schedulers` groups of sources offers blocks.
/// @pre schedulers > 0
[[nodiscard]] constexpr bool has_turn(std::int64_t source, int round, int schedulers) {
  return source % schedulers == round % schedulers;
}

/// Longest-processing-time dispatch: the worker of each load, the largest load first, to the worker
/// with the least so far; ties by position. At most (4/3 - 1/(3 workers)) of the best makespan
/// (Graham 1969). @pre workers > 0
std::vector<int> dispatch(std::span<const std::int64_t> loads, int workers);

}  // namespace berth::strads
