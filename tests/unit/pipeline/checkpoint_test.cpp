// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/base/archive.hpp"
#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::pipeline {
namespace {

Checkpoint some_checkpoint() {
  Checkpoint c;
  c.instance_digest = "ab12";
  c.options = "objective=value shards=4";
  c.consensus = {
      .prices = {0.25, 1e-300, 3.0}, .limits = {0.5, 0.125}, .bound = 7.5, .evaluations = 81};
  c.configurations.jobs.resize(1);
  c.configurations.jobs[0].first.options = {{GpuTypeId(0), 2.0, {{1, 4.0}}}};
  c.configurations.prices = {{ShapeId(4), GpuTypeId(0), 0.75}};
  c.task_prices = {{}, {{ShapeId(2), GpuTypeId(1), 0.125}}};
  c.rounds = {.round = 5,
              .regroups = 2,
              .idle_rounds = 1,
              .shards = 4,
              .spanning = {{.job = JobId(9), .start = 0, .tasks = {{MachineId(3), 1, 0xF0, 1000}}}},
              .refusals = {{JobId(1), ShardId(2), 4}},
              .pending = {{.offers = {{JobId(6), ShardId(0), 2.5}},
                           .bids = {{JobId(6), ShardId(1), 1.5, 0}}}}};
  return c;
}

const std::vector<coordinator::ShardContents> kContents = {
    {{ShardId(0), "ab"}, {ShardId(1), ""}}, {}, {{ShardId(2), "c"}}};

void write(const std::string& path) {
  CheckpointOutput file(path, some_checkpoint());
  for (const auto& contents : kContents) file.add(contents);
  file.commit();
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() {
    const std::string name = "berth-checkpoint-unit-" + std::to_string(::getpid());
    path = (std::filesystem::temp_directory_path() / name).string();
    write(path);
  }
  ~CheckpointFile() override { std::filesystem::remove(path); }

  [[nodiscard]] std::string refusal_of(const std::string& text) const {
    std::ofstream(path, std::ios::binary) << text;
    return refusal([&] { CheckpointInput file(path); });
  }

  std::string path;
};

TEST_F(CheckpointFile, brings_back_what_was_written) {
  CheckpointInput file(path);
  const Checkpoint written = some_checkpoint(), read = file.head();
  EXPECT_EQ(read.instance_digest, written.instance_digest);
  EXPECT_EQ(read.options, written.options);
  EXPECT_EQ(read.consensus.prices, written.consensus.prices);
  EXPECT_EQ(read.consensus.limits, written.consensus.limits);
  EXPECT_EQ(read.consensus.bound, written.consensus.bound);
  EXPECT_EQ(read.consensus.evaluations, written.consensus.evaluations);
  EXPECT_EQ(read.configurations.jobs, written.configurations.jobs);
  ASSERT_EQ(read.configurations.prices.size(), 1u);
  EXPECT_EQ(read.configurations.prices[0].price, 0.75);
  ASSERT_EQ(read.task_prices.size(), 2u);
  ASSERT_EQ(read.task_prices[1].size(), 1u);
  EXPECT_EQ(read.task_prices[1][0].price, 0.125);
  ASSERT_EQ(read.rounds.spanning.size(), 1u);
  EXPECT_EQ(read.rounds.spanning[0].tasks, written.rounds.spanning[0].tasks);
  EXPECT_EQ(read.rounds.round, 5);
  EXPECT_EQ(read.rounds.regroups, 2);
  EXPECT_EQ(read.rounds.idle_rounds, 1);
  EXPECT_EQ(read.rounds.shards, 4);
  ASSERT_EQ(read.rounds.refusals.size(), 1u);
  EXPECT_EQ(read.rounds.refusals[0].shard, ShardId(2));
  ASSERT_EQ(read.rounds.pending.size(), 1u);
  ASSERT_EQ(read.rounds.pending[0].offers.size(), 1u);
  EXPECT_EQ(read.rounds.pending[0].offers[0].regret, 2.5);
  ASSERT_EQ(read.rounds.pending[0].bids.size(), 1u);
  EXPECT_EQ(read.rounds.pending[0].bids[0].shard, ShardId(1));
  for (const auto& contents : kContents) EXPECT_EQ(file.next(), contents);
  EXPECT_EQ(file.next(), std::nullopt);
  EXPECT_EQ(file.next(), std::nullopt);
}

TEST_F(CheckpointFile, is_refused_when_cut_anywhere_or_damaged) {
  const std::string whole = io::read_file(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_NE(refusal_of(whole.substr(0, size)), "not refused");
  }
  EXPECT_EQ(refusal_of(whole.substr(0, whole.size() - 1)),
            path + ": cut short or damaged; start the plan anew");
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  EXPECT_EQ(refusal_of(damaged), path + ": cut short or damaged; start the plan anew");
  EXPECT_EQ(refusal_of(whole), "not refused");
}

/// The digest is right; what it is of is no checkpoint, or one of more than there is.
TEST_F(CheckpointFile, is_refused_when_its_blocks_are_not_what_was_written) {
  const auto block = [](const std::string& bytes, std::uint64_t size) {
    return to_bytes(size) + bytes;
  };
  const std::string head = to_bytes(some_checkpoint());
  for (const std::string& body :
       {std::string("short"), block("abc", std::uint64_t{1} << 60), block("abc", 3),
        block(head.substr(1), head.size() - 1), block(head + "x", head.size() + 1)}) {
    const std::string text = checkpoint_header() + body;
    EXPECT_EQ(refusal_of(text + model::Sha256().text(text).hex()),
              path + ": not what this version of berth writes; start the plan anew");
  }
}

TEST_F(CheckpointFile, is_refused_when_it_is_something_else) {
  EXPECT_EQ(refusal_of("{\"schema\":1}\n"),
            path + ": not a checkpoint of berth; give a file that --checkpoint wrote");
  EXPECT_EQ(refusal_of("berth checkpoint 5\n" + std::string(64, 'a') + "\n"),
            path + ": a checkpoint of another build of berth; start the plan anew");
  std::string other_build = checkpoint_header();
  other_build[other_build.size() - 2] ^= 1;
  EXPECT_EQ(refusal_of(other_build + std::string(64, 'a')),
            path + ": a checkpoint of another build of berth; start the plan anew");
  EXPECT_EQ(refusal_of("berth checkpoint 99 " + std::string(64, 'a') + "\n"),
            path + ": a checkpoint of another build of berth; start the plan anew");
}

TEST_F(CheckpointFile, is_refused_where_it_cannot_be_read_twice) {
  EXPECT_EQ(refusal([] { CheckpointInput file("/dev/null"); }),
            "/dev/null: not a file, which could be read twice; copy it into one");
}

TEST_F(CheckpointFile, belongs_to_one_instance_and_its_options) {
  const Checkpoint c = some_checkpoint();
  expect_same_run("f", c, c.instance_digest, c.options);
  EXPECT_EQ(refusal([&] { expect_same_run("f", c, "cd34", c.options); }),
            "f: instance: made from other clusters or jobs than these; give the files of the "
            "interrupted run");
  EXPECT_EQ(refusal([&] { expect_same_run("f", c, "ab12", "objective=value shards=5"); }),
            "f: options: made with shards=4, now asked for shards=5; give the options of the "
            "interrupted run");
}

}  // namespace
}  // namespace berth::pipeline
