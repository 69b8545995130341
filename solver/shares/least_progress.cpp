// SPDX-License-Identifier: Apache-2.0
#include "cost_hull.hpp"
#include "share_blocks.hpp"
#include "share_oracle.hpp"

#include <algorithm>
#include <limits>

namespace berth::solver {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

/// A hull gets steeper by `rise` at this progress.
struct Kink {
  double at = kEndless;
  double rise = 0.0;
};

/// The hull of a job, at the segment that ends at or behind the level.
CostHull hull_at(const ShareProblem& problem, std::size_t job, const ShareColumn& column) {
  CostHull hull(problem.rates_of(job), column.price, problem.gpus[job]);
  while (hull.to < column.level && hull.next()) {
  }
  return hull;
}

/// Parts of the time on both ends of the segment.
template <class Add>
void add_ends(const CostHull& hull, double level, const Add& add) {
  if (level <= 0.0) return;
  const double end = (std::min(level, hull.to) - hull.from) / (hull.to - hull.from);
  if (hull.from_type != CostHull::kIdle) add(hull.from_type, 1.0 - end);
  add(hull.to_type, end);
}

}  // namespace

LeastProgress::LeastProgress(const ShareProblem& problem) : ShareOracle(problem) {
  largest_ = problem.jobs() == 0 ? 0.0 : kEndless;
  for (std::size_t j = 0; j < problem.jobs(); ++j) {
    largest_ = std::min(largest_, std::ranges::max(problem.rates_of(j)));
  }
}

/// The largest level at which the slopes before it add to at most 1.
void LeastProgress::find_level(std::span<const double> price, ShareColumn& column) const {
  const std::size_t types = problem_.types();
  std::vector<Kink> kinks(problem_.jobs() * types);
  const double first = sum_blocks(problem_.jobs(), [&](std::size_t job) {
    CostHull hull(problem_.rates_of(job), price, problem_.gpus[job]);
    (void)hull.next();
    const double slope = hull.slope;
    double before = slope;
    for (std::size_t k = job * types; hull.to < largest_; ++k) {
      const double at = hull.to;
      if (!hull.next()) break;
      kinks[k] = {at, hull.slope - before};
      before = hull.slope;
    }
    return slope;
  });
  column.level = 0.0;
  column.split = first > 1.0 ? 1.0 / first : 1.0;
  if (first >= 1.0) return;
  std::erase_if(kinks, [](const Kink& kink) { return kink.at == kEndless; });
  std::ranges::stable_sort(kinks, {}, &Kink::at);
  double slopes = first;
  for (std::size_t k = 0; k < kinks.size();) {
    double rise = 0.0;
    const double at = kinks[k].at;
    for (; k < kinks.size() && kinks[k].at == at; ++k) rise += kinks[k].rise;
    if (slopes + rise >= 1.0) {
      column.level = at;
      column.split = (1.0 - slopes) / rise;
      return;
    }
    slopes += rise;
  }
  column.level = largest_;
  column.split = 1.0 - slopes;  // the rest, for a job that cannot be faster
}

ShareColumn LeastProgress::column(std::span<const double> price) const {
  ShareColumn column;
  column.price.assign(price.begin(), price.end());
  find_level(price, column);
  column.gain = column.level;
  column.use = use_of(problem_, [&](std::size_t job, const auto& add) {
    add_ends(hull_at(problem_, job, column), column.level, add);
  });
  column.profit = column.gain;
  for (std::size_t t = 0; t < price.size(); ++t) column.profit -= price[t] * column.use[t];
  return column;
}

void LeastProgress::add_shares(const ShareColumn& column, double part,
                               std::span<double> share) const {
  for_jobs(problem_.jobs(), [&](std::size_t job) {
    add_ends(hull_at(problem_, job, column), column.level, [&](std::size_t type, double time) {
      share[job * problem_.types() + type] += part * time;
    });
  });
}

std::vector<double> LeastProgress::weights(const ShareColumn& column) const {
  std::vector<double> weight(problem_.jobs());
  bool rest = column.level == largest_;
  for (std::size_t j = 0; j < weight.size(); ++j) {
    CostHull hull = hull_at(problem_, j, column);
    if (column.level == 0.0) {
      (void)hull.next();
      weight[j] = column.split * hull.slope;
      continue;
    }
    weight[j] = hull.slope;
    if (hull.to != column.level) continue;
    const double before = hull.slope;
    if (hull.next()) {
      if (column.level < largest_) weight[j] += column.split * (hull.slope - before);
    } else if (rest) {
      weight[j] += column.split;
      rest = false;
    }
  }
  return weight;
}

double LeastProgress::value(std::span<const double> share) const {
  double least = problem_.jobs() == 0 ? 0.0 : kEndless;
  for (std::size_t j = 0; j < problem_.jobs(); ++j) {
    least = std::min(least, progress_of(problem_, j, share));
  }
  return least;
}

}  // namespace berth::solver
