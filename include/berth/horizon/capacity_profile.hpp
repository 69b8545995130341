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
  explicit CapacityProfile(std::span<const CapacityStep> steps, IdleSteps idle = IdleSteps::forget);
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
  struct Step {
    Seconds from = 0;
    Gpus free = 0;  ///< without the block's shift
  };
  struct Block {
    std::vector<Step> steps;
    Gpus shift = 0;  ///< added to every step
    Gpus least = 0;  ///< of the steps, with the shift
    Gpus most = 0;
  };
  struct Position {
    std::size_t block = 0;
    std::size_t step = 0;
  };
  static constexpr std::size_t kBlockSteps = 96;  ///< chosen: 64 .. 160 cost the same

  [[nodiscard]] std::size_t blocks() const { return 1 + more_.size(); }
  [[nodiscard]] const Block& block(std::size_t b) const { return b == 0 ? first_ : more_[b - 1]; }
  [[nodiscard]] Block& block(std::size_t b) { return b == 0 ? first_ : more_[b - 1]; }
  [[nodiscard]] Seconds begin_of(std::size_t b) const {
    return b == 0 ? first_.steps.front().from : more_from_[b - 1];
  }
  [[nodiscard]] Seconds end_of_block(std::size_t b) const {
    return b < more_.size() ? more_from_[b] : kNever;
  }
  [[nodiscard]] Position position_of(Seconds time) const;
  [[nodiscard]] Seconds end_of_step(Position position) const;
  [[nodiscard]] Seconds earliest_fit_from(Position p, Seconds candidate, Seconds duration,
                                          Gpus gpus, Seconds until) const;
  void insert_block(std::size_t b, Block block);  ///< @pre b > 0
  void erase_block(std::size_t b);                ///< @pre b > 0
  void split_at(Seconds time);
  void merge_at(Seconds time);
  static void refresh(Block& block);

  IdleSteps idle_;
  Block first_;  ///< here and not in a list: most machines have no other, and their searches wait
                 ///< for memory
  std::vector<Block> more_;         ///< those behind it
  std::vector<Seconds> more_from_;  ///< first time of each of them
};

template <class Visit>
void CapacityProfile::for_each_step(Seconds from, Seconds to, Visit&& visit) const {
  for (Position p = position_of(from); p.block < blocks(); ++p.block, p.step = 0) {
    const Block& at = block(p.block);
    for (; p.step < at.steps.size(); ++p.step) {
      const auto [step_from, free] = at.steps[p.step];
      if (step_from >= to) return;
      visit(std::max(from, step_from), std::min(to, end_of_step(p)), free + at.shift);
    }
  }
}

}  // namespace berth::horizon
