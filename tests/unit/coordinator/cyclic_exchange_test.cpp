// SPDX-License-Identifier: Apache-2.0
// Jobs of different shards trade places.
#include "berth/coordinator/cyclic_exchange.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"

namespace berth::coordinator {
namespace {

TEST(DealKinds, keeps_a_kind_together_and_spreads_the_jobs) {
  const auto instance = generate::generate_hetero({.gpus = 1024, .jobs = 800, .seed = 3});
  const auto jobs = model::planned_jobs(instance.workload);
  const ProfilePartition partition(comm::Communicator::serial(), instance.workload,
                                   std::vector<std::vector<JobId>>{jobs}, 4);
  std::map<std::vector<std::pair<ShapeId, int>>, std::set<ShardId>> pieces;
  std::map<ShardId, std::size_t> load;
  for (const JobId job : jobs) {
    std::vector<std::pair<ShapeId, int>> kind;
    for (const auto& g : instance.workload.groups_of(instance.workload.job(job))) {
      kind.emplace_back(g.shape, g.count);
    }
    const ShardId piece = partition.piece_of(instance.workload, job, 0);
    pieces[kind].insert(piece);
    ++load[piece];
  }
  EXPECT_GT(pieces.size(), 20u);
  for (const auto& [kind, in] : pieces) EXPECT_EQ(in.size(), 1u);
  ASSERT_EQ(load.size(), 4u);
  for (const auto& [piece, in] : load) EXPECT_GT(in, jobs.size() / 5);
}

TEST(DealKinds, deals_the_kinds_of_each_block) {
  const auto instance = generate::generate_hetero({.gpus = 1024, .jobs = 800, .seed = 3});
  const auto jobs = model::planned_jobs(instance.workload);
  const ProfilePartition partition(comm::Communicator::serial(), instance.workload,
                                   std::vector<std::vector<JobId>>{jobs, jobs}, 4);
  std::map<ShardId, std::size_t> load;
  std::size_t apart = 0;  // jobs whose kind is in another piece in the other block
  for (const JobId job : jobs) {
    const ShardId first = partition.piece_of(instance.workload, job, 0);
    const ShardId second = partition.piece_of(instance.workload, job, 1);
    ++load[first];
    ++load[second];
    apart += first != second ? 1 : 0;
  }
  ASSERT_EQ(load.size(), 4u);
  for (const auto& [piece, in] : load) EXPECT_GT(in, 2 * jobs.size() / 5);
  EXPECT_GT(apart, jobs.size() / 2);
}

/// Every job is placed in a shard where others are at home.
TEST(TradeRound, sends_jobs_home_across_shards) {
  const auto comm = comm::Communicator::serial();
  auto instance = generate::generate_hetero({.gpus = 1024, .jobs = 4, .seed = 3});
  const planner_model::Valuation valuation(instance, model::Objective::value);
  const auto pools = planner_model::make_pools(instance.cluster, model::Level::rack);
  const auto shards = partition::split(instance.cluster, {.shards = 2});
  const auto owners = partition::own(instance.cluster, shards, 1);
  model::Workload& workload = instance.workload;
  std::vector<solver::Shard> mine;
  for (int s = 0; s < 2; ++s) {
    mine.emplace_back(ShardId(s), valuation, pools, shards.machines[static_cast<std::size_t>(s)],
                      solver::ShardOptions{});
  }
  // Four jobs like the first one: a pair of places, two away from home there and two that wait.
  workload.shapes.push_back({.gpus = 1});
  const auto group = static_cast<std::uint32_t>(workload.groups.size());
  workload.groups.push_back({.shape = ShapeId(workload.shapes.size() - 1), .count = 1});
  workload.factors.push_back({1.0, 1.0, 0.5, 0.5});
  std::vector<MachineId> places;
  for (int s = 0; s < 2; ++s) {
    const auto& machines = shards.machines[static_cast<std::size_t>(s)];
    places.push_back(*std::ranges::find_if(
        machines, [&](MachineId m) { return instance.cluster.class_of(m).gpus > 0; }));
  }
  const auto home = [&](std::size_t s) { return instance.cluster.machine_rack[places[s].index()]; };
  for (std::size_t j = 0; j < 4; ++j) {
    model::Job job;
    job.first_group = group;
    job.groups = 1;
    job.home_rack = home(1 - j % 2);
    job.home_factor = static_cast<std::uint32_t>(workload.factors.size() - 1);
    job.weight = j < 2 ? 2.0 : 1.0;
    workload.jobs[j] = job;
  }
  for (std::size_t s = 0; s < 2; ++s) {
    mine[s].restore({.placed = {{.job = JobId(s), .tasks = {{places[s], 0, 1, 1000}}}},
                     .unplaced = {JobId(2 + s)}});
  }
  model::Placement spanning;
  const double before = mine[0].value() + mine[1].value();
  auto jobs = JobRecords::of_replicated(comm, instance.workload);
  exchange_cyclically(comm, {valuation, shards, owners, pools, {}}, {mine, spanning, jobs});
  EXPECT_EQ(before, 2.0);
  EXPECT_EQ(mine[0].value() + mine[1].value(), 4.0);
  EXPECT_EQ(mine[0].placement().at(0).job, JobId(1));
  EXPECT_EQ(mine[1].placement().at(0).job, JobId(0));
  EXPECT_TRUE(mine[0].is_waiting(JobId(2)));
  EXPECT_TRUE(mine[1].is_waiting(JobId(3)));
  EXPECT_TRUE(spanning.empty());
}

}  // namespace
}  // namespace berth::coordinator
