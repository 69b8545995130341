// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/grant.hpp"

#include <algorithm>
#include <tuple>

namespace berth::coordinator {

std::vector<solver::Bid> grant(std::span<const solver::Bid> bids, const Tabu& tabu) {
  std::vector<solver::Bid> best;
  for (const solver::Bid& bid : bids) {
    if (!tabu.contains({bid.job, bid.shard})) best.push_back(bid);
  }
  std::ranges::sort(best, {},
                    [](const solver::Bid& b) { return std::tuple(b.job, -b.gain, b.shard); });
  const auto repeated = std::ranges::unique(best, {}, &solver::Bid::job);
  best.erase(repeated.begin(), repeated.end());
  std::ranges::sort(best, {}, [](const solver::Bid& b) { return std::pair(-b.gain, b.job); });
  return best;
}

}  // namespace berth::coordinator
