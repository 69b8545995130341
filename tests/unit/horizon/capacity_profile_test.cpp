// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/capacity_profile.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::horizon {
namespace {

/// One entry a second.
class SlowProfile {
 public:
  SlowProfile(std::size_t seconds, Gpus gpus) : free_(seconds, gpus) {}

  void reserve(Seconds from, Seconds to, Gpus gpus) {
    for (Seconds t = from; t < to; ++t) free_[static_cast<std::size_t>(t)] -= gpus;
  }
  [[nodiscard]] Gpus least_free(Seconds from, Seconds to) const {
    return *std::min_element(free_.begin() + from, free_.begin() + to);
  }
  [[nodiscard]] Seconds earliest_fit(Seconds from, Seconds duration, Gpus gpus) const {
    while (least_free(from, from + duration) < gpus) ++from;
    return from;
  }

 private:
  std::vector<Gpus> free_;
};

TEST(CapacityProfile, agrees_with_one_entry_a_second) {
  constexpr Seconds kSpan = 2000;
  constexpr Gpus kGpus = 50;
  CapacityProfile profile(std::array{CapacityStep{0, kGpus}});
  SlowProfile slow(4 * kSpan, kGpus);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto draw = [&](std::uint64_t purpose, Seconds bound) {
      return static_cast<Seconds>(random_below(static_cast<std::uint64_t>(bound), {7, i, purpose}));
    };
    const Seconds from = draw(0, kSpan), duration = 1 + draw(1, 60);
    const Gpus gpus = 1 + draw(2, kGpus);
    const Seconds start = profile.earliest_fit(from, duration, gpus);
    ASSERT_EQ(start, slow.earliest_fit(from, duration, gpus)) << "search " << i;
    const Seconds until = from + draw(3, 200);
    ASSERT_EQ(profile.earliest_fit(from, duration, gpus, until), start <= until ? start : kNever);
    ASSERT_EQ(profile.least_free(from, from + duration), slow.least_free(from, from + duration));
    if (start + duration > 2 * kSpan || gpus > kGpus / 4) continue;
    const Gpus taken = i % 7 == 0 ? -1 : gpus;  // some capacity comes back
    profile.reserve(start, start + duration, taken);
    slow.reserve(start, start + duration, taken);
  }
  EXPECT_GT(profile.steps(), 500U);  // several blocks
}

TEST(CapacityProfile, forgets_steps_that_change_nothing) {
  CapacityProfile profile(0, 8);
  for (Seconds t = 1; t < 1000; ++t) profile.reserve(t, t + 1000, 1);
  EXPECT_EQ(profile.steps(), 1000U + 999U);
  for (Seconds t = 1; t < 1000; ++t) profile.reserve(t, t + 1000, -1);
  EXPECT_EQ(profile.steps(), 1U);
  EXPECT_EQ(profile.next_step(0), kNever);
  profile.reserve(5, 10, 2);
  profile.reserve(10, 15, 2);
  EXPECT_EQ(profile.steps(), 3U);
}

TEST(CapacityProfile, finds_nothing_where_the_last_step_is_too_small) {
  const CapacityProfile profile(std::array{CapacityStep{0, 4}, CapacityStep{10, 2}});
  EXPECT_EQ(profile.earliest_fit(0, 10, 4), 0);
  EXPECT_EQ(profile.earliest_fit(1, 10, 4), kNever);
  EXPECT_EQ(profile.earliest_fit(1, 1000, 2), 1);
}

TEST(CapacityProfile, visits_the_steps_of_an_interval_cut_to_it) {
  const CapacityProfile profile(
      std::array{CapacityStep{0, 1}, CapacityStep{5, 2}, CapacityStep{9, 3}});
  std::vector<std::array<Seconds, 3>> visited;
  profile.for_each_step(3, 9, [&](Seconds from, Seconds to, Gpus free) {
    visited.push_back({from, to, free});
  });
  const std::vector<std::array<Seconds, 3>> expected{{3, 5, 1}, {5, 9, 2}};
  EXPECT_EQ(visited, expected);
  EXPECT_EQ(profile.next_step(5), 9);
  EXPECT_EQ(profile.next_step(9), kNever);
}

}  // namespace
}  // namespace berth::horizon
