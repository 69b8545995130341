// SPDX-License-Identifier: Apache-2.0
#include "horizon_costs.hpp"

#include <algorithm>
#include <string>

#include "berth/base/error.hpp"

namespace berth::certify {
namespace {

using horizon::CostShare;
using horizon::kShareUnit;
using horizon::Seconds;

constexpr Int128 kLargestCost = static_cast<Int128>(1) << (54 + horizon::kPriceFractionBits);
constexpr Int128 kLargestSlope = static_cast<Int128>(1) << 64;
constexpr std::size_t kMostPieces = 50'000'000;

void expect_share(bool holds, const char* why) {
  if (!holds) throw InputError({}, std::string("cost shares of the horizon: ") + why);
}

Int128 part_of(Int128 x, std::int64_t share) {  // rounded down
  const Int128 product = x * share;
  return product >= 0 ? product / kShareUnit : -((-product + kShareUnit - 1) / kShareUnit);
}

/// The piece that holds just after `t`, and the one that holds until then.
const IntegerCost& piece_after(const IntegerCosts& costs, Seconds t) {
  const auto next = std::ranges::upper_bound(costs, t, {}, &IntegerCost::after);
  return next == costs.begin() ? *next : *(next - 1);
}
const IntegerCost& piece_until(const IntegerCosts& costs, Seconds t) {
  const auto next = std::ranges::lower_bound(costs, t, {}, &IntegerCost::after);
  return next == costs.begin() ? *next : *(next - 1);
}
Int128 value(const IntegerCost& piece, Seconds t) {
  return piece.cost + piece.slope * (t - piece.after);
}

/// `from`, and the later times at which one of the costs changes.
std::vector<Seconds> changes(std::span<const IntegerCosts> all, Seconds from) {
  std::vector<Seconds> times{from};
  for (const IntegerCosts& costs : all) {
    for (std::size_t i = 1; i < costs.size(); ++i) times.push_back(costs[i].after);
  }
  std::erase_if(times, [&](Seconds t) { return t < from; });
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

/// Lowers costs where doubles have left them falling by a rounding error.
void make_non_decreasing(IntegerCosts& costs) {
  for (std::size_t i = costs.size() - 1; i-- > 0;) {
    const Int128 end = value(costs[i], costs[i + 1].after);
    costs[i].cost -= std::max<Int128>(0, end - costs[i + 1].cost);
  }
}

/// No more than any of them after `from`, and non-decreasing.
IntegerCosts least_of(std::span<const IntegerCosts> all, Seconds from) {
  if (all.size() == 1) return all.front();
  IntegerCosts result;
  const std::vector<Seconds> times = changes(all, from);
  for (std::size_t i = 0; i < times.size(); ++i) {
    Int128 first = kLargestCost, last = kLargestCost, slope = kLargestSlope;
    for (const IntegerCosts& costs : all) {
      const IntegerCost& piece = piece_after(costs, times[i]);
      first = std::min(first, value(piece, times[i]));
      slope = std::min(slope, piece.slope);
      if (i + 1 < times.size()) last = std::min(last, value(piece, times[i + 1]));
    }
    if (i + 1 < times.size()) {  // the least of lines is concave, so not below its chord
      slope = std::max<Int128>(0, last - first) / (times[i + 1] - times[i]);
    }
    result.push_back({times[i], first, slope});
  }
  return result;
}

/// The cost at max(t, time).
IntegerCosts at_least_from(const IntegerCosts& costs, Seconds time) {
  IntegerCosts result{{time - 1, value(piece_until(costs, time), time), 0}};
  const IntegerCost& next = piece_after(costs, time);
  result.push_back({time, value(next, time), next.slope});
  for (const IntegerCost& piece : costs) {
    if (piece.after > time) result.push_back(piece);
  }
  return result;
}

/// The least of a - b from `from` on. @pre in the end a rises no slower
Int128 least_difference(const IntegerCosts& a, const IntegerCosts& b, Seconds from) {
  Int128 least = kLargestCost;
  const IntegerCosts both[] = {a, b};
  for (const Seconds t : changes(both, from)) {
    least = std::min({least, value(piece_after(a, t), t) - value(piece_after(b, t), t),
                      value(piece_until(a, t), t) - value(piece_until(b, t), t)});
  }
  return least;
}

IntegerCosts sum(const IntegerCosts& a, const IntegerCosts& b) {
  IntegerCosts result;
  const IntegerCosts both[] = {a, b};
  for (const Seconds t : changes(both, a.front().after)) {
    const IntegerCost& of_a = piece_after(a, t);
    const IntegerCost& of_b = piece_after(b, t);
    result.push_back({t, value(of_a, t) + value(of_b, t), of_a.slope + of_b.slope});
  }
  return result;
}

bool small(const IntegerCosts& costs) {
  return std::ranges::all_of(costs, [](const IntegerCost& piece) {
    return piece.cost <= kLargestCost && piece.cost >= -kLargestCost &&
           piece.slope <= kLargestSlope;
  });
}

bool never_positive(const IntegerCosts& costs) {
  return std::ranges::all_of(costs, [](const IntegerCost& piece) { return piece.cost <= 0; }) &&
         costs.back().slope == 0;
}

}  // namespace

HorizonCosts::HorizonCosts(const horizon::Problem& problem, std::span<const CostShare> shares,
                           std::span<const std::uint8_t> counts)
    : problem_(problem), costs_(problem.options.size()) {
  for (std::size_t k = 0; k < costs_.size(); ++k) {
    for (const horizon::CostPiece& piece : problem.cost_of(problem.options[k])) {
      costs_[k].push_back(integer_cost(piece, Rounding::down));
    }
  }
  pass_all(shares, counts);
}

/// A job passes its share on when it has all that it bears.
void HorizonCosts::pass_all(std::span<const CostShare> shares,
                            std::span<const std::uint8_t> counts) {
  constexpr std::int32_t kNone = -1;
  std::vector<std::int32_t> share_of(problem_.jobs.size(), kNone), missing(share_of.size(), 0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const CostShare& share = shares[i];
    expect_share(std::ranges::binary_search(problem_.dependencies,
                                            model::Dependency{share.job, share.after}),
                 "a job does not wait for the one that bears its cost");
    expect_share(share.share >= 0 && share.share <= kShareUnit, "one is not of 0 .. 65536");
    expect_share(share_of[share.job.index()] == kNone, "a job has two");
    share_of[share.job.index()] = static_cast<std::int32_t>(i);
    ++missing[share.after.index()];
  }
  std::vector<JobId> ready;
  for (std::size_t j = 0; j < missing.size(); ++j) {
    if (missing[j] == 0 && share_of[j] != kNone) ready.emplace_back(j);
  }
  std::size_t done = 0;
  for (; !ready.empty(); ++done) {
    const JobId job = ready.back();
    ready.pop_back();
    const CostShare& share = shares[static_cast<std::size_t>(share_of[job.index()])];
    if (counts.empty() || counts[job.index()] != 0) pass(share);
    const std::size_t after = share.after.index();
    if (--missing[after] == 0 && share_of[after] != kNone) ready.push_back(share.after);
  }
  expect_share(done == shares.size(), "jobs wait for each other");
}

Seconds HorizonCosts::earliest_end(const horizon::Job& job) const {
  Seconds least = horizon::kNever;
  for (const horizon::Option& option : problem_.options_of(job)) {
    least = std::min(least, std::max(job.release, problem_.now) + option.duration);
  }
  return least;
}

void HorizonCosts::pass(const CostShare& share) {
  const horizon::Job& job = problem_.jobs[share.job.index()];
  const horizon::Job& bears = problem_.jobs[share.after.index()];
  const auto first = static_cast<std::size_t>(job.options.begin);
  if (job.options.size() == 0) return;
  std::vector<IntegerCosts> by_start;
  for (std::size_t k = first; k < first + job.options.size(); ++k) {
    make_non_decreasing(costs_[k]);
    by_start.push_back(costs_[k]);
    for (IntegerCost& piece : by_start.back()) piece.after -= problem_.options[k].duration;
  }
  const Seconds release = std::max(problem_.now, job.release);
  const IntegerCosts least = least_of(by_start, problem_.now);
  for (std::size_t k = 0; k < by_start.size(); ++k) {
    const Int128 more = part_of(least_difference(by_start[k], least, release), share.share);
    for (IntegerCost& piece : costs_[first + k]) {
      piece.cost = part_of(piece.cost, kShareUnit - share.share) + more;
      piece.slope = part_of(piece.slope, kShareUnit - share.share);
    }
  }
  IntegerCosts passed = release > earliest_end(bears) ? at_least_from(least, release) : least;
  for (IntegerCost& piece : passed) {
    piece.cost = part_of(piece.cost, share.share);
    piece.slope = part_of(piece.slope, share.share);
  }
  expect_share(bears.required || never_positive(passed),
               "a job that may be left out bears a cost above 0");
  const auto begin = static_cast<std::size_t>(bears.options.begin);
  for (std::size_t k = begin; k < begin + bears.options.size(); ++k) {
    costs_[k] = sum(costs_[k], passed);
    pieces_ += costs_[k].size();
    expect_share(small(costs_[k]), "a cost is beyond 2^54");
  }
  expect_share(pieces_ <= kMostPieces, "they make too many pieces of cost");
}

}  // namespace berth::certify
