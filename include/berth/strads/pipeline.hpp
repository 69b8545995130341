// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace berth::strads {

/// Rounds in flight: returns each round `depth` exchanges after it entered; depth 0 returns it at
/// once.
template <class Round>
class Pipeline {
 public:
  explicit Pipeline(std::size_t depth) : depth_(depth) {}

  /// Takes this round in and returns the one that is due, if any.
  std::optional<Round> exchange(Round round) {
    rounds_.push_back(std::move(round));
    if (rounds_.size() <= depth_) return std::nullopt;
    Round due = std::move(rounds_.front());
    rounds_.pop_front();
    return due;
  }

  [[nodiscard]] const std::deque<Round>& pending() const { return rounds_; }

 private:
  std::size_t depth_;
  std::deque<Round> rounds_;
};

}  // namespace berth::strads
