// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/berth.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth {
namespace {

class PlanOnRanks : public testing::Test {
 protected:
  PlanOnRanks() {
    const model::Instance instance = generate::generate_hetero({.gpus = 256, .seed = 3});
    cluster_ = io::cluster_text(instance.cluster);
    jobs_ = io::jobs_text(instance);
  }
  comm::Communicator world_ = comm::Communicator::world();
  std::string cluster_, jobs_;
};

TEST_F(PlanOnRanks, every_rank_has_the_plan_of_one_rank) {
  const PlanResult together = plan_texts(cluster_, jobs_);
  const PlanResult alone = plan_texts(cluster_, jobs_, {.this_rank_alone = true});
  EXPECT_EQ(together.plan_digest, alone.plan_digest);
  EXPECT_EQ(together.placed.size(), alone.placed.size());
  EXPECT_EQ(together.gap, alone.gap);
  std::string roots = together.text;
  world_.broadcast_string(roots);
  EXPECT_EQ(together.text, roots);
}

TEST_F(PlanOnRanks, bad_input_is_the_same_error_everywhere) {
  EXPECT_THROW(plan_texts("schema: 2\n", jobs_), InputError);
  EXPECT_THROW(plan_texts(cluster_, jobs_, {.named = {{"nothing", "1"}}}), InputError);
}

TEST_F(PlanOnRanks, an_instance_in_parts_is_refused_with_what_to_do) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("berth_api_" + std::to_string(getppid()));
  const pipeline::Input input{folder + "-c.yaml", folder + "-j.jsonl"};
  if (world_.rank() == 0) {
    const model::Instance instance = generate::generate_hetero({.gpus = 64, .seed = 3});
    io::write_cluster(input.cluster, instance.cluster);
    io::write_jobs(input.jobs, instance);
  }
  world_.barrier();
  EXPECT_EQ(plan_files(input.cluster, input.jobs).placed.empty(), false);
  const model::Instance parts = pipeline::load_instance(world_, input);
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  try {
    pipeline::plan_cluster(world_, parts, {}, silent);
    ADD_FAILURE() << "planned";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("plan_distributed"),
                                             testing::HasSubstr("berth::plan_files")));
  }
  world_.barrier();
  if (world_.rank() == 0) {
    std::filesystem::remove(input.cluster);
    std::filesystem::remove(input.jobs);
  }
}

}  // namespace
}  // namespace berth
