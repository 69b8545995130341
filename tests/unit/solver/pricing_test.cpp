// SPDX-License-Identifier: Apache-2.0
#include "patterns/pricing.hpp"

#include "patterns/work_budget.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

constexpr std::size_t kSlot = 1;

/// A small machine and a handful of job types, drawn.
PackingProblem random_problem(std::uint64_t seed) {
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::int64_t>(random_below(bound, {seed, ++draws}));
  };
  PackingProblem p;
  BinType s{.slot = kSlot, .whole = static_cast<int>(below(4)), .partial = {}, .machines = {}};
  for (std::int64_t i = below(3); i > 0; --i) {
    s.partial.push_back(static_cast<int>(100 * (1 + below(9))));
  }
  std::ranges::sort(s.partial, std::greater{});
  s.room = model::machine_capacity({4 + below(10), 4 + below(10)});
  const bool uses_nic = seed % 2 == 0, uses_power = seed % 3 == 0;
  if (uses_nic) s.room[model::kNic] = 4 + below(8);
  if (uses_power) s.room[model::kPower] = 4 + below(8);
  s.machines = {MachineId(0)};
  p.bins.push_back(s);
  for (std::int64_t t = 3 + below(3); t > 0; --t) {
    JobType type;
    const std::int64_t kind = below(3);
    type.shape.needs = {1 + below(4), 1 + below(4)};
    if (uses_nic) type.shape.needs[model::kNic] = below(4);
    if (uses_power) type.shape.needs[model::kPower] = below(4);
    if (kind == 0) type.shape.gpus = static_cast<std::int32_t>(1 + below(2));
    if (kind == 1) type.shape.gpu_milli = static_cast<std::int32_t>(100 * (2 + below(7)));
    type.value = {0.0, 0.1 * static_cast<double>(1 + below(20))};
    type.jobs = {JobId(0)};
    p.types.push_back(type);
  }
  return p;
}

/// Every content of the machine, task by task, shares tried on every device.
struct Exhaustive {
  const PackingProblem& problem;
  std::span<const PricingItem> items;
  Profit best = 0;

  void search(std::size_t item, std::vector<int> free, const model::Resources& room,
              Profit profit) {
    best = std::max(best, profit);
    if (item == items.size()) return;
    search(item + 1, free, room, profit);
    const PricingItem& i = items[item];
    if (!i.needs.within(room)) return;
    const auto again = [&](std::vector<int> left) {
      search(item, std::move(left), room + -1 * i.needs, profit + i.profit);
    };
    if (i.milli > 0) {
      for (std::size_t d = 0; d < free.size(); ++d) {
        if (free[d] < i.milli ||
            std::find(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(d), free[d]) !=
                free.begin() + static_cast<std::ptrdiff_t>(d)) {
          continue;
        }
        std::vector<int> left = free;
        left[d] -= i.milli;
        again(std::move(left));
      }
    } else {
      std::vector<int> left = free;
      int needed = i.gpus;
      for (int& f : left) {
        if (needed > 0 && f == 1000) {
          f = 0;
          --needed;
        }
      }
      if (needed == 0) again(std::move(left));
    }
  }
};

Profit brute_force(const PackingProblem& p, std::span<const PricingItem> items) {
  const BinType& s = p.bins.front();
  std::vector<int> free(static_cast<std::size_t>(s.whole), 1000);
  free.insert(free.end(), s.partial.begin(), s.partial.end());
  Exhaustive e{p, items};
  e.search(0, free, s.room, 0);
  return e.best;
}

Profit earned(const MachinePattern& pattern, std::span<const PricingItem> items) {
  Profit sum = 0;
  for (const TypeCount& t : pattern.tasks) {
    const auto item = std::ranges::find(items, t.type, &PricingItem::type);
    sum += t.count * item->profit;
  }
  return sum;
}

/// Every resource and device of the pattern within the machine.
void expect_feasible(const PackingProblem& p, const MachinePattern& pattern) {
  const BinType& s = p.bins.front();
  model::Resources sum;
  int whole = 0;
  std::map<std::int32_t, std::int32_t> on_devices;
  std::vector<int> opened = s.partial;
  for (const DeviceShares& d : pattern.devices) {
    int used = 0;
    for (const TypeCount& t : d.shares) {
      used += t.count * p.types[static_cast<std::size_t>(t.type)].shape.gpu_milli;
      on_devices[t.type] += t.count;
    }
    EXPECT_LE(used, d.capacity);
    if (d.capacity == 1000) {
      ++whole;
    } else {
      const auto at = std::ranges::find(opened, d.capacity);
      ASSERT_NE(at, opened.end());
      opened.erase(at);
    }
  }
  for (const TypeCount& t : pattern.tasks) {
    const model::Shape& shape = p.types[static_cast<std::size_t>(t.type)].shape;
    sum += t.count * shape.needs;
    whole += t.count * shape.gpus;
    if (shape.gpu_milli > 0) {
      EXPECT_EQ(on_devices[t.type], t.count);
    }
  }
  for (std::size_t r = 0; r < model::kResources; ++r) EXPECT_LE(sum[r], s.room[r]);
  EXPECT_LE(whole, s.whole);
}

class Pricing : public testing::TestWithParam<int> {};

// Tasks without GPUs are filled in greedily, so there only the bound is exact.
TEST_P(Pricing, finds_what_trying_everything_finds) {
  const PackingProblem p = random_problem(static_cast<std::uint64_t>(GetParam()));
  const std::vector<double> price(p.types.size(), 0.05);
  const std::vector<std::int64_t> caps(p.types.size(), 1000);
  const auto items = pricing_items(p, 0, price, caps);
  const bool gpus_only = std::ranges::all_of(items, &PricingItem::uses_gpu);
  const Profit best = brute_force(p, items);
  const PricingResult priced = price_machine(p, 0, items, 0, {});
  EXPECT_GE(priced.bound, best);
  EXPECT_EQ(priced.exact, true);
  Profit found = 0;
  for (const MachinePattern& pattern : priced.patterns) {
    expect_feasible(p, pattern);
    found = std::max(found, earned(pattern, items));
  }
  EXPECT_LE(found, best);
  if (gpus_only) {
    EXPECT_EQ(found, best);
    EXPECT_EQ(priced.bound, best);
  }
  EXPECT_GE(best_bound(p.bins[0], items).bound, best);
  if (best > 0) {  // nothing exceeds the best
    EXPECT_TRUE(price_machine(p, 0, items, best, {}).patterns.empty());
  }
}

TEST_P(Pricing, keeps_to_caps) {
  const PackingProblem p = random_problem(static_cast<std::uint64_t>(GetParam()));
  const std::vector<double> price(p.types.size(), 0.0);
  const std::vector<std::int64_t> caps(p.types.size(), 1);
  const auto items = pricing_items(p, 0, price, caps);
  for (const MachinePattern& pattern : price_machine(p, 0, items, 0, {}).patterns) {
    for (const TypeCount& t : pattern.tasks) EXPECT_LE(t.count, 1);
  }
}

TEST_P(Pricing, keeps_the_bound_when_labels_run_out) {
  const PackingProblem p = random_problem(static_cast<std::uint64_t>(GetParam()));
  const std::vector<double> price(p.types.size(), 0.0);
  const std::vector<std::int64_t> caps(p.types.size(), 1000);
  const auto items = pricing_items(p, 0, price, caps);
  const PricingResult priced =
      price_machine(p, 0, items, 0, {.patterns = 1, .labels = 1, .last_labels = 1});
  EXPECT_GE(priced.bound, brute_force(p, items));
}

// Each type asked for alone: none can replace it.
TEST_P(Pricing, leaves_out_no_task_that_a_content_needs) {
  const PackingProblem p = random_problem(static_cast<std::uint64_t>(GetParam()));
  const std::vector<double> price(p.types.size(), 0.05);
  std::vector<PricingItem> all;
  for (std::size_t t = 0; t < p.types.size(); ++t) {
    std::vector<std::int64_t> alone(p.types.size(), 0);
    alone[t] = 1000;
    const auto item = pricing_items(p, 0, price, alone);
    all.insert(all.end(), item.begin(), item.end());
  }
  const std::vector<std::int64_t> caps(p.types.size(), 1000);
  EXPECT_EQ(brute_force(p, pricing_items(p, 0, price, caps)), brute_force(p, all));
}

/// Types asked for on one machine of two GPUs: shares of a half, worth 0.3, 0.4 and 0.2.
std::vector<std::int32_t> halves_asked_for(std::vector<std::int64_t> caps) {
  PackingProblem p;
  p.bins.push_back({.slot = kSlot,
                    .whole = 2,
                    .partial = {},
                    .room = model::machine_capacity({9, 9}),
                    .machines = {MachineId(0)}});
  for (const double value : {0.3, 0.4, 0.2}) {
    JobType type;
    type.shape.gpu_milli = 500;
    type.value = {0.0, value};
    p.types.push_back(type);
  }
  std::vector<std::int32_t> types;
  const std::vector<double> price(p.types.size(), 0.0);
  for (const PricingItem& item : pricing_items(p, 0, price, caps)) types.push_back(item.type);
  return types;
}

TEST(ItemsOf, leaves_out_what_enough_copies_of_another_replace) {
  using Types = std::vector<std::int32_t>;
  EXPECT_EQ(halves_asked_for({9, 4, 9}), (Types{1}));
  EXPECT_EQ(halves_asked_for({9, 3, 9}), (Types{0, 1}));
  EXPECT_EQ(halves_asked_for({3, 3, 9}), (Types{0, 1, 2}));
}

TEST(WorkBudget, ends_with_its_limit_or_its_token) {
  WorkBudget budget({}, 10);
  budget.spend(4);
  EXPECT_FALSE(budget.exhausted(0.5));
  budget.spend(1);
  EXPECT_TRUE(budget.exhausted(0.5));
  EXPECT_FALSE(budget.exhausted());
  budget.spend(5);
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.spent(), 10);
  EXPECT_FALSE(WorkBudget().exhausted());
  StopSource source;
  source.stop_after_questions(0);
  EXPECT_TRUE(WorkBudget(StopToken(source)).exhausted());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Pricing, testing::Range(1, 201));

}  // namespace
}  // namespace berth::solver
