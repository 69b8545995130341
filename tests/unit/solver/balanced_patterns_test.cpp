// SPDX-License-Identifier: Apache-2.0
#include "patterns/balanced_patterns.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

constexpr std::size_t kSlot = 1;

BinType machines_of(int whole, std::vector<int> partial, std::int64_t cpu, std::int64_t count) {
  BinType bin{.slot = kSlot, .whole = whole, .partial = std::move(partial), .machines = {}};
  bin.room = model::machine_capacity({cpu, 1000});
  for (std::int64_t m = 0; m < count; ++m) bin.machines.emplace_back(static_cast<std::size_t>(m));
  return bin;
}

void add_type(PackingProblem& problem, model::Shape shape, std::size_t tasks, double value = 1.0,
              double reward = 0.0) {
  JobType type;
  type.shape = shape;
  type.value = {0.0, value + reward};
  type.reward = reward;
  type.jobs.assign(tasks, JobId(0));
  problem.types.push_back(std::move(type));
}

model::Shape gpus_and_cpu(int gpus, std::int64_t cpu) {
  model::Shape shape;
  shape.gpus = gpus;
  shape.needs = {cpu};
  return shape;
}

std::int64_t tasks_in(const Usage& usage) {
  std::int64_t sum = 0;
  for (const PatternUse& u : usage) {
    for (const TypeCount& t : u.pattern.tasks) sum += u.copies * t.count;
  }
  return sum;
}

/// Tasks of 4, 2 and 2 GPUs together take 8 GPUs and 92 % of the CPU of a machine. Large tasks
/// first, whatever their CPU, would leave GPUs without it.
TEST(BalancedPatterns, joins_tasks_of_much_and_of_little_cpu) {
  PackingProblem problem;
  problem.bins.push_back(machines_of(8, {}, 104, 40));
  for (std::uint64_t m = 0; m < 40; ++m) {
    const auto first = 10 + static_cast<std::int64_t>(random_below(40, {m, 1}));
    const auto second = 10 + static_cast<std::int64_t>(random_below(20, {m, 2}));
    add_type(problem, gpus_and_cpu(4, first), 1);
    add_type(problem, gpus_and_cpu(2, second), 1);
    add_type(problem, gpus_and_cpu(2, 96 - first - second), 1);
  }
  EXPECT_GE(tasks_in(balanced_patterns(problem, full_residual(problem))), 115);  // of 120
}

TEST(BalancedPatterns, keeps_devices_resources_demand_and_supply) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::uint64_t draws = 0;
    const auto below = [&](std::uint64_t bound) {
      return static_cast<std::int64_t>(random_below(bound, {seed, ++draws}));
    };
    PackingProblem problem;
    problem.bins.push_back(machines_of(4, {700, 300}, 20, 1 + below(5)));
    problem.bins.push_back(machines_of(2, {}, 12, 1 + below(5)));
    for (int t = 0; t < 6; ++t) {
      model::Shape shape = gpus_and_cpu(static_cast<int>(below(4)), 1 + below(6));
      if (shape.gpus == 0) shape.gpu_milli = static_cast<std::int32_t>(100 * (1 + below(7)));
      add_type(problem, shape, static_cast<std::size_t>(1 + below(9)));
    }
    ResidualProblem left = full_residual(problem);
    for (const PatternUse& u : balanced_patterns(problem, left)) {
      ASSERT_GT(u.copies, 0);
      ASSERT_LE(u.copies, copies_within(left, u.pattern));
      take(left, u.pattern, u.copies);
      const BinType& bin = problem.bins[static_cast<std::size_t>(u.pattern.bin)];
      std::int64_t cpu = 0, whole = bin.whole;
      for (const TypeCount& t : u.pattern.tasks) {
        const model::Shape& shape = problem.types[static_cast<std::size_t>(t.type)].shape;
        cpu += t.count * shape.needs[model::kCpu];
        whole -= t.count * shape.gpus;
      }
      for (const DeviceShares& d : u.pattern.devices) {
        std::int64_t used = 0;
        for (const TypeCount& t : d.shares) {
          used += t.count * problem.types[static_cast<std::size_t>(t.type)].shape.gpu_milli;
        }
        EXPECT_LE(used, d.capacity);
        whole -= d.capacity == 1000 ? 1 : 0;
      }
      EXPECT_LE(cpu, bin.room[model::kCpu]);
      EXPECT_GE(whole, 0);
    }
  }
}

TEST(BalancedPatterns, demands_required_tasks_then_the_most_valuable_ones) {
  PackingProblem problem;
  problem.bins.push_back(machines_of(8, {}, 100, 2));
  add_type(problem, gpus_and_cpu(1, 1), 20, 1.0);
  add_type(problem, gpus_and_cpu(2, 1), 3, 4.0);
  add_type(problem, gpus_and_cpu(1, 50), 4, 1.5);  // worth most a GPU, and least a CPU
  add_type(problem, gpus_and_cpu(4, 1), 1, 0.1, 100.0);
  const ResidualProblem wanted = most_valuable(problem, full_residual(problem));
  EXPECT_EQ(wanted.demand, (std::vector<std::int64_t>{3, 3, 3, 1}));
}

}  // namespace
}  // namespace berth::solver
