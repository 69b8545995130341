// SPDX-License-Identifier: Apache-2.0
// A plan in parts is written and named as the whole plan would be. Oracle: io::plan_text and the
// digests of the whole, on rank 0.
#include "berth/pipeline/write_plan.hpp"

#include "quick.hpp"
#include "with_petsc.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "berth/comm/error.hpp"
#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/policy/generate.hpp"

namespace berth::pipeline {
namespace {

class WritePlan : public berth::test::WithPetsc<> {
 protected:
  WritePlan() {
    world.broadcast_string(folder);
    if (world.rank() == 0) part = original;
    distribute(world, part);
  }
  ~WritePlan() override {
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove(path());
  }

  /// Jobs whose names do not follow their numbers, more of them than fit.
  static model::Instance odd_names() {
    auto instance = policy::generate_hetero({.gpus = 256, .jobs = 700, .seed = 5});
    NameTable names;
    for (int j = 0; j < 700; ++j) names.add("job" + std::to_string(j * 389 % 700));
    instance.workload.job_names = std::move(names);
    return instance;
  }

  model::Plan plan(coordinator::JobRecords& jobs) const {
    PlanOptions options = test::quick_options();
    options.partition.shards = 4;
    options.bound_steps = options.tree_nodes = 0;
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    return plan_distributed(world, part, options, silent, jobs);
  }
  [[nodiscard]] std::string path() const { return folder + ".json"; }

  const comm::Communicator world = comm::Communicator::world();
  const model::Instance original = odd_names();
  model::Instance part;
  std::string folder =
      std::filesystem::temp_directory_path() / ("berth_written_" + std::to_string(getpid()));
};

TEST_F(WritePlan, in_parts_gives_the_text_and_the_digests_of_the_whole) {
  coordinator::JobRecords jobs(world, part.workload);
  jobs.scatter_homes();
  model::Plan made = plan(jobs);
  EXPECT_EQ(part.workload.in_parts(), world.size() > 1);
  EXPECT_EQ(world.sum(std::ssize(made.placements) + std::ssize(made.waiting)), 700);
  write_plan(world, path(), part, made, jobs);
  EXPECT_EQ(part.workload.in_parts(), world.size() > 1);
  const auto reasons = waiting_by_reason(world, made);
  gather_plan(world, made);
  if (world.rank() != 0) return;
  EXPECT_GT(made.waiting.size(), 10u);
  std::int64_t waiting = 0;
  for (const auto& [reason, count] : reasons) waiting += count;
  EXPECT_EQ(waiting, std::ssize(made.waiting));
  EXPECT_TRUE(io::read_file(path()) == io::plan_text(original, made));
  EXPECT_EQ(made.plan_digest, model::plan_digest(original, made.placements));
  EXPECT_EQ(made.instance_digest, model::instance_digest(original));
}

TEST_F(WritePlan, that_cannot_be_written_fails_on_every_rank) {
  coordinator::JobRecords jobs(world, part.workload);
  jobs.scatter_homes();
  const model::Plan nothing;
  EXPECT_THROW(write_plan(world, folder + "/no/such/plan.json", part, nothing, jobs),
               comm::AgreedError);
}

}  // namespace
}  // namespace berth::pipeline
