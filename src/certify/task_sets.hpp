// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Jobs by what they ask for: those of one set pay the same for the same room.
class TaskSets {
 public:
  /// Which of the jobs, by position.
  using Members = std::span<const std::uint32_t>;

  /// @param rings_pay  links have a price or a limit: rings of different traffic pay differently
  TaskSets(const model::Workload& workload, std::span<const JobId> jobs, bool rings_pay);

  /// Each set in pieces of bounded size, ascending: enough of them to share among threads.
  [[nodiscard]] std::size_t pieces() const { return ends_.size(); }
  [[nodiscard]] Members piece(std::size_t p) const {
    const std::size_t begin = p == 0 ? 0 : ends_[p - 1];
    return Members(members_).subspan(begin, ends_[p] - begin);
  }

 private:
  std::vector<std::uint32_t> members_;  ///< set by set
  std::vector<std::size_t> ends_;       ///< of the pieces
};

}  // namespace berth::certify
