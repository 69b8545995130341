// SPDX-License-Identifier: Apache-2.0
// The judge's search over all placements against all plans, and on instances by hand.
#include "exhaustive.hpp"
#include "one_rack.hpp"
#include "random_tiny.hpp"
#include "search/best_first_bound.hpp"

#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/gap_parts.hpp"

namespace berth::certify {
namespace {

constexpr model::Objective kValue = model::Objective::value;
constexpr int kScale = 30;
constexpr std::int64_t kSteps = 100'000;

struct JudgesSearch : test::OneRack {
  [[nodiscard]] double bound(std::int64_t steps = kSteps, std::vector<JobId> required = {}) const {
    const auto found =
        search::best_first_bound(tiny.instance, kValue, kScale, required, steps).value();
    return std::ldexp(static_cast<double>(found), -kScale);
  }
};

TEST_F(JudgesSearch, knows_that_gangs_are_whole) {
  add_machines(6);
  for (const int machines : {4, 4, 3}) tiny.job({{.count = machines, .gpus = 8}});
  EXPECT_EQ(bound(), 32.0);
  EXPECT_GE(bound(1), 32.0);  // any number of steps proves a bound
}

TEST_F(JudgesSearch, keeps_gangs_in_their_racks) {
  add_machines(2);
  tiny.rack();
  add_machines(2);
  tiny[tiny.job({{.count = 3, .gpus = 8}})].domain = model::Level::rack;
  tiny.job({{.count = 2, .gpus = 6}});
  EXPECT_EQ(bound(), 12.0);
}

TEST_F(JudgesSearch, places_what_a_plan_must_place) {
  add_machines(4);
  tiny[tiny.job({{.gpus = 8}})].value = 0.0;
  tiny.job({{.count = 4, .gpus = 8}});
  tiny.job({{.count = 3, .gpus = 8}});
  EXPECT_EQ(bound(), 32.0);
  EXPECT_EQ(bound(kSteps, {JobId(0)}), 24.0);
}

TEST_F(JudgesSearch, counts_cpu_and_shares_by_device) {
  add_machines(1);
  tiny[tiny.job({{.gpus = 2, .cpu_milli = 40'000}})].value = 4.0;
  tiny[tiny.job({{.count = 3, .gpus = 2, .cpu_milli = 24'000}})].value = 3.0;
  EXPECT_EQ(bound(), 4.0);
  tiny[tiny.job({{.count = 7, .gpu_milli = 600}})].value = 5.0;
  EXPECT_EQ(bound(), 5.0);  // 7 shares leave one whole device
}

TEST_F(JudgesSearch, is_a_part_of_the_bound) {
  add_machines(6);
  for (const int machines : {4, 4, 3}) tiny.job({{.count = machines, .gpus = 8}});
  model::Certificate prices;
  prices.scale_log2 = kScale;
  EXPECT_EQ(upper_bound(tiny.instance, kValue, prices, {}).value, 88.0);
  prices.search_steps = kSteps;
  EXPECT_EQ(upper_bound(tiny.instance, kValue, prices, {}).value, 32.0);
  const model::Figures figures{.objective = 24.0, .upper_bound = 32.0};
  const model::GapParts parts = gap_parts(tiny.instance, kValue, {}, prices, figures);
  EXPECT_EQ(parts.basis, model::BoundBasis::search);
  EXPECT_EQ(parts.leaves, 8.0);
  prices.search_steps = -1;
  EXPECT_NE(unusable(tiny.instance, kValue, prices), "");
}

/// Limits of racks and pods are left out, and shares that fill more than the room of one device
/// may have too many states; everything else is exact.
TEST(JudgesSearchOnRandomInstances, is_never_below_the_optimum_and_mostly_equal) {
  int judged = 0, equal = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const model::Instance instance = test::random_tiny(dice);
    const auto required = test::required_of(instance.workload);
    const auto best = test::best_plan(instance, kValue, required.by_job, 100'000);
    if (!best) continue;
    model::Certificate prices;
    prices.scale_log2 = kScale;
    prices.search_steps = kSteps;
    const Bound bound = upper_bound(instance, kValue, prices, required.jobs);
    if (!bound.search) continue;
    ++judged;
    const double proved = std::ldexp(static_cast<double>(*bound.search), -kScale);
    EXPECT_GE(proved, best->value - 1e-6);
    equal += proved <= best->value + 1e-6 ? 1 : 0;
  }
  EXPECT_GT(judged, 140);
  EXPECT_GT(equal, judged * 9 / 10);
}

}  // namespace
}  // namespace berth::certify
