// SPDX-License-Identifier: Apache-2.0
#include "strads_lasso.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "berth/base/random.hpp"
#include "berth/strads/commit.hpp"
#include "berth/strads/dependency.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kLassoDraws = 0x1A550;
constexpr double kDiverged = 1e6;

double lasso_normal(std::uint64_t seed, std::uint64_t what, std::uint64_t i, std::uint64_t j) {
  const double u = random_unit({kLassoDraws, seed, what, i, j, 1});
  const double v = random_unit({kLassoDraws, seed, what, i, j, 2});
  return std::sqrt(-2.0 * std::log1p(-u)) * std::cos(6.283185307179586 * v);
}

double dot(std::span<const double> a, std::span<const double> b) {
  // Four sums: independent, so that they need not wait for each other.
  double sum[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < a.size(); ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double shrink(double value, double by) {
  return std::copysign(std::max(std::abs(value) - by, 0.0), value);
}

/// Which coefficients a round works on.
class Chooser {
 public:
  Chooser(const Lasso& lasso, const LassoRule& rule, std::uint64_t seed)
      : lasso_(lasso), rule_(rule), seed_(seed), blocks_(lasso.columns()) {
    for (std::size_t j = 0; j < blocks_.size(); ++j) {
      blocks_[j] = {
          .id = static_cast<std::int64_t>(j),
          .importance = rule.importance ? 1.0 : 0.0,
          .rank = static_cast<std::uint32_t>(random_bits({kLassoDraws, seed, 7, j}) >> 32)};
    }
    unseen_ = rule.importance ? blocks_.size() : 0;
    seen_.assign(blocks_.size(), false);
  }

  std::vector<std::size_t> next(std::size_t most, int round) const {
    if (rule_.dependency >= 1.0) return strads::schedule(blocks_, most, round, seed_, options());
    constexpr std::size_t kCandidates = 2;  // for each place in the round
    std::vector<std::size_t> drawn =
        strads::schedule(blocks_, kCandidates * most, round, seed_, options());
    std::ranges::stable_sort(drawn, std::greater{},
                             [&](std::size_t j) { return blocks_[j].importance; });
    std::vector<std::size_t> chosen =
        strads::without_conflicts(drawn, [&](std::size_t j, std::size_t k) {
          return std::abs(lasso_.correlation(j, k)) >= rule_.dependency;
        });
    chosen.resize(std::min(chosen.size(), most));
    return chosen;
  }

  void changed(std::size_t j, double by) {
    if (!rule_.importance) return;
    if (unseen_ > 0 && !seen_[j]) {
      seen_[j] = true;
      last_.emplace_back(j, std::abs(by));
      blocks_[j].importance = 0.0;
      if (--unseen_ > 0) return;
      for (const auto& [k, amount] : last_) blocks_[k].importance = amount;
    } else if (unseen_ == 0) {
      blocks_[j].importance = std::abs(by);
    }
  }

 private:
  /// First every coefficient once, in random order; then by importance.
  [[nodiscard]] strads::ScheduleOptions options() const {
    if (unseen_ > 0) return {.rule = strads::SelectionRule::largest, .floor = 1.0};
    const auto above =
        std::ranges::count_if(blocks_, [](const auto& b) { return b.importance > 0; });
    const double share = static_cast<double>(blocks_.size()) /
                         static_cast<double>(std::max<std::ptrdiff_t>(above, 1));
    return {.rule = strads::SelectionRule::sampled, .floor = rule_.floor * share};
  }

  const Lasso& lasso_;
  LassoRule rule_;
  std::uint64_t seed_;
  std::vector<strads::Block> blocks_;
  std::vector<bool> seen_;
  std::vector<std::pair<std::size_t, double>> last_;  ///< changes of the first pass
  std::size_t unseen_ = 0;
};

/// Applies the changes of a round, all or those that keep half of their gain; returns which.
std::vector<bool> apply(Lasso& lasso, std::span<const std::size_t> chosen,
                        std::span<const double> changes, bool commits) {
  constexpr double kTheta = 0.5;
  std::vector<strads::Proposal> proposals;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    proposals.push_back({.id = static_cast<std::int64_t>(chosen[i]),
                         .gain = commits ? lasso.gain(chosen[i], changes[i]) : 0.0});
  }
  std::vector<bool> applied(chosen.size(), false);
  for (const std::size_t i : strads::commit_order(proposals)) {
    const double least = strads::least_gain(proposals[i].gain, kTheta);
    applied[i] = !commits || lasso.gain(chosen[i], changes[i]) >= least;
    if (applied[i]) lasso.change(chosen[i], changes[i]);
  }
  return applied;
}

}  // namespace

Lasso::Lasso(const LassoSetting& setting, std::uint64_t seed)
    : setting_(setting),
      x_(setting.rows * setting.columns),
      residual_(setting.rows),
      beta_(setting.columns, 0.0) {
  const double own = std::sqrt(1.0 - setting.correlation), shared = std::sqrt(setting.correlation);
  for (std::size_t j = 0; j < setting.columns; ++j) {
    double squares = 0.0;
    for (std::size_t i = 0; i < setting.rows; ++i) {
      double& x = x_[j * setting.rows + i];
      x = shared * lasso_normal(seed, 1, j / setting.group, i) + own * lasso_normal(seed, 2, j, i);
      squares += x * x;
    }
    for (std::size_t i = 0; i < setting.rows; ++i) x_[j * setting.rows + i] /= std::sqrt(squares);
  }
  constexpr double kScale = 2.0, kNoise = 0.05;
  for (std::size_t i = 0; i < setting.rows; ++i)
    residual_[i] = kNoise * lasso_normal(seed, 3, i, 0);
  for (std::size_t k = 0; k < setting.nonzero; ++k) {
    const std::size_t j = random_below(setting.columns, {kLassoDraws, seed, 4, k});
    const double beta = kScale * lasso_normal(seed, 5, k, 0);
    for (std::size_t i = 0; i < setting.rows; ++i) residual_[i] += beta * column(j)[i];
  }
}

double Lasso::objective() const {
  double sum = 0.5 * dot(residual_, residual_);
  for (const double beta : beta_) sum += setting_.lambda * std::abs(beta);
  return sum;
}

double Lasso::correlation(std::size_t j, std::size_t k) const { return dot(column(j), column(k)); }

double Lasso::best_change(std::size_t j) const {
  return shrink(beta_[j] + dot(column(j), residual_), setting_.lambda) - beta_[j];
}

double Lasso::gain(std::size_t j, double change) const {
  return change * dot(column(j), residual_) - 0.5 * change * change -
         setting_.lambda * (std::abs(beta_[j] + change) - std::abs(beta_[j]));
}

void Lasso::change(std::size_t j, double change) {
  if (change == 0.0) return;
  beta_[j] += change;
  const auto x = column(j);
  for (std::size_t i = 0; i < x.size(); ++i) residual_[i] -= change * x[i];
}

double Lasso::optimum() const {
  constexpr double kTolerance = 1e-9;
  Lasso own = *this;
  std::vector<std::size_t> all(columns());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto pass = [&](std::span<const std::size_t> over) {
    double largest = 0.0;
    for (const std::size_t j : over) {
      const double change = own.best_change(j);
      own.change(j, change);
      largest = std::max(largest, std::abs(change));
    }
    return largest;
  };
  while (pass(all) > kTolerance) {
    std::vector<std::size_t> active;
    for (const std::size_t j : all) {
      if (own.beta_[j] != 0.0) active.push_back(j);
    }
    while (pass(active) > kTolerance) continue;
  }
  return own.objective();
}

LassoRun solve_lasso(Lasso lasso, double optimum, const LassoRule& rule, std::size_t parallel,
                     int limit, std::uint64_t seed) {
  LassoRun run;
  Chooser chooser(lasso, rule, seed);
  double before = lasso.objective();
  for (run.rounds = 0; run.rounds < limit && !run.reached && !run.diverged; ++run.rounds) {
    const std::vector<std::size_t> chosen = chooser.next(parallel, run.rounds);
    std::vector<double> changes;
    for (const std::size_t j : chosen) changes.push_back(lasso.best_change(j));
    const std::vector<bool> applied = apply(lasso, chosen, changes, rule.commits);
    for (std::size_t i = 0; i < chosen.size(); ++i) chooser.changed(chosen[i], changes[i]);
    const double now = lasso.objective();
    run.rises += now > before * (1.0 + 1e-12);
    run.largest = std::max(run.largest, now / optimum);
    run.reached = now <= 1.01 * optimum;
    run.diverged = !(now < kDiverged * optimum);
    before = now;
  }
  return run;
}

}  // namespace berth::bench
