// SPDX-License-Identifier: Apache-2.0
// A plan in parts is written and named as the whole plan would be. Oracle: io::plan_text and the
// digests of the whole, on rank 0.
#include "berth/pipeline/write_plan.hpp"

#include "quick.hpp"
#include "with_petsc.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/comm/error.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/model/digest.hpp"

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
    auto instance = generate::generate_hetero({.gpus = 256, .jobs = 700, .seed = 5});
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

/// Moves one job of this rank to the devices of an equal one. False when there are no two.
bool book_twice(const model::Workload& workload, model::Placement& mine) {
  const auto groups = [&](const model::JobPlacement& p) {
    return workload.groups_of(workload.job(p.job));
  };
  for (auto a = mine.begin(); a != mine.end(); ++a) {
    if (a->tasks.front().devices == 0 || groups(*a).size() != 1) continue;
    const auto b = std::find_if(a + 1, mine.end(), [&](const model::JobPlacement& p) {
      return groups(p).size() == 1 && groups(p).front().shape == groups(*a).front().shape &&
             p.tasks.size() == a->tasks.size() && p.tasks.front().milli == 1000 &&
             workload.job(p.job).gpu_types == workload.job(a->job).gpu_types &&
             workload.job(p.job).domain == workload.job(a->job).domain;
    });
    if (b == mine.end()) continue;
    b->tasks = a->tasks;
    return true;
  }
  return false;
}

TEST_F(WritePlan, with_a_double_booking_is_refused_and_the_earlier_file_stays) {
  coordinator::JobRecords jobs(world, part.workload);
  jobs.scatter_homes();
  model::Plan made = plan(jobs);
  if (world.rank() == 0) io::write_atomically(path(), [](auto& file) { file.write("earlier"); });
  const bool injected = world.rank() == 0 && book_twice(part.workload, made.placements);
  ASSERT_EQ(world.sum(injected ? 1 : 0), 1);
  try {
    write_plan(world, path(), part, made, jobs);
    ADD_FAILURE() << "written";
  } catch (const comm::AgreedError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::internal_error);
    EXPECT_THAT(error.what(), testing::HasSubstr("device_oversubscribed: machine "));
  }
  if (world.rank() == 0) {
    EXPECT_EQ(io::read_file(path()), "earlier");
  }
}

/// Each of these was true of the plan when it was made.
TEST_F(WritePlan, with_a_wrong_figure_digest_price_or_list_is_refused) {
  coordinator::JobRecords jobs(world, part.workload);
  jobs.scatter_homes();
  const model::Plan made = plan(jobs);
  const auto refused = [&](const char* fault, const auto& edit) {
    model::Plan altered = made;
    if (world.rank() == 0) edit(altered);
    try {
      write_plan(world, path(), part, altered, jobs);
      ADD_FAILURE() << "written with " << fault;
    } catch (const comm::AgreedError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(fault));
    }
  };
  refused("wrong_objective", [](model::Plan& p) { p.figures.objective *= 1.01; });
  refused("bound_too_low", [](model::Plan& p) { p.figures.upper_bound *= 0.99; });
  refused("wrong_count", [](model::Plan& p) { ++p.figures.jobs_placed; });
  refused("wrong_plan_digest", [](model::Plan& p) { p.plan_digest[0] ^= 1; });
  refused("wrong_proof_digest", [](model::Plan& p) { p.proof_digest[0] ^= 1; });
  refused("other_instance", [](model::Plan& p) { p.instance_digest[0] ^= 1; });
  refused("wrong_required_missing", [](model::Plan& p) { p.required_missing.emplace_back(0); });
  refused("lost_job", [](model::Plan& p) { p.waiting.clear(); });
  refused("negative_price", [](model::Plan& p) {
    auto& prices = p.certificate;
    (prices.pools.empty() ? prices.shapes.at(0).price : prices.pools.front().gpu_milli) = -1;
  });
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
