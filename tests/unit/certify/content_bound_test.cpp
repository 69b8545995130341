// SPDX-License-Identifier: Apache-2.0
// The content bound of a machine against all contents, one item after the other on real devices.
#include "content_bound.hpp"

#include "content_search.hpp"
#include "least_relaxation.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace berth::certify {
namespace {

using model::kNoLimit;
using model::kResources;
using model::Resources;

constexpr Resources kUnlimited = {kNoLimit, kNoLimit, kNoLimit, kNoLimit};

struct Machine {
  std::int64_t whole = 0;
  std::vector<std::int16_t> partly;
  Resources amounts = kUnlimited;

  [[nodiscard]] MachineRoom room() const { return {whole, partly, amounts}; }
};

/// Tries every content: each device is counted by itself.
class AllContents {
 public:
  AllContents(const Machine& machine, const std::vector<KnapsackItem>& items)
      : items_(items), free_(machine.partly.begin(), machine.partly.end()), left_(machine.amounts) {
    free_.insert(free_.end(), static_cast<std::size_t>(machine.whole), 1000);
    visit(0, 0, 0);
  }
  [[nodiscard]] Int128 most() const { return most_; }

 private:
  /// @param device  the first on which the next copy of item i may be a share
  void visit(std::size_t i, std::int64_t copies, std::size_t device) {
    most_ = std::max(most_, price_);
    if (i == items_.size()) return;
    visit(i + 1, 0, 0);
    const KnapsackItem& item = items_[i];
    const bool counted = !item.is_share() && item.copies > 0;
    if ((counted && copies == item.copies) || !item.needs.within(left_)) return;
    add_within_limits(left_, -1 * item.needs);
    price_ += item.price;
    put(item, device, [&](std::size_t used) { visit(i, copies + 1, used); });
    add_within_limits(left_, item.needs);
    price_ -= item.price;
  }
  template <class Visit>
  void put(const KnapsackItem& item, std::size_t device, const Visit& next) {
    if (item.is_share()) {
      for (; device < free_.size(); ++device) {
        if (free_[device] < item.milli) continue;
        free_[device] -= item.milli;
        next(device);
        free_[device] += item.milli;
      }
      return;
    }
    const std::vector<std::int64_t> before = free_;
    if (std::ranges::count(free_, 1000) < item.devices) return;
    for (std::int64_t d = 0; d < item.devices; ++d) *std::ranges::find(free_, 1000) = 0;
    next(0);
    free_ = before;
  }

  const std::vector<KnapsackItem>& items_;
  std::vector<std::int64_t> free_;  // by device
  Resources left_;
  Int128 price_ = 0, most_ = 0;
};

struct Drawn {
  Machine machine;
  std::vector<KnapsackItem> items;
};

/// At most four devices, some partly free, one to three resources with a limit, up to six items.
Drawn draw(test::Dice& dice) {
  Drawn drawn;
  Machine& m = drawn.machine;
  m.whole = dice.below(5);
  while (m.whole + std::ssize(m.partly) < 4 && dice.chance(40)) {
    m.partly.push_back(static_cast<std::int16_t>(dice.one_of({200, 250, 500, 571, 750, 999})));
  }
  std::ranges::sort(m.partly);
  const std::int64_t limits = 1 + dice.below(3);
  for (std::int64_t r = 0; r < limits; ++r) {
    m.amounts[static_cast<std::size_t>(r)] = dice.one_of({0, 7, 20, 64'000});
  }
  const std::int64_t unit = dice.one_of({1, 100, 1 << 20});
  for (std::int64_t i = 1 + dice.below(6); i > 0; --i) {
    KnapsackItem item{.price = dice.below(20) * unit, .copies = dice.below(4)};
    if (dice.chance(50)) {
      item.devices = 1 + dice.below(4);
      item.milli = 1000 * item.devices;
    } else if (dice.chance(60)) {
      item.milli = dice.one_of({250, 285, 400, 500, 600, 1000});
    }
    for (std::size_t r = 0; r < kResources; ++r) {
      const std::int64_t amount = m.amounts[r] == kNoLimit ? 10 : m.amounts[r];
      if (dice.chance(70)) item.needs[r] = dice.below(amount + 1) / dice.one_of({1, 2, 4});
    }
    if (item.milli == 0 && item.copies == 0) item.copies = 1;
    const std::int64_t widest = m.whole > 0 ? 1000 : m.partly.empty() ? 0 : m.partly.back();
    const bool fits = item.is_share() ? item.milli <= widest : item.devices <= m.whole;
    if (fits && item.needs.within(m.amounts)) drawn.items.push_back(item);
  }
  return drawn;
}

TEST(ContentBound, is_the_largest_sum_of_prices_of_any_content) {
  int searched = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice);
    const Int128 most = AllContents(drawn.machine, drawn.items).most();
    const ContentWork work{.labels = 100'000, .cells = dice.chance(50) ? 0U : 30'000U};
    const Int128 bound = content_bound(drawn.machine.room(), drawn.items, work);
    ASSERT_TRUE(bound == most) << static_cast<double>(bound) << " for "
                               << static_cast<double>(most);
    const Int128 early =
        content_bound(drawn.machine.room(), drawn.items, {.labels = 2, .cells = 0});
    ASSERT_GE(early, most) << "after two labels";
    searched += early > most ? 1 : 0;
  }
  EXPECT_GT(searched, 500) << "too few searches to find a mistake";
}

TEST(ContentBound, never_exceeds_the_relaxation_whatever_the_labels) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const Drawn drawn = draw(dice);
    const MachineKnapsack knapsack(drawn.machine.room(), drawn.items);
    RelaxedKnapsack relaxed(knapsack);
    const Int128 least = least_relaxation(knapsack, relaxed, 5).bound;  // as with cells = 0
    const Int128 most = AllContents(drawn.machine, drawn.items).most();
    Int128 before = least;
    for (const std::size_t labels : {0U, 1U, 2U, 5U, 20U}) {
      const Int128 bound =
          content_bound(drawn.machine.room(), drawn.items, {.labels = labels, .cells = 0});
      EXPECT_LE(bound, before);
      before = bound;
    }
    for (std::size_t r = 0; r < kResources; ++r) {
      Multipliers any{};
      any[r] = dice.below(1000);
      relaxed.set(any);
      EXPECT_GE(relaxed.bound(), most);
    }
  }
}

/// Two tasks of 3 GPUs and 4 cores fill a machine of 8 GPUs and 8 cores; one of 5 GPUs and 5 cores
/// leaves no room for another. By multipliers alone the machine is worth more than 12.
TEST(ContentBound, counts_resources_in_whole_tasks) {
  const std::vector<KnapsackItem> items{{.price = 6, .devices = 3, .milli = 3000, .needs = {4}},
                                        {.price = 9, .devices = 5, .milli = 5000, .needs = {5}}};
  const Machine machine{8, {}, {8, kNoLimit, kNoLimit, kNoLimit}};
  const MachineKnapsack knapsack(machine.room(), items);
  RelaxedKnapsack relaxed(knapsack);
  EXPECT_GT(least_relaxation(knapsack, relaxed, 50).bound, 12);
  EXPECT_EQ(static_cast<int>(content_bound(machine.room(), items)), 12);
}

/// The workload has one task of the best shape.
TEST(ContentBound, takes_no_more_tasks_than_the_workload_has) {
  const std::vector<KnapsackItem> items{
      {.price = 6, .devices = 1, .milli = 1000, .needs = {4}, .copies = 1},
      {.price = 1, .devices = 1, .milli = 1000, .needs = {2}, .copies = 9}};
  const Machine machine{4, {}, {10, kNoLimit, kNoLimit, kNoLimit}};
  EXPECT_EQ(static_cast<int>(content_bound(machine.room(), items)), 9);
}

}  // namespace
}  // namespace berth::certify
