// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/horizon/problem.hpp"
#include "berth/horizon/time.hpp"

namespace berth::horizon {

/// Free capacity over time: a piecewise constant function on [first step, infinity). Planners and
/// policies reserve in it; the judge counts in its own way.
///
/// Steps are kept in blocks of at most kBlockSteps with their least and largest capacity, so that a
/// search skips a block in O(1) and a reservation touches few entries. With S steps, a search or a
/// reservation costs O(log S + blocks passed + kBlockSteps).
class CapacityProfile {
 public:
  /// Steps that reservations leave without a change: behind an equal amount there may be other
  /// machines, so who looks at these too keeps them as times to try.
  enum class IdleSteps { forget, keep };

  /// @param steps  ascending, at least one
  explicit CapacityProfile(std::span<const CapacityStep> steps,
                           IdleSteps idle = IdleSteps::forget);
  /// The same capacity from `now` on.
  CapacityProfile(Seconds now, Gpus capacity);

  /// Earliest t in from .. until with `gpus` free throughout [t, t + duration); kNever when there
  /// is none.
  [[nodiscard]] Seconds earliest_fit(Seconds from, Seconds duration, Gpus gpus,
                                     Seconds until = kNever) const;

  /// Start of the step after the one that holds at `time`; kNever behind the last one. O(log S).
  [[nodiscard]] Seconds next_step(Seconds time) const { return end_of_step(position_of(time)); }

  /// Least free capacity in [from, to). @pre from < to
  [[nodiscard]] Gpus least_free(Seconds from, Seconds to) const;

  /// Takes `gpus` in [from, to), or returns them when negative. The profile may become negative.
  void reserve(Seconds from, Seconds to, Gpus gpus);

  /// Calls visit(from, to, free) for the steps that intersect [from, to), cut to it, ascending.
  template <class Visit>
  void for_each_step(Seconds from, Seconds to, Visit&& visit) const;

  [[nodiscard]] std::size_t steps() const;

 private:
  struct Block {
    std::vector<Seconds> from;
    std::vector<Gpus> free;  ///< without the block's shift
    Gpus shift = 0;          ///< added to every entry
    Gpus least = 0;          ///< of the entries, with the shift
    Gpus most = 0;
  };
  struct Position {
    std::size_t block = 0;
    std::size_t entry = 0;
  };
  static constexpr std::size_t kBlockSteps = 96;  ///< chosen: 64 .. 160 cost the same

  [[nodiscard]] Position position_of(Seconds time) const;
  [[nodiscard]] Seconds end_of_step(Position position) const;
  [[nodiscard]] Seconds end_of_block(std::size_t block) const;
  void split_at(Seconds time);
  void merge_at(Seconds time);
  static void refresh(Block& block);

  IdleSteps idle_;
  std::vector<Block> blocks_;
  std::vector<Seconds> block_from_;  ///< first time of each block
};

template <class Visit>
void CapacityProfile::for_each_step(Seconds from, Seconds to, Visit&& visit) const {
  for (Position p = position_of(from); p.block < blocks_.size(); ++p.block, p.entry = 0) {
    const Block& block = blocks_[p.block];
    for (; p.entry < block.from.size(); ++p.entry) {
      if (block.from[p.entry] >= to) return;
      visit(std::max(from, block.from[p.entry]), std::min(to, end_of_step(p)),
            block.free[p.entry] + block.shift);
    }
  }
}

}  // namespace berth::horizon
