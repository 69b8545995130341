// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Groups jobs by their tasks and rules: those of one set pay equal prices for equal places. Where
/// a set may have several pieces, jobs at home in one pod follow one another, so that few of them
/// look at the same pod.
class TaskSets {
 public:
  struct Member {
    const model::Job* job;
    std::uint32_t index;  ///< in the list of jobs
  };
  using Members = std::span<const Member>;

  /// @param rings_pay  uplinks have a price or a limit, so rings of different traffic pay
  /// differently
  TaskSets(const model::InstanceView& instance, std::span<const JobId> jobs, bool rings_pay);

  /// Each set in pieces of bounded size: enough pieces to divide among threads.
  [[nodiscard]] std::size_t pieces() const { return ends_.size(); }
  [[nodiscard]] Members piece(std::size_t p) const {
    const std::size_t begin = p == 0 ? 0 : ends_[p - 1];
    return Members(members_).subspan(begin, ends_[p] - begin);
  }

 private:
  std::vector<Member> members_;    ///< set by set
  std::vector<std::size_t> ends_;  ///< of the pieces
};

}  // namespace berth::certify
