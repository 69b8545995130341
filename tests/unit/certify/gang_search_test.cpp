// SPDX-License-Identifier: Apache-2.0
// The judge's search over places of few gangs against all plans, and all choices of places.
#include "search/gang_search.hpp"

#include "exhaustive.hpp"
#include "random_tiny.hpp"
#include "search/gang_problem.hpp"
#include "tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::certify::search {
namespace {

constexpr model::Objective kValue = model::Objective::value;
constexpr int kScale = 30;
constexpr std::int64_t kSteps = 1'000'000;
constexpr std::size_t kManyGangs = 64;

/// The most that the gangs from `next` on gain in what is left; all choices are tried.
Int128 most_of_all(const GangProblem& problem, std::vector<std::int32_t>& left, std::size_t next) {
  if (next == problem.gangs.size()) return 0;
  const GangProblem::Gang& gang = problem.gangs[next];
  Int128 most = most_of_all(problem, left, next + 1);
  for (std::size_t p = 0; p < left.size(); ++p) {
    if (gang.gain[p] <= 0) continue;
    bool fits = true;
    const auto change = [&](std::int32_t units) {
      for (auto q = static_cast<std::int32_t>(p); q >= 0;
           q = problem.places[static_cast<std::size_t>(q)].above) {
        left[static_cast<std::size_t>(q)] += units;
        fits = fits && left[static_cast<std::size_t>(q)] >= 0;
      }
    };
    change(-gang.size);
    if (fits) most = std::max(most, gang.gain[p] + most_of_all(problem, left, next + 1));
    change(gang.size);
  }
  return most;
}

/// A pod with two racks, a pod without, and a type alone; every third problem has equal places.
GangProblem random_problem(std::uint64_t seed) {
  const auto draw = [&](std::uint64_t what, std::uint64_t which, int from, int to) {
    return from + static_cast<int>(random_unit({seed, what, which}) * (to - from + 1));
  };
  const bool equal = seed % 3 == 0;
  const int rack = draw(1, 0, 2, 5);
  GangProblem problem;
  problem.places = {{-1, 4 * rack - 1}, {0, 2 * rack}, {0, 2 * rack},
                    {1, rack},          {1, rack},     {-1, equal ? rack : draw(1, 1, 1, 6)}};
  for (std::uint64_t j = 0; j < 6; ++j) {
    GangProblem::Gang& gang = problem.gangs.emplace_back();
    gang.size = draw(2, equal ? j / 2 : j, 1, 6);
    for (std::uint64_t p = 0; p < problem.places.size(); ++p) {
      const int factor = p == 0 ? 7 : p < 3 ? 9 : 10;
      gang.gain.push_back(Int128{factor} * gang.size * draw(3, equal ? j / 2 : j, 10, 19));
      if (gang.size > problem.places[p].capacity || draw(4, 8 * j + p, 0, 5) == 0) {
        gang.gain.back() = 0;
      }
    }
  }
  return problem;
}

TEST(SearchOfGangs, is_the_best_choice_of_places) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const GangProblem problem = random_problem(seed);
    std::vector<std::int32_t> left;
    for (const auto& place : problem.places) left.push_back(place.capacity);
    const Int128 best = most_of_all(problem, left, 0);
    EXPECT_TRUE(most_of_gangs(problem, kSteps) == best) << seed;
    for (const std::int64_t steps : {0, 20, 200}) {  // any number proves a bound
      EXPECT_TRUE(most_of_gangs(problem, steps) >= best) << seed;
    }
  }
}

/// Random instances with shares, homes, running jobs, machines in use and rules: what gangs gain in
/// GPUs, whichever the limits, is never below what the best plan gains.
TEST(SearchOfGangs, is_never_below_the_best_plan) {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Dice dice(seed);
    const model::Instance instance = test::random_tiny(dice);
    const auto required = test::required_of(instance.workload);
    const auto best = test::best_plan(instance, kValue, required.by_job, 100'000);
    if (!best) continue;
    const auto problem = gang_problem(instance, kValue, kScale, kManyGangs);
    ASSERT_TRUE(problem.has_value());
    double stopped = 0.0;
    for (const model::Running& running : instance.workload.running) {
      stopped += running.pinned ? 0.0 : running.stop_cost;
    }
    const Int128 bound = problem->others + most_of_gangs(*problem, kSteps);
    EXPECT_GE(std::ldexp(static_cast<double>(bound), -kScale) - stopped, best->value - 1e-6);
    ++judged;
  }
  EXPECT_GT(judged, 100);
}

/// Two pods of 4 machines, of which one has a device in use: gangs of 8 GPUs a task leave it.
TEST(SearchOfGangs, counts_what_tasks_can_use) {
  test::Tiny tiny;
  const ClassId machine = tiny.machine_class("m", tiny.type("X"), 8, 64'000, 64'000);
  for (int pod = 0; pod < 2; ++pod) {
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < 4; ++m) tiny.machine(machine);
  }
  tiny.instance.cluster.immovable.push_back({.machine = MachineId(0), .devices = 1, .milli = 1000});
  for (const int tasks : {4, 4, 3}) {
    tiny[tiny.job({{.count = tasks, .gpus = 8}})].domain = model::Level::pod;
  }
  const auto problem = gang_problem(tiny.instance, kValue, kScale, kManyGangs);
  EXPECT_EQ(std::ldexp(static_cast<double>(most_of_gangs(*problem, kSteps)), -kScale), 56.0);
  EXPECT_FALSE(gang_problem(tiny.instance, kValue, kScale, 2).has_value());
}

}  // namespace
}  // namespace berth::certify::search
