// SPDX-License-Identifier: Apache-2.0
#include "tiny.hpp"

#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "berth/speed/static_duration.hpp"
#include "berth/speed/throughput_table.hpp"

namespace berth::speed {
namespace {

constexpr GpuTypeId kV100{0};
constexpr GpuTypeId kK80{1};

ThroughputTable table() {
  return ThroughputTable({{kV100, 4, 1, 24.0},
                          {kV100, 1, 0, 10.0},
                          {kV100, 4, 0, 36.0},
                          {kV100, 2, 0, 20.0},
                          {kK80, 2, 0, 5.0},
                          {kK80, 4, 0, 0.0}});
}

TEST(ThroughputTable, has_what_was_measured) {
  EXPECT_EQ(table().at(kV100, 1, 0), 10.0);
  EXPECT_EQ(table().at(kV100, 4, 0), 36.0);
  EXPECT_EQ(table().at(kV100, 4, 1), 24.0);
  EXPECT_EQ(table().at(kV100, 4, 3), 24.0);  // more machines than any row
  EXPECT_EQ(table().at(kV100, 2, 1), 20.0);  // spread not measured
}

TEST(ThroughputTable, is_linear_between_numbers_of_gpus) {
  EXPECT_EQ(table().at(kV100, 3, 0), 28.0);
  EXPECT_EQ(table().at(kV100, 3, 1), 22.0);
  EXPECT_EQ(table().at(kV100, 8, 0), 36.0);  // more GPUs than any row
  EXPECT_EQ(table().at(kK80, 1, 0), 2.5);    // fewer than any row
}

TEST(ThroughputTable, of_what_does_not_fit_is_zero) {
  EXPECT_EQ(table().at(kK80, 4, 0), 0.0);
  EXPECT_EQ(table().at(kK80, 3, 0), 0.0);
  EXPECT_EQ(table().at(GpuTypeId(2), 1, 0), 0.0);
}

TEST(ThroughputTable, refuses_bad_rows) {
  using Rows = std::vector<ThroughputRow>;
  EXPECT_THROW(ThroughputTable(Rows{}), std::invalid_argument);
  EXPECT_THROW(ThroughputTable(Rows{{kK80, 1, 0, 0.0}}), std::invalid_argument);
  EXPECT_THROW(ThroughputTable(Rows{{kK80, 1, 0, -1.0}}), std::invalid_argument);
  EXPECT_THROW(ThroughputTable(Rows{{kK80, 1, 0, std::numeric_limits<double>::quiet_NaN()}}),
               std::invalid_argument);
  EXPECT_THROW(ThroughputTable(Rows{{kK80, 0, 0, 1.0}}), std::invalid_argument);
  EXPECT_THROW(ThroughputTable(Rows{{kK80, 1, 0, 1.0}, {kK80, 1, 0, 1.0}}), std::invalid_argument);
  EXPECT_THROW(ThroughputTable(Rows{{kK80, 2, 0, 1.0}, {kK80, 2, 1, 2.0}}), std::invalid_argument);
}

/// Three V100 machines of 4 GPUs; two jobs.
struct Cluster : test::Tiny {
  Cluster() {
    const ClassId c = machine_class("v", type("V100"), 4, 0, 0);
    pod();
    rack();
    for (int i = 0; i < 3; ++i) machine(c);
    job({{.gpus = 4}});
    job({{.gpus = 4}});
    instance.workload.speed_types = 1;
    instance.workload.speeds = {1.0, 1.5};
    instance.workload.jobs[1].speed = 1;
    instance.workload.time_rules.push_back({.duration = 60});
    instance.workload.jobs[1].time = 1;
  }
};

Rate rate_of(const Model& model, int job, const std::vector<MachineTasks>& machines) {
  const std::vector<RunningJob> running{
      {.job = JobId(job), .gpu_type = kV100, .machines = machines}};
  std::vector<Rate> rates(1);
  model.rates(running, rates);
  return rates[0];
}

std::vector<MachineTasks> on_machines(const std::vector<int>& gpus) {
  std::vector<MachineTasks> machines;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    machines.push_back({.machine = MachineId(i), .workers = gpus[i], .gpus = gpus[i]});
  }
  return machines;
}

TEST(ThroughputModel, counts_machines_beyond_the_fewest) {
  const Cluster cluster;
  const StaticDuration others(cluster.instance.workload);
  const std::vector<ThroughputTable> tables{table()};
  const std::vector<JobThroughput> jobs{{.table = 0, .reference = 12.0}, {}};
  const ThroughputModel model(cluster.instance.cluster, tables, jobs, others);
  EXPECT_FALSE(model.coupled());
  EXPECT_EQ(rate_of(model, 0, on_machines({4})).per_second, 3.0);
  EXPECT_EQ(rate_of(model, 0, on_machines({2, 2})).per_second, 2.0);
  EXPECT_EQ(rate_of(model, 0, on_machines({4, 4})).per_second, 3.0);  // the fewest for 8 GPUs
  EXPECT_EQ(rate_of(model, 0, on_machines({4, 2, 2})).per_second, 2.0);
  EXPECT_EQ(rate_of(model, 1, on_machines({2, 2})).per_second, 1.5);  // no table
}

TEST(ThroughputModel, limits_are_wall_time_on_every_type) {
  const Cluster cluster;
  model::Instance limited = cluster.instance;
  limited.workload.jobs[1].time = 0;  // no duration: runs to its limit
  const StaticDuration speeds(limited.workload);
  EXPECT_EQ(rate_of(speeds, 1, on_machines({2, 2})).per_second, 1.0);
}

TEST(ThroughputModel, refuses_jobs_without_a_reference) {
  const Cluster cluster;
  const StaticDuration others(cluster.instance.workload);
  const std::vector<ThroughputTable> tables{table()};
  const std::vector<JobThroughput> zero{{.table = 0, .reference = 0.0}};
  const std::vector<JobThroughput> unknown{{.table = 1, .reference = 1.0}};
  EXPECT_THROW(ThroughputModel(cluster.instance.cluster, tables, zero, others),
               std::invalid_argument);
  EXPECT_THROW(ThroughputModel(cluster.instance.cluster, tables, unknown, others),
               std::invalid_argument);
}

TEST(StaticDuration, has_speeds_of_types_and_configurations) {
  Cluster cluster;
  model::Workload& workload = cluster.instance.workload;
  workload.configurations.push_back({{.counts = {1}, .speed = 0.5}, {.counts = {2}, .speed = 0.8}});
  workload.time_rules.push_back({.duration = 60, .configurations = 1});
  workload.jobs[1].time = static_cast<std::uint32_t>(workload.time_rules.size()) - 1;
  const StaticDuration model(workload);
  const auto machines = on_machines({4});
  std::vector<RunningJob> running{{.job = JobId(0), .gpu_type = kV100, .machines = machines},
                                  {.job = JobId(1), .gpu_type = kV100, .machines = machines},
                                  {.job = JobId(1), .gpu_type = {}, .machines = machines}};
  running[1].configuration = 1;
  std::vector<Rate> rates(3);
  model.rates(running, rates);
  EXPECT_EQ(rates[0].per_second, 1.0);
  EXPECT_EQ(rates[1].per_second, 1.5 * 0.8);
  EXPECT_EQ(rates[2].per_second, 1.0);
}

}  // namespace
}  // namespace berth::speed
