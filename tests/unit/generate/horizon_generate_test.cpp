// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "berth/certify/horizon.hpp"
#include "berth/generate/horizon.hpp"

namespace berth::generate {
namespace {

TEST(ZeroWaste, cuts_the_whole_sheet_into_jobs) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const ZeroWaste sheet =
        generate_zero_waste({.gpus = 64, .length = 1'000, .jobs = 500, .seed = seed});
    EXPECT_EQ(sheet.problem.jobs.size(), 500U);
    EXPECT_TRUE(certify::check_on_pools(sheet.problem, sheet.optimum).empty());
    EXPECT_DOUBLE_EQ(cost_of(sheet.problem, sheet.optimum), -64.0 * 1'000.0);
  }
}

TEST(ZeroWaste, leaves_no_GPU_second_beside_windows) {
  const ZeroWaste sheet =
      generate_zero_waste({.gpus = 32, .length = 1'000, .jobs = 300, .seed = 5, .windows = 0.2});
  EXPECT_LT(sheet.problem.jobs.size(), 300U);
  EXPECT_TRUE(certify::check_on_pools(sheet.problem, sheet.optimum).empty());
  double open = 32.0 * 1'000.0;
  for (const auto& outage : sheet.problem.outages) {
    open -= static_cast<double>(outage.to - outage.from);
  }
  EXPECT_DOUBLE_EQ(cost_of(sheet.problem, sheet.optimum), -open);
}

TEST(GenerateHorizon, repeats_a_seed_and_changes_with_it) {
  const auto durations = [](std::uint64_t seed) {
    std::vector<horizon::Seconds> result;
    for (const auto& option :
         generate_horizon(HorizonPreset::big, {.jobs = 50, .seed = seed}).options) {
      result.push_back(option.duration);
    }
    return result;
  };
  EXPECT_EQ(durations(1), durations(1));
  EXPECT_NE(durations(1), durations(2));
}

TEST(GenerateHorizon, costs_never_fall) {
  const std::array rows{TraceRow{100, 1}, TraceRow{50'000, 16}, TraceRow{7, 12}};
  const auto problem = generate_horizon(
      HorizonPreset::philly, {.jobs = 300, .objective = HorizonObjective::sigmoid}, rows);
  for (const auto& option : problem.options) {
    const auto cost = problem.cost_of(option);
    for (std::size_t i = 1; i < cost.size(); ++i) {
      ASSERT_LT(cost[i - 1].after, cost[i].after);
      ASSERT_GE(cost[i - 1].slope, 0.0);
      ASSERT_LE(cost_at(cost, cost[i].after), cost[i].cost + 1e-9);
    }
  }
}

TEST(GenerateHorizon, has_the_GPUs_of_its_preset) {
  const auto gpus = [](HorizonPreset preset, bool outages) {
    const std::array rows{TraceRow{100, 1}};
    horizon::Gpus sum = 0;
    for (const auto& pool : generate_horizon(preset, {.jobs = 1, .outages = outages}, rows).pools) {
      sum += pool.capacity.back().gpus;
    }
    return sum;
  };
  EXPECT_EQ(gpus(HorizonPreset::philly, true), 2'490);  // all outages end
  EXPECT_EQ(gpus(HorizonPreset::kalos, false), 2'416);
  EXPECT_EQ(gpus(HorizonPreset::big, false), 32'768);
  EXPECT_EQ(gpus(HorizonPreset::huge, true), 32'768);
  EXPECT_EQ(gpus(HorizonPreset::queue, false), 2'496);
}

TEST(InstanceOf, keeps_machines_windows_durations_and_values) {
  const ZeroWaste sheet =
      generate_zero_waste({.gpus = 32, .length = 1'000, .jobs = 300, .seed = 5, .windows = 0.2});
  const model::Instance instance = instance_of(sheet.problem);
  EXPECT_EQ(instance.cluster.gpus(), 32);
  std::int64_t closed = 0;
  for (const model::Window& window : instance.cluster.windows) {
    for (const model::MachineRange& range : window.machines) {
      closed += (range.end - range.first) * (window.to - window.from);
    }
  }
  double value = 0.0;
  std::int64_t area = 0;
  for (const model::Job& job : instance.workload.jobs) {
    const std::int64_t gpus = instance.workload.gpu_milli(job) / 1000;
    value += job.weight * static_cast<double>(gpus);
    area += gpus * instance.workload.time_of(job).duration;
  }
  EXPECT_EQ(area + closed, 32 * 1'000);
  EXPECT_DOUBLE_EQ(value, -cost_of(sheet.problem, sheet.optimum));
}

TEST(InstanceOf, gives_the_slow_type_its_speed) {
  const horizon::Problem problem = generate_horizon(HorizonPreset::big, {.jobs = 50});
  const model::Instance instance = instance_of(problem);
  for (std::size_t j = 0; j < 50; ++j) {
    const model::Job& job = instance.workload.jobs[j];
    const auto options = problem.options_of(problem.jobs[j]);
    EXPECT_EQ(lists(job, GpuTypeId(1)), options.size() == 2);
    if (options.size() < 2) continue;
    const double slow =
        static_cast<double>(options[0].duration) / instance.workload.speed(job, GpuTypeId(1));
    EXPECT_NEAR(slow, static_cast<double>(options[1].duration), 1e-6);
  }
}

}  // namespace
}  // namespace berth::generate
