// SPDX-License-Identifier: Apache-2.0
// Oracle: the same on one rank.
#include "berth/coordinator/consensus.hpp"

#include "with_petsc.hpp"

#include <gtest/gtest.h>

#include "berth/coordinator/assign.hpp"
#include "berth/coordinator/coordinate.hpp"
#include "berth/coordinator/plan_shards.hpp"
#include "berth/generate/generate.hpp"

namespace berth::coordinator {
namespace {

class Coordinator : public berth::test::WithPetsc<> {};

TEST_F(Coordinator, consensus_prices_are_the_same_bits_on_every_rank_and_on_one) {
  const auto world = comm::Communicator::world();
  const auto instance = generate::generate_hetero({.gpus = 1024, .jobs = 2000, .seed = 5});
  const planner_model::Valuation valuation(instance, model::Objective::value);
  const auto pools = planner_model::make_pools(instance.cluster, model::Level::rack);
  const planner_model::CouplingLimits limits(instance, valuation.objective());
  const auto together = consensus(world, valuation, {pools, {instance, limits}});
  const auto gathered = world.all_gather_varying<double>(together.prices);
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    EXPECT_EQ(gathered[i], together.prices[i % pools.size()]);
  }
  if (world.rank() != 0) return;
  const auto alone =
      consensus(comm::Communicator::serial(), valuation, {pools, {instance, limits}});
  EXPECT_EQ(together.prices, alone.prices);
  EXPECT_EQ(together.bound, alone.bound);
  EXPECT_EQ(together.evaluations, alone.evaluations);
}

TEST_F(Coordinator, an_evaluation_costs_16_bytes_a_price_and_16_more) {
  const auto world = comm::Communicator::world().fresh();
  if (world.size() == 1) return;
  const auto instance = generate::generate_hetero({.gpus = 1024, .jobs = 2000, .seed = 5});
  const planner_model::Valuation valuation(instance, model::Objective::value);
  const auto pools = planner_model::make_pools(instance.cluster, model::Level::rack);
  const planner_model::CouplingLimits limits(instance, valuation.objective());
  const auto found = consensus(world, valuation, {pools, {instance, limits}});
  const auto prices = static_cast<std::int64_t>(pools.size());
  for (const comm::CallTraffic& call : world.stats_by_call()) {
    if (call.call == comm::Call::reduce) {
      EXPECT_EQ(call.messages, found.evaluations);
      EXPECT_EQ(call.bytes, world.rank() == 0 ? 0 : found.evaluations * 8 * (prices + 1));
    }
    if (call.call == comm::Call::broadcast && world.rank() == 0) {
      const std::int64_t stop_and_result = 8 * (prices + 1) + 8 * prices + 64;
      EXPECT_GE(call.bytes, found.evaluations * 8 * (prices + 1));
      EXPECT_LE(call.bytes, found.evaluations * 8 * (prices + 1) + stop_and_result);
    }
  }
}

/// Everything up to the rounds on `comm`; the placement on rank 0.
model::Placement coordinated(const comm::Communicator& comm,
                             const planner_model::Valuation& valuation,
                             const planner_model::Pools& pools, int shards, int rounds) {
  const auto& cluster = valuation.instance().cluster;
  const auto pieces = partition::split(cluster, {.shards = shards});
  const auto owners = partition::own(cluster, pieces, comm.size());
  const planner_model::CouplingLimits limits(valuation.instance(), valuation.objective());
  const auto prices = consensus(comm, valuation, {pools, {valuation.instance(), limits}});
  auto records = JobRecords::of_replicated(comm, valuation.instance().workload);
  const Decomposition decomposition{valuation, pieces, owners, pools, prices.prices};
  const auto jobs = assign(comm, decomposition, records);
  auto local = plan_shards(comm, decomposition, records, jobs, {});
  RoundOptions options;
  options.rounds = rounds;
  const auto done = coordinate(comm, decomposition, records, local.mine,
                               {options, {.run = {.gap = 0.0}}, {.spanning = jobs.spanning}});
  records.gather_to_root();
  return placements_at_home(comm, local.mine, done.spanning, records);
}

double value_of(const planner_model::Valuation& valuation, const model::Placement& placement) {
  double total = 0.0;
  for (const auto& p : placement) total += valuation.placed(p);
  return total;
}

TEST_F(Coordinator, rounds_gain_and_place_no_job_twice) {
  const auto world = comm::Communicator::world();
  const auto instance = generate::generate_hetero({.gpus = 1024, .jobs = 1500, .seed = 6});
  const planner_model::Valuation valuation(instance, model::Objective::value);
  const auto pools = planner_model::make_pools(instance.cluster, model::Level::rack);
  const auto before = coordinated(world, valuation, pools, 8, 0);
  const auto after = coordinated(world, valuation, pools, 8, 6);
  if (world.rank() != 0) return;
  EXPECT_GT(value_of(valuation, after), value_of(valuation, before));
  for (std::size_t i = 1; i < after.size(); ++i) EXPECT_LT(after[i - 1].job, after[i].job);
  planner_model::Room room(instance.cluster);  // taking everything fails when anything overlaps
  for (const auto& p : after) planner_model::take(room, instance.workload, p);
}

}  // namespace
}  // namespace berth::coordinator
