// SPDX-License-Identifier: Apache-2.0
#include "utility_pieces.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "berth/papers/gadget/slot_rules.hpp"

namespace berth::papers::gadget {

void add_pieces(const RingJob& job, std::size_t index, std::int64_t done, std::int64_t more,
                std::vector<UtilityPiece>& pieces) {
  // Vertices of the envelope so far, as in the convex hull by a monotone chain.
  std::vector<std::pair<std::int64_t, double>> hull;
  const auto slope = [](const auto& a, const auto& b) {
    return (b.second - a.second) / static_cast<double>(b.first - a.first);
  };
  for (std::int64_t n = done; n <= done + more; ++n) {
    const std::pair<std::int64_t, double> next(n, job.utility(n));
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), next))
      hull.pop_back();
    hull.push_back(next);
  }
  for (std::size_t v = 1; v < hull.size(); ++v) {
    if (const double s = slope(hull[v - 1], hull[v]); s > 0.0)
      pieces.push_back({s, hull[v].first - hull[v - 1].first, index});
  }
}

void sort_pieces(std::vector<UtilityPiece>& pieces) {
  std::ranges::stable_sort(pieces, std::greater{}, &UtilityPiece::slope);
}

UtilityPrices utility_prices(const RingInstance& instance) {
  std::vector<UtilityPiece> pieces;
  std::map<std::int32_t, std::int64_t> room;  // worker-slots of jobs that arrive then or later
  UtilityPrices prices{.bound = 0.0,
                       .price = std::vector<double>(static_cast<std::size_t>(instance.slots), 0.0)};
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
    const RingJob& job = instance.jobs[j];
    prices.bound += job.utility(0);
    if (job.arrival >= instance.slots) continue;
    const std::int64_t slots = instance.slots - job.arrival;
    room[job.arrival] = instance.cluster.total_gpus() * slots;
    add_pieces(job, j, 0, std::min(job.budget, job.most * slots), pieces);
  }
  sort_pieces(pieces);
  for (const UtilityPiece& piece : pieces) {
    const auto end = room.upper_bound(instance.jobs[piece.job].arrival);
    std::int64_t amount = piece.length;
    for (auto at = room.begin(); at != end; ++at) amount = std::min(amount, at->second);
    for (auto at = room.begin(); at != end; ++at) {
      at->second -= amount;
      double& price = prices.price[static_cast<std::size_t>(at->first)];
      if (at->second == 0 && price == 0.0) price = piece.slope;
    }
    prices.bound += piece.slope * static_cast<double>(amount);
  }
  for (std::size_t t = 1; t < prices.price.size(); ++t)
    prices.price[t] = std::max(prices.price[t], prices.price[t - 1]);
  return prices;
}

double utility_bound(const RingInstance& instance) { return utility_prices(instance).bound; }

}  // namespace berth::papers::gadget
