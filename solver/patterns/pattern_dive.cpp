// SPDX-License-Identifier: Apache-2.0
#include "pattern_dive.hpp"

#include "column_generation.hpp"
#include "initial_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace berth::solver {
namespace {

/// Fractions of at least kRoundUp are rounded up, in one round at most the part kShare of the
/// fractional mass. Both: chosen, not tuned.
constexpr double kRoundUp = 0.7;
constexpr double kShare = 0.25;
constexpr double kNearWhole = 1e-6;  ///< copies; closer to a whole number is whole. Untuned guard
constexpr int kDiveRounds = 30;      ///< most rounds of pricing of a residual; chosen, not tuned
/// Labels of a machine in the pricing of residuals. Decision 11: 5,000 take longer, with 500 a
/// small instance misses its gap.
constexpr std::size_t kDiveLabels = 1500;
/// Part of the work budget after which residuals are not solved again. Decision 22.
constexpr double kDiveWork = 0.8;
constexpr int kMostRounds = 400;  ///< most rounds of the dive; untuned guard

class PatternDive {
 public:
  PatternDive(const PackingProblem& problem, ResidualProblem& residual, double tolerance,
              WorkBudget& budget)
      : problem_(problem), residual_(residual), tolerance_(tolerance), budget_(budget) {}

  PatternDiveResult run(std::vector<MachinePattern> patterns, std::vector<double> x) {
    PatternDiveResult result;
    double most = 0.0;  // value of the last relaxation, scaled
    for (std::size_t j = 0; j < patterns.size(); ++j)
      most += value_of(problem_, patterns[j]) * x[j];
    for (; result.rounds < kMostRounds; ++result.rounds) {
      const bool whole = fix_whole(patterns, x, result.usage);
      const bool up = round_up(patterns, x, result.usage);
      if ((!whole && !up) || budget_.stopped()) break;
      if (budget_.exhausted(kDiveWork)) {
        round_rest(patterns, x, result.usage);
        break;
      }
      const double fixed = value_of(problem_, result.usage);
      Relaxation left = solve(open(std::move(patterns)), most - fixed);
      if (left.patterns.empty()) break;
      most = fixed + left.value;
      x = std::move(left.usage);
      patterns = std::move(left.patterns);
    }
    return result;
  }

 private:
  void fix(const MachinePattern& p, std::int64_t copies, Usage& usage) {
    take(residual_, p, copies);
    usage.push_back({p, copies});
  }

  bool fix_whole(const std::vector<MachinePattern>& patterns, std::vector<double>& x,
                 Usage& usage) {
    const std::size_t before = usage.size();
    for (std::size_t j = 0; j < patterns.size(); ++j) {
      const auto whole = static_cast<std::int64_t>(std::floor(x[j] + kNearWhole));
      const std::int64_t n = std::min(whole, copies_within(residual_, patterns[j]));
      if (n <= 0) continue;
      fix(patterns[j], n, usage);
      x[j] = std::max(0.0, x[j] - static_cast<double>(n));
    }
    return usage.size() > before;
  }

  /// Fixes one copy of the patterns of largest fraction, of at least one pattern. False when no
  /// fractional pattern fits the residual.
  bool round_up(const std::vector<MachinePattern>& patterns, const std::vector<double>& x,
                Usage& usage) {
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
      if (copies_within(residual_, patterns[j]) == 0) continue;
      fix(patterns[j], 1, usage);
      up -= negative;
    }
    return up > 0.0;
  }

  /// Fixes one copy of every fractional pattern that still fits, by descending fraction.
  void round_rest(const std::vector<MachinePattern>& patterns, const std::vector<double>& x,
                  Usage& usage) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t j = 0; j < patterns.size(); ++j) {
      if (x[j] > kNearWhole) order.emplace_back(-x[j], j);
    }
    std::ranges::sort(order);
    for (const auto& [negative, j] : order) {
      if (copies_within(residual_, patterns[j]) > 0) fix(patterns[j], 1, usage);
    }
  }

  std::vector<MachinePattern> open(std::vector<MachinePattern> patterns) const {
    std::erase_if(patterns,
                  [&](const MachinePattern& p) { return copies_within(residual_, p) == 0; });
    return patterns;
  }

  /// Solves the residual relaxation. Its value is at most `left`, the value that the last
  /// relaxation had outside the fixed patterns; column generation stops when it is reached.
  Relaxation solve(std::vector<MachinePattern> patterns, double left) {
    auto fresh = initial_patterns(problem_, residual_);
    patterns.insert(patterns.end(), std::make_move_iterator(fresh.begin()),
                    std::make_move_iterator(fresh.end()));
    return generate_columns(problem_, residual_, std::move(patterns),
                            {.gap = 0.0,
                             .tolerance = tolerance_,
                             .enough = left - tolerance_,
                             .rounds = kDiveRounds,
                             .labels = kDiveLabels,
                             .copies = CopyLimit::open,
                             .work = kDiveWork},
                            budget_);
  }

  const PackingProblem& problem_;
  ResidualProblem& residual_;
  double tolerance_;
  WorkBudget& budget_;
};

}  // namespace

PatternDiveResult dive_patterns(const PackingProblem& problem, ResidualProblem& residual,
                                std::vector<MachinePattern> patterns, std::vector<double> usage,
                                double tolerance, WorkBudget& budget) {
  PatternDiveResult result =
      PatternDive(problem, residual, tolerance, budget).run(std::move(patterns), std::move(usage));
  canonicalise(result.usage);
  return result;
}

}  // namespace berth::solver
