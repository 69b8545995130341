// SPDX-License-Identifier: Apache-2.0
#include "assignment/softmax_kernel.hpp"

#include "assignment/smooth_math.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver::assignment {
namespace {

constexpr std::size_t kPlaceLists = 12, kQuotas = 2, kLimitGroups = 3;
constexpr SoftmaxKernel::Units kUnits{.value = 0x1p30, .demand = 0x1p30};

struct Option {
  double value;
  std::uint32_t place_list, limit_load;
};

/// What is given to the kernel, kept for the plain sum.
struct Market {
  std::vector<SoftmaxKernel::KernelRow> rows;
  std::vector<std::vector<Option>> options;
  std::vector<SoftmaxKernel::LimitLoads> limit_loads;
};

Market random_market(std::uint64_t seed, std::size_t rows) {
  std::uint64_t draws = 0;
  const auto unit = [&] { return random_unit({seed, ++draws}); };
  const auto below = [&](std::uint64_t n) {
    return static_cast<std::uint32_t>(random_below(n, {seed, ++draws}));
  };
  Market m{.rows = {}, .options = {}, .limit_loads = {}};
  for (std::uint32_t f = 0; f < 4; ++f) {
    m.limit_loads.push_back({SoftmaxKernel::LimitLoad{f % 2, 0.5 + unit()},
                             SoftmaxKernel::LimitLoad{f == 3 ? 2 : SoftmaxKernel::kNone, 1.0}});
  }
  for (std::size_t b = 0; b < rows; ++b) {
    const double gpus = 1.0 + below(16);
    m.rows.push_back({.gpus = gpus,
                      .amount = gpus * (1.0 + below(3)),
                      .required = below(10) == 0,
                      .quota = below(3) == 0 ? below(kQuotas) : SoftmaxKernel::kNone});
    auto& options = m.options.emplace_back();
    const bool has_limit_price = below(5) == 0;
    for (std::uint32_t k = 1 + below(9); k > 0; --k) {
      options.push_back({0.5 + 4.0 * unit(), below(kPlaceLists),
                         has_limit_price ? below(4) : SoftmaxKernel::kNone});
    }
  }
  return m;
}

SoftmaxKernel kernel_of(const Market& m) {
  SoftmaxKernel kernel;
  kernel.reset(kPlaceLists, kQuotas, kLimitGroups, m.limit_loads);
  for (std::size_t b = 0; b < m.rows.size(); ++b) {
    kernel.add_row(m.rows[b]);
    for (const Option& c : m.options[b]) kernel.add_option(c.value, c.place_list, c.limit_load);
  }
  return kernel;
}

struct Prices {
  std::vector<double> place_costs, quota_prices, limit_costs;
  [[nodiscard]] KernelPrices view() const { return {place_costs, quota_prices, limit_costs}; }
};

/// The prices of a later evaluation move by at most `step` from those of `last`.
Prices moved(const Prices& last, double step, std::uint64_t key) {
  Prices p = last;
  std::uint64_t draws = 0;
  for (auto* list : {&p.place_costs, &p.quota_prices, &p.limit_costs}) {
    for (double& x : *list) x = std::max(0.0, x + step * (random_unit({key, ++draws}) - 0.5));
  }
  return p;
}

Prices some_prices(std::uint64_t seed) {
  Prices p{std::vector<double>(kPlaceLists, 2.0), std::vector<double>(kQuotas, 0.3),
           std::vector<double>(4, 0.5)};
  return moved(p, 3.0, seed);
}

double profit(const Market& m, std::size_t b, const Option& c, const Prices& p) {
  const std::uint32_t quota = m.rows[b].quota;
  return c.value - p.place_costs[c.place_list] -
         (quota == SoftmaxKernel::kNone ? 0.0 : p.quota_prices[quota]) -
         (c.limit_load == SoftmaxKernel::kNone ? 0.0
                                               : p.limit_costs[c.limit_load] / m.rows[b].gpus);
}

/// The formula, every option of every row, in doubles.
std::vector<double> plain_sums(const Market& m, const Prices& p, double eps,
                               const SoftmaxKernel& kernel) {
  const SoftmaxKernel::SumLayout& at = kernel.layout();
  std::vector<double> sums(at.size(), 0.0);
  for (std::size_t b = 0; b < m.rows.size(); ++b) {
    double sum = m.rows[b].required ? 0.0 : 1.0;
    for (const Option& c : m.options[b]) sum += std::exp(profit(m, b, c, p) / eps);
    sums[0] += m.rows[b].amount * eps * std::log(sum);
    for (const Option& c : m.options[b]) {
      const double gpus = m.rows[b].amount * std::exp(profit(m, b, c, p) / eps) / sum;
      sums[at.place_lists + c.place_list] += gpus;
      if (m.rows[b].quota != SoftmaxKernel::kNone) sums[at.quotas + m.rows[b].quota] += gpus;
      if (c.limit_load == SoftmaxKernel::kNone) continue;
      for (const SoftmaxKernel::LimitLoad& load : m.limit_loads[c.limit_load]) {
        if (load.group == SoftmaxKernel::kNone) continue;
        sums[at.limit_groups + load.group] += gpus / m.rows[b].gpus * load.units;
      }
    }
  }
  return sums;
}

std::vector<std::int64_t> sums_of(SoftmaxKernel& kernel, const Prices& p, double eps) {
  std::vector<std::int64_t> sums(kernel.layout().size(), 0);
  kernel.prepare_shortlist(p.view(), eps);
  kernel.sum(0, kernel.size(), p.view(), eps, kUnits, sums);
  sums.back() = 0;  // `unplaced`
  return sums;
}

TEST(SoftmaxKernel, adds_what_the_plain_sum_adds) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Market m = random_market(seed, 400);
    SoftmaxKernel kernel = kernel_of(m);
    const Prices p = some_prices(seed);
    for (const double eps : {0.5, 0.1, 0.02}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", eps " << eps);
      const std::vector<double> plain = plain_sums(m, p, eps, kernel);
      const std::vector<std::int64_t> sums = sums_of(kernel, p, eps);
      for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
        const double scale = i == 0 ? kUnits.value : kUnits.demand;
        EXPECT_NEAR(static_cast<double>(sums[i]) / scale, plain[i], 1e-5) << i;
      }
    }
  }
}

TEST(SoftmaxKernel, without_smoothing_every_job_takes_the_best) {
  const Market m = random_market(9, 400);
  SoftmaxKernel kernel = kernel_of(m);
  const Prices p = some_prices(9);
  double value = 0.0;
  std::vector<double> demand(kPlaceLists, 0.0);
  for (std::size_t b = 0; b < m.rows.size(); ++b) {
    const Option* best = nullptr;
    for (const Option& c : m.options[b]) {
      if (best == nullptr || profit(m, b, c, p) > profit(m, b, *best, p)) best = &c;
    }
    const double most = profit(m, b, *best, p);
    if (most <= 0.0 && !m.rows[b].required) continue;
    value += m.rows[b].amount * most;
    demand[best->place_list] += m.rows[b].amount;
  }
  const std::vector<std::int64_t> sums = sums_of(kernel, p, 0.0);
  EXPECT_NEAR(static_cast<double>(sums[0]) / kUnits.value, value, 1e-5);
  for (std::size_t s = 0; s < kPlaceLists; ++s) {
    EXPECT_NEAR(static_cast<double>(sums[kernel.layout().place_lists + s]) / kUnits.demand,
                demand[s], 1e-5);
  }
}

// As prices wander some options leave the shortlist and come back. A fresh kernel has none.
TEST(SoftmaxKernel, sums_are_the_same_bits_with_any_shortlist) {
  const Market m = random_market(6, 700);
  SoftmaxKernel kept = kernel_of(m);
  Prices p = some_prices(6);
  for (std::uint64_t step = 0; step < 120; ++step) {
    const double eps = step % 40 == 0 ? 0.0 : 0.1 / (1.0 + static_cast<double>(step / 30));
    p = moved(p, step % 10 == 9 ? 2.0 : 0.08, step);
    SoftmaxKernel fresh = kernel_of(m);
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
