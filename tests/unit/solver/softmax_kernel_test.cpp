// SPDX-License-Identifier: Apache-2.0
#include "assignment/softmax_kernel.hpp"

#include "assignment/smooth_math.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver::assignment {
namespace {

constexpr std::size_t kSlots = 12, kLevies = 2, kGroups = 3;
constexpr Bids::Units kUnits{.value = 0x1p30, .demand = 0x1p30};

struct Option {
  double value;
  std::uint32_t slot, fare;
};

/// What is given to Bids, kept for the plain sum.
struct Market {
  std::vector<Bids::Bidder> bidders;
  std::vector<std::vector<Option>> options;
  std::vector<Bids::Fare> fares;
};

Market random_market(std::uint64_t seed, std::size_t bidders) {
  std::uint64_t draws = 0;
  const auto unit = [&] { return random_unit({seed, ++draws}); };
  const auto below = [&](std::uint64_t n) {
    return static_cast<std::uint32_t>(random_below(n, {seed, ++draws}));
  };
  Market m{.bidders = {}, .options = {}, .fares = {}};
  for (std::uint32_t f = 0; f < 4; ++f) {
    m.fares.push_back({Bids::Load{f % 2, 0.5 + unit()}, Bids::Load{f == 3 ? 2 : Bids::kNone, 1.0}});
  }
  for (std::size_t b = 0; b < bidders; ++b) {
    const double gpus = 1.0 + below(16);
    m.bidders.push_back({.gpus = gpus,
                         .amount = gpus * (1.0 + below(3)),
                         .required = below(10) == 0,
                         .levy = below(3) == 0 ? below(kLevies) : Bids::kNone});
    auto& options = m.options.emplace_back();
    const bool tolled = below(5) == 0;
    for (std::uint32_t k = 1 + below(9); k > 0; --k) {
      options.push_back({0.5 + 4.0 * unit(), below(kSlots), tolled ? below(4) : Bids::kNone});
    }
  }
  return m;
}

Bids bids_of(const Market& m) {
  Bids bids;
  bids.reset(kSlots, kLevies, kGroups, m.fares);
  for (std::size_t b = 0; b < m.bidders.size(); ++b) {
    bids.open(m.bidders[b]);
    for (const Option& c : m.options[b]) bids.add(c.value, c.slot, c.fare);
  }
  return bids;
}

struct Prices {
  std::vector<double> slots, levies, fares;
  [[nodiscard]] Quotes quotes() const { return {slots, levies, fares}; }
};

/// The prices of a later evaluation move by at most `step` from those of `last`.
Prices moved(const Prices& last, double step, std::uint64_t key) {
  Prices p = last;
  std::uint64_t draws = 0;
  for (auto* list : {&p.slots, &p.levies, &p.fares}) {
    for (double& x : *list) x = std::max(0.0, x + step * (random_unit({key, ++draws}) - 0.5));
  }
  return p;
}

Prices some_prices(std::uint64_t seed) {
  Prices p{std::vector<double>(kSlots, 2.0), std::vector<double>(kLevies, 0.3),
           std::vector<double>(4, 0.5)};
  return moved(p, 3.0, seed);
}

double profit(const Market& m, std::size_t b, const Option& c, const Prices& p) {
  const std::uint32_t levy = m.bidders[b].levy;
  return c.value - p.slots[c.slot] - (levy == Bids::kNone ? 0.0 : p.levies[levy]) -
         (c.fare == Bids::kNone ? 0.0 : p.fares[c.fare] / m.bidders[b].gpus);
}

/// The formula, every option of every bidder, in doubles.
std::vector<double> plain_sums(const Market& m, const Prices& p, double eps, const Bids& bids) {
  const Bids::Layout& at = bids.layout();
  std::vector<double> sums(at.size(), 0.0);
  for (std::size_t b = 0; b < m.bidders.size(); ++b) {
    double sum = m.bidders[b].required ? 0.0 : 1.0;
    for (const Option& c : m.options[b]) sum += std::exp(profit(m, b, c, p) / eps);
    sums[0] += m.bidders[b].amount * eps * std::log(sum);
    for (const Option& c : m.options[b]) {
      const double gpus = m.bidders[b].amount * std::exp(profit(m, b, c, p) / eps) / sum;
      sums[at.slots + c.slot] += gpus;
      if (m.bidders[b].levy != Bids::kNone) sums[at.levies + m.bidders[b].levy] += gpus;
      if (c.fare == Bids::kNone) continue;
      for (const Bids::Load& load : m.fares[c.fare]) {
        if (load.group == Bids::kNone) continue;
        sums[at.groups + load.group] += gpus / m.bidders[b].gpus * load.units;
      }
    }
  }
  return sums;
}

std::vector<std::int64_t> sums_of(Bids& bids, const Prices& p, double eps) {
  std::vector<std::int64_t> sums(bids.layout().size(), 0);
  bids.prepare(p.quotes(), eps);
  bids.sum(0, bids.size(), p.quotes(), eps, kUnits, sums);
  sums.back() = 0;  // `out`
  return sums;
}

TEST(Bids, adds_what_the_plain_sum_adds) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Market m = random_market(seed, 400);
    Bids bids = bids_of(m);
    const Prices p = some_prices(seed);
    for (const double eps : {0.5, 0.1, 0.02}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", eps " << eps);
      const std::vector<double> plain = plain_sums(m, p, eps, bids);
      const std::vector<std::int64_t> sums = sums_of(bids, p, eps);
      for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
        const double scale = i == 0 ? kUnits.value : kUnits.demand;
        EXPECT_NEAR(static_cast<double>(sums[i]) / scale, plain[i], 1e-5) << i;
      }
    }
  }
}

TEST(Bids, without_smoothing_everybody_takes_the_best) {
  const Market m = random_market(9, 400);
  Bids bids = bids_of(m);
  const Prices p = some_prices(9);
  double value = 0.0;
  std::vector<double> demand(kSlots, 0.0);
  for (std::size_t b = 0; b < m.bidders.size(); ++b) {
    const Option* best = nullptr;
    for (const Option& c : m.options[b]) {
      if (best == nullptr || profit(m, b, c, p) > profit(m, b, *best, p)) best = &c;
    }
    const double most = profit(m, b, *best, p);
    if (most <= 0.0 && !m.bidders[b].required) continue;
    value += m.bidders[b].amount * most;
    demand[best->slot] += m.bidders[b].amount;
  }
  const std::vector<std::int64_t> sums = sums_of(bids, p, 0.0);
  EXPECT_NEAR(static_cast<double>(sums[0]) / kUnits.value, value, 1e-5);
  for (std::size_t s = 0; s < kSlots; ++s) {
    EXPECT_NEAR(static_cast<double>(sums[bids.layout().slots + s]) / kUnits.demand, demand[s],
                1e-5);
  }
}

// As prices wander some options leave the shortlist and come back. Fresh bids have none.
TEST(Bids, sums_are_the_same_bits_with_any_shortlist) {
  const Market m = random_market(6, 700);
  Bids kept = bids_of(m);
  Prices p = some_prices(6);
  for (std::uint64_t step = 0; step < 120; ++step) {
    const double eps = step % 40 == 0 ? 0.0 : 0.1 / (1.0 + static_cast<double>(step / 30));
    p = moved(p, step % 10 == 9 ? 2.0 : 0.08, step);
    Bids fresh = bids_of(m);
    ASSERT_EQ(sums_of(kept, p, eps), sums_of(fresh, p, eps)) << "step " << step;
  }
}

TEST(SmoothMath, agrees_with_the_library) {
  for (int i = 0; i <= 4000; ++i) {
    const double x = -0.01 * i;
    EXPECT_NEAR(exp_of(x) / std::exp(x), 1.0, 1e-13) << x;
    const double y = 1.0 + 0.37 * i;
    EXPECT_NEAR(log_of(y), std::log(y), 2e-15 * (1.0 + std::log(y))) << y;
  }
  EXPECT_EQ(exp_of(0.0), 1.0);
  EXPECT_EQ(log_of(1.0), 0.0);
}

}  // namespace
}  // namespace berth::solver::assignment
