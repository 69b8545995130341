// SPDX-License-Identifier: Apache-2.0
// An instance read by all ranks in small blocks is the one that one reader makes of the files, and
// what is wrong with a file is the same too. Oracle: io::read_instance.
#include "job_lines.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::pipeline {
namespace {

/// Files that rank 0 writes and all ranks know.
class Load : public testing::Test {
 protected:
  Load() {
    std::int64_t id = ::getpid();
    world.broadcast_value(id);
    const auto folder = std::filesystem::temp_directory_path();
    const std::string name = "berth-load-" + std::to_string(id);
    input = {.cluster = (folder / (name + ".yaml")).string(),
             .jobs = (folder / (name + ".jsonl")).string()};
    put(input.cluster, test::kBlockCluster);
  }
  ~Load() override {
    world.barrier();
    if (world.rank() != 0) return;
    for (const std::string& path : {input.cluster, input.jobs}) std::filesystem::remove(path);
  }

  void put(const std::string& path, const std::string& text) const {
    if (world.rank() != 0) return;
    io::write_atomically(path, [&](io::AtomicFile& file) { file.write(text); });
  }

  /// What one reader finds: a digest, or what is wrong.
  [[nodiscard]] std::string alone() const {
    std::string found;
    if (world.rank() == 0) {
      try {
        found = model::instance_digest(io::read_instance(input.cluster, input.jobs));
      } catch (const InputError& error) {
        found = error.what();
      }
    }
    world.broadcast_string(found);
    return found;
  }

  /// Every job is at home on one rank, which has no others but pinned ones.
  void expect_homes_alone(const model::Workload& workload,
                          const coordinator::JobRecords& jobs) const {
    const std::vector<JobId> here = model::planned_jobs(workload);
    EXPECT_EQ(jobs.home_jobs(), world.size() > 1 ? here : jobs.home_jobs());
    const auto pinned = std::ranges::count_if(workload.running, &model::Running::pinned);
    EXPECT_EQ(world.sum(std::ssize(jobs.home_jobs())), std::ssize(workload.position) > 0
                                                           ? std::ssize(workload.position) - pinned
                                                           : std::ssize(here));
  }

  /// What all ranks find; only rank 0 has the names that a digest needs.
  [[nodiscard]] std::string together(std::size_t block_bytes) const {
    try {
      model::Instance instance = load_instance(world, input, block_bytes);
      coordinator::JobRecords jobs(world, instance.workload);
      expect_homes_alone(instance.workload, jobs);
      jobs.gather_to_root();
      std::string digest;
      if (world.rank() == 0) digest = model::instance_digest(instance);
      world.broadcast_string(digest);
      return digest;
    } catch (const comm::AgreedError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
      return error.what();
    }
  }

  comm::Communicator world = comm::Communicator::world();
  Input input;
};

TEST_F(Load, is_what_one_reader_makes_of_the_files) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    test::Dice dice(seed);
    input.jobs += seed == 2 ? ".gz" : "";
    put(input.jobs, test::JobLines(dice, 0).text(120));
    const std::string expected = alone();
    EXPECT_EQ(expected.size(), 64U) << expected;
    for (const std::size_t bytes : {64, 1000, 1 << 18}) {
      for (const int threads : {1, 2}) {
        const parallel::ThreadLimit limit(threads);
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << bytes);
        EXPECT_EQ(together(bytes), expected);
      }
    }
  }
}

TEST_F(Load, tells_all_ranks_the_jobs_of_windows_and_those_that_end_before) {
  const std::string cluster(test::kBlockCluster);
  put(input.cluster, cluster.substr(0, cluster.rfind('}')) +
                         ", windows: [{machines: m0, from: 1, to: 2, kind: reservation, "
                         "for: {jobs: [j7, j2]}}]}");
  std::string text;
  for (int j = 0; j < 9; ++j) {
    text += R"({"tasks":[{}],"duration":5,"id":"j)" + std::to_string(j) + '"';
    text += (j == 3 ? R"(,"after":["j8","j1"])" : "") + std::string("}\n");
  }
  put(input.jobs, text);
  EXPECT_EQ(together(64), alone());
  const model::Instance instance = load_instance(world, input, 64);
  EXPECT_EQ(instance.cluster.windows.at(0).job_ids, (std::vector<JobId>{JobId(2), JobId(7)}));
  EXPECT_EQ(instance.workload.dependencies,
            (std::vector<model::Dependency>{{JobId(3), JobId(1)}, {JobId(3), JobId(8)}}));
  EXPECT_EQ(instance.workload.time_rules.size(), 2U);
}

TEST_F(Load, finds_the_first_fault_that_one_reader_finds) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    test::Dice dice(seed);
    put(input.jobs, test::JobLines(dice, dice.one_of({1, 4, 20})).text(80));
    const std::string expected = alone();
    for (const std::size_t bytes : {64, 700}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << bytes);
      EXPECT_EQ(together(bytes), expected);
    }
  }
}

TEST_F(Load, of_no_jobs_and_of_one_line) {
  for (const char* text : {"", "\n\n", "{\"id\":\"a\",\"tasks\":[{}]}", "{\"id\":\"a\"}"}) {
    put(input.jobs, text);
    EXPECT_EQ(together(64), alone()) << text;
  }
}

/// A bad line before the damage is met first.
TEST_F(Load, of_damaged_gzip_tells_of_bad_lines_before_the_damage) {
  input.jobs += ".gz";
  for (const std::string first : {"{\"id\":\"a\",\"tasks\":[{}]}\n", "{}\n"}) {
    test::Dice dice(7);
    put(input.jobs, first + test::JobLines(dice, 0).text(400));
    if (world.rank() == 0) {
      std::filesystem::resize_file(input.jobs, std::filesystem::file_size(input.jobs) / 2);
    }
    const std::string found = together(256);
    if (first == "{}\n") {
      EXPECT_TRUE(found.ends_with(".jsonl.gz:1: id: is missing")) << found;
    } else {
      EXPECT_NE(found.find("truncated gzip"), found.npos) << found;
    }
  }
}

TEST_F(Load, of_a_file_that_is_missing_fails_on_all_ranks) {
  input.jobs += ".gone";
  EXPECT_EQ(together(64), alone());
}

}  // namespace
}  // namespace berth::pipeline
