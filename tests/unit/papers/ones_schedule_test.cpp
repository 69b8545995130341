// SPDX-License-Identifier: Apache-2.0
// Operators of ONES on drawn schedules, and its order of jobs against all orders.
#include "berth/papers/ones_schedule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

constexpr std::size_t kGpus = 16;

/// Eight jobs, the last of which has ended.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : views(8) {
    for (std::size_t j = 0; j + 1 < views.size(); ++j) {
      OnesView& view = views[j];
      view.limit = 1 + static_cast<std::int32_t>(random_below(4, {seed, j, 0}));
      view.predicted = random_below(3, {seed, j, 1}) > 0;
      view.offered = 1 + static_cast<std::int32_t>(
                             random_below(static_cast<std::uint64_t>(view.limit), {seed, j, 2}));
      view.remaining = 1.0 + 100.0 * random_unit({seed, j, 3});
      for (std::int32_t c = 0; c <= view.limit; ++c) view.throughput.push_back(c / (1.0 + 0.1 * c));
      active.push_back(static_cast<std::int32_t>(j));
    }
    for (std::size_t i = 0; i < kGpus; ++i)
      any.push_back(static_cast<std::int32_t>(random_below(9, {seed, 9, i})) - 1);
  }
  [[nodiscard]] OnesJobs jobs() const { return {views, active}; }
  std::vector<OnesView> views;
  std::vector<std::int32_t> active;
  OnesSchedule any;
};

void expect_within_limits(const OnesSchedule& schedule, const Drawn& drawn) {
  const auto gpus = gpus_by_job(schedule, drawn.views.size());
  for (std::size_t j = 0; j < gpus.size(); ++j) EXPECT_LE(gpus[j], drawn.views[j].limit) << j;
}

TEST(OnesOperators, refresh_removes_ended_jobs_and_cuts_to_limits_only) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Drawn drawn(seed);
    OnesSchedule schedule = drawn.any;
    refresh(schedule, drawn.jobs());
    const auto before = gpus_by_job(drawn.any, 8), after = gpus_by_job(schedule, 8);
    for (std::size_t j = 0; j < 8; ++j)
      EXPECT_EQ(after[j], std::min(before[j], drawn.views[j].limit));
  }
}

TEST(OnesOperators, padded_schedules_are_full_or_no_job_can_grow) {
  bool full = false, room = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Drawn drawn(seed);
    OnesSchedule schedule = drawn.any;
    refresh(schedule, drawn.jobs());
    const OnesSchedule before = schedule;
    pad(schedule, drawn.jobs());
    expect_within_limits(schedule, drawn);
    for (std::size_t i = 0; i < kGpus; ++i) {
      EXPECT_TRUE(before[i] == kFreeGpu || schedule[i] == before[i]);
    }
    if (std::ranges::count(schedule, kFreeGpu) == 0) {
      full = true;
      continue;
    }
    room = true;
    const auto gpus = gpus_by_job(schedule, 8);
    for (std::size_t j = 0; j < 8; ++j) EXPECT_EQ(gpus[j], drawn.views[j].limit);
  }
  EXPECT_TRUE(full && room);
}

TEST(OnesOperators, new_jobs_come_first_then_the_shortest_up_to_its_offer) {
  std::vector<OnesView> views(3);
  views[0] = {.limit = 4, .offered = 2, .predicted = true, .remaining = 10, .throughput = {0, 1}};
  views[1] = {.limit = 3, .offered = 2, .predicted = true, .remaining = 5, .throughput = {0, 1}};
  views[2] = {.limit = 1, .offered = 1};
  const std::vector<std::int32_t> active{0, 1, 2};
  OnesSchedule schedule(6, kFreeGpu);
  pad(schedule, {views, active});
  EXPECT_EQ(schedule, (OnesSchedule{2, 1, 1, 0, 0, 1}));
}

TEST(OnesOperators, probability_zero_changes_nothing_and_one_swaps_or_drops_all) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Drawn drawn(seed);
    OnesSchedule parent = drawn.any, other = Drawn(seed + 100).any;
    refresh(parent, drawn.jobs());
    refresh(other, drawn.jobs());
    OnesSchedule a = parent, b = other;
    cross(a, b, drawn.jobs(), 0.0, {.seed = seed});
    EXPECT_EQ(a, parent);
    EXPECT_EQ(b, other);
    cross(a, b, drawn.jobs(), 1.0, {.seed = seed});
    EXPECT_EQ(a, other);
    EXPECT_EQ(b, parent);
    mutate(b, drawn.jobs(), 0.0, {.seed = seed});
    EXPECT_EQ(b, parent);
    mutate(b, drawn.jobs(), 1.0, {.seed = seed});
    for (std::size_t i = 0; i < kGpus; ++i) {
      const bool kept =
          parent[i] != kFreeGpu && !drawn.views[static_cast<std::size_t>(parent[i])].predicted;
      EXPECT_EQ(b[i], kept ? parent[i] : kFreeGpu);
    }
  }
}

TEST(OnesOperators, children_stay_within_limits) {
  bool cut = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Drawn drawn(seed);
    OnesSchedule a = drawn.any, b = Drawn(seed + 100).any;
    refresh(a, drawn.jobs());
    refresh(b, drawn.jobs());
    const auto free = std::ranges::count(a, kFreeGpu) + std::ranges::count(b, kFreeGpu);
    cross(a, b, drawn.jobs(), 0.5, {.seed = seed});
    expect_within_limits(a, drawn);
    expect_within_limits(b, drawn);
    cut |= std::ranges::count(a, kFreeGpu) + std::ranges::count(b, kFreeGpu) > free;
  }
  EXPECT_TRUE(cut);
}

/// Least replaced GPUs over all orders and all places of free GPUs.
std::int32_t least_replaced(const OnesSchedule& schedule, const OnesSchedule& current) {
  std::vector<std::int32_t> items;  // a job stands for all its GPUs
  for (const std::int32_t job : schedule) {
    if (job == kFreeGpu || std::ranges::find(items, job) == items.end()) items.push_back(job);
  }
  std::ranges::sort(items);
  const auto gpus = gpus_by_job(schedule, 8);
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  do {
    OnesSchedule line;
    for (const std::int32_t job : items)
      line.insert(line.end(), job == kFreeGpu ? 1 : gpus[static_cast<std::size_t>(job)], job);
    least = std::min(least, replaced_gpus(current, line));
  } while (std::ranges::next_permutation(items).found);
  return least;
}

TEST(OnesReorder, jobs_are_contiguous_and_mostly_moved_as_little_as_possible) {
  int best = 0;
  constexpr int kCases = 200;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    OnesSchedule schedule, current;
    for (std::uint64_t i = 0; i < 8; ++i) {
      schedule.push_back(static_cast<std::int32_t>(random_below(6, {seed, 0, i})) - 1);
      current.push_back(static_cast<std::int32_t>(random_below(6, {seed, 1, i})) - 1);
    }
    current = reorder(current, OnesSchedule(8, kFreeGpu));  // as every schedule that runs
    const OnesSchedule ordered = reorder(schedule, current);
    EXPECT_EQ(gpus_by_job(ordered, 8), gpus_by_job(schedule, 8));
    std::set<std::int32_t> seen;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      if (ordered[i] == kFreeGpu || (i > 0 && ordered[i - 1] == ordered[i])) continue;
      EXPECT_TRUE(seen.insert(ordered[i]).second) << "job in two pieces";
    }
    const std::int32_t least = least_replaced(schedule, current);
    EXPECT_GE(replaced_gpus(current, ordered), least);
    best += replaced_gpus(current, ordered) == least ? 1 : 0;
  }
  EXPECT_GE(best, kCases * 3 / 4);
  RecordProperty("best", best);
}

TEST(OnesReorder, a_contiguous_schedule_that_runs_is_kept) {
  const OnesSchedule current{2, 2, 0, 0, 0, kFreeGpu, 1, 1};
  EXPECT_EQ(replaced_gpus(current, reorder(current, current)), 0);
  OnesSchedule without = current;
  std::ranges::replace(without, 2, 3);
  EXPECT_EQ(replaced_gpus(current, reorder(without, current)), 2);
}

TEST(OnesScore, is_gpu_seconds_left_of_predicted_jobs) {
  std::vector<OnesView> views(2);
  views[0] = {
      .limit = 2, .offered = 2, .predicted = true, .remaining = 30, .throughput = {0, 2, 3}};
  views[1] = {.limit = 1, .offered = 1};
  const std::vector<std::int32_t> active{0, 1};
  EXPECT_EQ(score({0, 0, 1}, {views, active}), 2 * 30 / 3.0);
  EXPECT_EQ(score({0, 1, kFreeGpu}, {views, active}), 15.0);
}

TEST(OnesEvolution, the_best_score_never_rises_while_predictions_stay) {
  const Drawn drawn(7);
  std::vector<OnesSchedule> population, again;
  const OnesSchedule idle(kGpus, kFreeGpu);
  double best = std::numeric_limits<double>::infinity();
  for (std::uint64_t generation = 0; generation < 30; ++generation) {
    evolve(population, drawn.jobs(), idle, {}, {.seed = 3, .generation = generation});
    ASSERT_EQ(population.size(), 16U);
    for (const OnesSchedule& schedule : population) expect_within_limits(schedule, drawn);
    EXPECT_LE(score(population.front(), drawn.jobs()), best);
    best = score(population.front(), drawn.jobs());
  }
  for (std::uint64_t generation = 0; generation < 30; ++generation)
    evolve(again, drawn.jobs(), idle, {}, {.seed = 3, .generation = generation});
  EXPECT_EQ(again, population);
}

}  // namespace
}  // namespace berth::papers
