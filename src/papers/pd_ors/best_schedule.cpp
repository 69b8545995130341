// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/best_schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace berth::papers::pd_ors {
namespace {

/// Theta of one job: least cost by slot and parts left, and how it came about.
class Programme {
 public:
  Programme(const TrainingJob& job, const SlotLedger& ledger, const SlotSolver& solver,
            const ScheduleQuery& query)
      : units_(static_cast<std::size_t>(query.units)),
        from_(query.from),
        part_(query.samples / query.units) {
    const double most = solver.most_samples(job) / part_ * (1.0 + kRoundingSlack);
    most_ = static_cast<std::size_t>(std::min(most, static_cast<double>(units_)));
    least_.assign(units_ + 1, std::numeric_limits<double>::infinity());
    least_[0] = 0.0;
    for (std::int32_t t = from_; t < ledger.instance().slots; ++t)
      add_slot(market_of(job, ledger, t, query.room, query.price_factor), solver);
  }

  [[nodiscard]] double cost(std::int32_t completion) const {
    return totals_[static_cast<std::size_t>(completion - from_)];
  }

  [[nodiscard]] JobSchedule schedule(std::int32_t completion) const {
    JobSchedule result;
    std::size_t left = units_;
    for (std::int32_t t = completion; t >= from_ && left > 0; --t) {
      const auto s = static_cast<std::size_t>(t - from_);
      const std::size_t v = choice_[s][left];
      if (v > 0) result.push_back({t, offers_[market_of_slot_[s]][v].machines});
      left -= v;
    }
    std::ranges::reverse(result);
    return result;
  }

 private:
  void add_slot(SlotMarket market, const SlotSolver& solver) {
    const std::vector<SlotOffer>& offers = offers_of(std::move(market), solver);
    std::vector<std::size_t>& choice = choice_.emplace_back(units_ + 1, 0);
    std::vector<double> next = least_;
    for (std::size_t left = 1; left <= units_; ++left) {
      for (std::size_t v = 1; v <= std::min(most_, left); ++v) {
        const double cost = offers[v].cost + least_[left - v];
        if (cost >= next[left]) continue;
        next[left] = cost;
        choice[left] = v;
      }
    }
    least_ = std::move(next);
    totals_.push_back(least_[units_]);
  }

  /// Offers of the slot's market; slots with equal prices and room share them.
  const std::vector<SlotOffer>& offers_of(SlotMarket market, const SlotSolver& solver) {
    const auto known = std::ranges::find(markets_, market);
    market_of_slot_.push_back(static_cast<std::size_t>(known - markets_.begin()));
    if (known != markets_.end()) return offers_[market_of_slot_.back()];
    std::vector<SlotOffer>& offers = offers_.emplace_back(most_ + 1);
    offers[0].cost = 0.0;
    for (std::size_t v = 1; v <= most_; ++v)
      offers[v] = solver.cheapest(market, part_ * static_cast<double>(v));
    markets_.push_back(std::move(market));
    return offers;
  }

  std::size_t units_, most_ = 0;
  std::int32_t from_;
  double part_;
  std::vector<double> least_;        ///< by parts trained
  std::vector<double> totals_;       ///< by slot: Theta(t, V)
  std::vector<SlotMarket> markets_;  ///< distinct ones
  std::vector<std::size_t> market_of_slot_;
  std::vector<std::vector<SlotOffer>> offers_;    ///< by market, parts
  std::vector<std::vector<std::size_t>> choice_;  ///< by slot, parts trained until then
};

}  // namespace

ScheduleOffer best_schedule(const TrainingJob& job, const SlotLedger& ledger,
                            const SlotSolver& solver, const ScheduleQuery& query) {
  const Programme programme(job, ledger, solver, query);
  ScheduleOffer best;
  std::int32_t completion = -1;
  for (std::int32_t t = query.from; t < ledger.instance().slots; ++t) {
    const double payoff = job.utility(t) - programme.cost(t);
    if (payoff <= best.payoff) continue;
    best.payoff = payoff;
    best.cost = programme.cost(t);
    completion = t;
  }
  if (completion >= 0) best.schedule = programme.schedule(completion);
  return best;
}

}  // namespace berth::papers::pd_ors
