// SPDX-License-Identifier: Apache-2.0
#include "dive.hpp"

#include "master.hpp"
#include "relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth::solver {
namespace {

constexpr double kRoundUp = 0.7;     ///< fractions from here on go up
constexpr double kShare = 0.25;      ///< but at most this part of the fractional mass at a time
constexpr double kTolerance = 0.02;  ///< of the residual relaxation, scaled value
constexpr double kNearWhole = 1e-6;
constexpr PricingLimits kDivePricing{
    .patterns = 5, .labels = 20000, .last_labels = 20000, .widest = 1.0};
constexpr int kPricingRounds = 8;  ///< each time; fewer leave the residual short of patterns
constexpr int kMostRounds = 400;

class Dive {
 public:
  Dive(const Problem& problem, Scope& scope) : problem_(problem), scope_(scope) {}

  Dived run(std::vector<Pattern> patterns, std::vector<double> x) {
    Dived result;
    for (; result.rounds < kMostRounds; ++result.rounds) {
      const bool whole = fix_whole(patterns, x, result.usage);
      const bool up = round_up(patterns, x, result.usage);
      if ((!whole && !up) || problem_.stop.requested()) break;
      Master master(problem_, scope_);
      if (master.add(open(std::move(patterns))) == 0) break;
      solve(master);
      x = master.usage();
      patterns = master.take_patterns();
    }
    return result;
  }

 private:
  void fix(const Pattern& p, std::int64_t copies, Usage& usage) {
    take(scope_, p, copies);
    usage.push_back({p, copies});
  }

  bool fix_whole(const std::vector<Pattern>& patterns, std::vector<double>& x, Usage& usage) {
    const std::size_t before = usage.size();
    for (std::size_t j = 0; j < patterns.size(); ++j) {
      const auto whole = static_cast<std::int64_t>(std::floor(x[j] + kNearWhole));
      const std::int64_t n = std::min(whole, copies_within(scope_, patterns[j]));
      if (n <= 0) continue;
      fix(patterns[j], n, usage);
      x[j] = std::max(0.0, x[j] - static_cast<double>(n));
    }
    return usage.size() > before;
  }

  /// The largest fractions, at least one. False when there is none that fits.
  bool round_up(const std::vector<Pattern>& patterns, const std::vector<double>& x, Usage& usage) {
    std::vector<std::pair<double, std::size_t>> order;
    double mass = 0.0;
    for (std::size_t j = 0; j < patterns.size(); ++j) {
      if (x[j] <= kNearWhole) continue;
      order.emplace_back(-x[j], j);
      mass += x[j];
    }
    std::ranges::sort(order);
    double up = 0.0;
    for (const auto& [negative, j] : order) {
      if (up > 0.0 && (-negative < kRoundUp || up - negative > kShare * mass)) break;
      if (copies_within(scope_, patterns[j]) == 0) continue;
      fix(patterns[j], 1, usage);
      up -= negative;
    }
    return up > 0.0;
  }

  std::vector<Pattern> open(std::vector<Pattern> patterns) const {
    std::erase_if(patterns, [&](const Pattern& p) { return copies_within(scope_, p) == 0; });
    return patterns;
  }

  /// Column generation, cut short: prices are those of the vertex.
  void solve(Master& master) const {
    for (int round = 0;; ++round) {
      master.solve(kTolerance);
      master.push_to_vertex();
      if (round == kPricingRounds || problem_.stop.requested()) return;
      std::vector<double> price = master.type_prices();
      for (double& y : price) y = std::max(y, 0.0);
      auto priced =
          price_states(problem_, scope_, price, master.state_prices(), scope_.demand, kDivePricing);
      int added = 0;
      for (Priced& p : priced) added += master.add(std::move(p.patterns));
      if (added == 0) return;
      master.restart();
    }
  }

  const Problem& problem_;
  Scope& scope_;
};

}  // namespace

Dived dive(const Problem& problem, Scope& scope, std::vector<Pattern> patterns,
           std::vector<double> usage) {
  Dived result = Dive(problem, scope).run(std::move(patterns), std::move(usage));
  tidy(result.usage);
  return result;
}

}  // namespace berth::solver
