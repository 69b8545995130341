// SPDX-License-Identifier: Apache-2.0
// A run that ends after round k and is resumed by other ranks gives the plan of one that was never
// stopped, for every k. The stop is counted: so many rounds are allowed, the last one is kept.
#include "berth/pipeline/checkpoint.hpp"

#include "quick.hpp"
#include "with_petsc.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/base/archive.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/generate/generate.hpp"
#include "berth/solver/shard.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

model::Plan plan_on(const Communicator& comm, const model::Instance& instance,
                    const PlanOptions& options, const StopToken& stop = {}) {
  return test::plan_as_program(comm, instance, options, stop);
}

/// A quota for all jobs and two within it, that keep a part of the cluster idle.
void set_quotas(model::Instance& instance) {
  const std::int64_t gpus = instance.cluster.gpus();
  instance.cluster.queues = {
      {.name = "org", .gpu_quota = gpus * 25 / 32},
      {.name = "a", .gpu_quota = gpus * 45 / 256, .parent = QueueId(0)},
      {.name = "b", .gpu_quota = gpus * 5 / 32, .parent = QueueId(0), .over_quota_penalty = 0.5}};
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    instance.workload.jobs[j].queue = QueueId(j % 3);
  }
}

/// Rounds between two cuts: all are tried, but for the sanitizers' slow build.
constexpr int kEvery = test::kSanitized ? 4 : 1;

class Resumed : public berth::test::WithPetsc<> {
 protected:
  Resumed() {
    std::int64_t id = ::getpid();
    world.broadcast_value(id);
    path = (std::filesystem::temp_directory_path() / ("berth-checkpoint-" + std::to_string(id)))
               .string();
  }
  ~Resumed() override {
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove(path);
  }

  /// Keeps a checkpoint of the last of so many rounds, `offers` of offers and bids at most.
  void stop_after(const Communicator& comm, const model::Instance& instance, int round,
                  int offers = 1000) const {
    PlanOptions until = options;
    until.rounds.rounds = std::min(round, offers);
    until.rounds.regroups = std::max(0, round - offers);
    until.checkpoint.file = path;
    plan_on(comm, instance, until);
  }
  [[nodiscard]] model::Plan resume_on(const Communicator& comm,
                                      const model::Instance& instance) const {
    PlanOptions rest = options;
    rest.checkpoint.resume = path;
    return plan_on(comm, instance, rest);
  }

  void stop_everywhere(const model::Instance& instance, int regroups) const {
    const model::Plan whole = plan_on(world, instance, options);
    std::int64_t rounds =
        world.rank() == 0 ? static_cast<std::int64_t>(whole.stats.at("rounds")) : 0;
    world.broadcast_value(rounds);
    std::int64_t offers =
        std::ranges::count(whole.rounds, model::RoundKind::offers, &model::RoundRecord::kind);
    world.broadcast_value(offers);
    EXPECT_GE(offers, 2);  // else this test shows nothing
    EXPECT_EQ(rounds, offers + regroups);
    for (int k = 0; k <= rounds; k += kEvery) {
      SCOPED_TRACE(testing::Message() << "stopped after round " << k << " of " << rounds);
      stop_after(world, instance, k, static_cast<int>(offers));
      if (world.rank() == 0) expect_same(whole, resume_on(Communicator::serial(), instance));
      if (world.rank() == 0)
        stop_after(Communicator::serial(), instance, k, static_cast<int>(offers));
      expect_same(whole, resume_on(world, instance));
    }
  }

  static void expect_same(const model::Plan& whole, const model::Plan& resumed) {
    EXPECT_TRUE(resumed.reproducible);
    EXPECT_EQ(resumed.plan_digest, whole.plan_digest);
    EXPECT_EQ(resumed.proof_digest, whole.proof_digest);
  }

  /// Options of four passes, the fourth a new start, and an instance that leaves each a gap.
  model::Instance contended() {
    options.partition.shards = 2;
    options.gap = 0.0;
    options.bound_steps = 20;
    options.effort = 4;
    return generate::generate(generate::Preset::philly_like, {.gpus = 128, .seed = 5, .load = 1.3});
  }

  const Communicator world = Communicator::world();
  std::string path;
  PlanOptions options = test::quick_options();
};

TEST_F(Resumed, after_any_round_of_gangs_on_four_shards) {
  options.partition.shards = 4;
  options.rounds.regroups = 2;
  stop_everywhere(generate::generate_hetero({.gpus = 512, .seed = 11}), 2);
}

TEST_F(Resumed, after_any_round_with_bids_on_their_way) {
  options.partition.shards = 4;
  options.rounds.regroups = 1;
  options.rounds.depth = 2;
  stop_everywhere(generate::generate_hetero({.gpus = 512, .seed = 11}), 1);
}

TEST_F(Resumed, after_any_round_with_quotas_and_uplinks) {
  options.partition.shards = 4;
  options.rounds.regroups = 2;
  auto instance = generate::generate_hetero({.gpus = 512, .seed = 11});
  set_quotas(instance);
  for (auto& rack : instance.cluster.racks) rack.uplink_gbps = 25.0;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    model::Job& job = instance.workload.jobs[j];
    if (j % 2 == 0)
      job.communication = {.pattern = model::CommunicationPattern::ring, .mbps = 20000};
  }
  stop_everywhere(instance, 2);
}

/// Quotas dealt anew let shards place jobs that they have just offered: the bids on these no longer
/// count, and must not after a resume either.
TEST_F(Resumed, after_any_round_with_bids_that_no_longer_count) {
  options.partition.shards = 4;
  options.rounds.regroups = 0;
  options.rounds.depth = 2;
  auto instance = generate::generate_hetero({.gpus = 256, .seed = 1});
  set_quotas(instance);
  stop_everywhere(instance, 0);
}

TEST_F(Resumed, where_one_relaxation_served_all_shards) {
  options.partition.shards = 3;
  options.gap = 0.0;
  const auto instance = generate::generate(generate::Preset::openb_like, {.gpus = 256, .seed = 11});
  const model::Plan whole = plan_on(world, instance, options);
  stop_after(world, instance, 0);
  expect_same(whole, resume_on(world, instance));
}

TEST_F(Resumed, after_a_pass_of_effort) {
  if (world.size() > 2) GTEST_SKIP() << "plans six times; one and two ranks show it";
  const model::Instance instance = contended();
  const model::Plan whole = plan_on(world, instance, options);
  for (const int passes : {2, 3}) {
    if (test::kSanitized && passes == 2) continue;
    SCOPED_TRACE(passes);
    PlanOptions until = options;
    until.effort = passes;
    until.checkpoint.file = path;
    plan_on(world, instance, until);
    if (world.rank() == 0) expect_same(whole, resume_on(Communicator::serial(), instance));
    const model::Plan resumed = resume_on(world, instance);
    expect_same(whole, resumed);
    EXPECT_TRUE(resumed.rounds.empty()) << "repeats the rounds";
  }
}

TEST_F(Resumed, after_a_stop_cut_into_the_third_pass_of_effort) {
  if (world.size() != 2 || test::kSanitized) GTEST_SKIP() << "plans three times";
  const model::Instance instance = contended();
  if (world.rank() == 0) std::filesystem::remove(path);
  StopSource stop;
  stop.watch([&](std::int64_t question) {
    if (world.rank() != 0 || question % 64 != 0 || !std::filesystem::exists(path)) return false;
    return CheckpointInput(path).head().effort.pass == 2;
  });
  PlanOptions cut = options;
  cut.checkpoint.file = path;
  const model::Plan partial = plan_on(world, instance, cut, StopToken(stop));
  EXPECT_TRUE(world.rank() != 0 || !partial.reproducible);
  EXPECT_EQ(CheckpointInput(path).head().effort.pass, 2);
  expect_same(plan_on(world, instance, options), resume_on(world, instance));
}

TEST_F(Resumed, not_after_a_limit_cut_into_the_round) {
  options.partition.shards = 4;
  const auto instance = generate::generate_hetero({.gpus = 512, .seed = 11});
  if (world.rank() == 0) std::filesystem::remove(path);
  const StopSource now(StopSource::in_seconds(0.0));
  PlanOptions cut = options;
  cut.checkpoint.file = path;
  EXPECT_FALSE(plan_on(world, instance, cut, StopToken(now)).reproducible);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Resumed, not_with_other_options_or_another_instance) {
  options.partition.shards = 4;
  const auto instance = generate::generate_hetero({.gpus = 512, .seed = 11});
  stop_after(world, instance, 1);
  options.partition.shards = 5;
  EXPECT_THROW(static_cast<void>(resume_on(world, instance)), comm::AgreedError);
  options.partition.shards = 4;
  options.rounds.theta = 0.25;  // no flag of the program sets it
  EXPECT_THROW(static_cast<void>(resume_on(world, instance)), comm::AgreedError);
  options.rounds.theta = PlanOptions{}.rounds.theta;
  const auto other = generate::generate_hetero({.gpus = 512, .seed = 12});
  EXPECT_THROW(static_cast<void>(resume_on(world, other)), comm::AgreedError);
}

/// The digest is right, but no run wrote these states.
TEST_F(Resumed, not_from_a_state_that_contradicts_itself) {
  if (world.rank() != 0) GTEST_SKIP() << "one rank writes the file";
  const Communicator alone = Communicator::serial();
  options.partition.shards = 2;
  const auto instance = generate::generate_hetero({.gpus = 128, .seed = 11});
  stop_after(alone, instance, 1);
  CheckpointInput file(path);
  const Checkpoint head = file.head();
  std::vector<coordinator::ShardContents> parts;
  while (auto part = file.next()) parts.push_back(std::move(*part));
  const auto refusal = [&](const Checkpoint& c) -> std::string {
    CheckpointOutput forged(path, c);
    for (const auto& part : parts) forged.add(part);
    forged.commit();
    try {
      static_cast<void>(resume_on(alone, instance));
    } catch (const comm::AgreedError& error) {
      return error.what();
    }
    return "not refused";
  };
  EXPECT_EQ(refusal(head), "not refused");
  Checkpoint priced = head;
  priced.consensus.prices[0] = std::nan("");
  EXPECT_EQ(refusal(priced), path + ": has prices that no plan can have; start the plan anew");
  auto& [shard, bytes] = *parts.at(0).begin();
  const auto content = from_bytes<solver::ShardContent>(bytes);
  ASSERT_GE(content.placed.size(), 2u);
  const std::string contradiction =
      path + ": holds a state that contradicts itself; start the plan anew";
  solver::ShardContent twice = content;
  twice.placed[1].tasks = twice.placed[0].tasks;
  bytes = to_bytes(twice);
  EXPECT_EQ(refusal(head), contradiction);
  solver::ShardContent other_group = content;
  other_group.placed[0].tasks[0].group = 77;
  bytes = to_bytes(other_group);
  EXPECT_EQ(refusal(head), contradiction);
  solver::ShardContent again = content;
  again.placed[1] = again.placed[0];
  bytes = to_bytes(again);
  EXPECT_EQ(refusal(head), contradiction);
}

TEST_F(Resumed, not_from_a_pass_that_placed_what_jobs_do_not_have) {
  if (world.rank() != 0) GTEST_SKIP() << "one rank writes the file";
  const Communicator alone = Communicator::serial();
  const model::Instance instance = contended();
  PlanOptions until = options;
  until.effort = 2;
  until.checkpoint.file = path;
  plan_on(alone, instance, until);
  CheckpointInput file(path);
  const Checkpoint head = file.head();
  ASSERT_EQ(head.effort.pass, 2);
  model::Placement saved;
  while (auto part = file.next_placed()) std::ranges::move(*part, std::back_inserter(saved));
  const auto expect_refusal = [&](const model::Placement& placement) {
    CheckpointOutput forged(path, head);
    forged.add(placement);
    forged.commit();
    try {
      static_cast<void>(resume_on(alone, instance));
      ADD_FAILURE() << "not refused";
    } catch (const comm::AgreedError& error) {
      EXPECT_EQ(error.what(),
                path + ": holds a state that contradicts itself; start the plan anew");
    }
  };
  model::Placement other_group = saved;
  other_group[0].tasks[0].group = 77;
  expect_refusal(other_group);
  model::Placement one_more = saved;
  one_more[0].tasks.push_back(one_more[0].tasks[0]);
  expect_refusal(one_more);
  model::Placement again = saved;
  again[1] = again[0];
  expect_refusal(again);
}

}  // namespace
}  // namespace berth::pipeline
