// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/coordinator/checkpoint.hpp"
#include "berth/coordinator/grant.hpp"

namespace berth::coordinator {

/// Tabu list (Glover 1989): refused grants, and the round of each refusal.
class TabuList {
 public:
  explicit TabuList(std::span<const Refusal> refusals) {
    for (const Refusal& r : refusals) add(r);
  }

  void add(const Refusal& r) { round_[{r.job, r.shard}] = r.round; }

  void expire_before(int round) {
    std::erase_if(round_, [&](const auto& entry) { return entry.second < round; });
  }

  [[nodiscard]] TabuPairs pairs() const {
    TabuPairs all;
    for (const auto& [pair, round] : round_) all.insert(pair);
    return all;
  }

  /// Refusals, ascending (job, shard).
  [[nodiscard]] std::vector<Refusal> list() const {
    std::vector<Refusal> all;
    for (const auto& [pair, round] : round_) all.push_back({pair.first, pair.second, round});
    return all;
  }

 private:
  std::map<std::pair<JobId, ShardId>, int> round_;
};

}  // namespace berth::coordinator
