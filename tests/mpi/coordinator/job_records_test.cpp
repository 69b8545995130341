// SPDX-License-Identifier: Apache-2.0
// Ranks send each other jobs with their task groups and forget them again. Job j has j + 1 tasks in
// two groups; rank 0 has all of them.
#include "berth/coordinator/job_records.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace berth::coordinator {
namespace {

constexpr int kJobs = 12;

model::Workload whole() {
  model::Workload workload;
  workload.shapes.emplace_back().gpus = 1;
  for (int j = 0; j < kJobs; ++j) {
    const auto first = static_cast<std::uint32_t>(workload.groups.size());
    model::Job& job = workload.jobs.emplace_back();
    job.first_group = first;
    job.groups = 2;
    job.priority = j;
    workload.groups.push_back({ShapeId(0), 1, 0});
    workload.groups.push_back({ShapeId(0), j, 0});
  }
  workload.jobs[3].running = 0;
  workload.running = {{.job = JobId(3), .pinned = true}};
  return workload;
}

class JobRecordsTest : public testing::Test {
 protected:
  JobRecordsTest() {
    if (world.rank() == 0) return;
    workload.jobs = {};
    workload.groups = {};
    workload.position.assign(kJobs, model::Workload::kMissing);
  }

  /// Those this rank has, each as it is on rank 0.
  void expect_here(std::vector<int> jobs) const {
    if (world.rank() == 0) {
      jobs.clear();
      for (int j = 0; j < kJobs; ++j) jobs.push_back(j);
    }
    for (int j = 0; j < kJobs; ++j) {
      SCOPED_TRACE(testing::Message() << "job " << j << " on rank " << world.rank());
      const bool expected = std::ranges::find(jobs, j) != jobs.end();
      EXPECT_EQ(workload.has(JobId(j)), expected);
      if (!expected || !workload.has(JobId(j))) continue;
      EXPECT_EQ(workload.job(JobId(j)).priority, j);
      EXPECT_EQ(workload.tasks(workload.job(JobId(j))), j + 1);
    }
    if (world.rank() != 0) {
      EXPECT_EQ(workload.jobs.size(), jobs.size());
      EXPECT_EQ(workload.groups.size(), 2 * jobs.size());
    }
  }

  [[nodiscard]] JobLists to_all(std::vector<JobId> jobs) const {
    return JobLists(static_cast<std::size_t>(world.size()), std::move(jobs));
  }

  const comm::Communicator world = comm::Communicator::world();
  model::Workload workload = whole();
};

TEST_F(JobRecordsTest, hands_out_from_rank_0_and_forgets_all_but_pinned_jobs) {
  JobRecords records(world, workload);
  EXPECT_EQ(records.distributed(), world.size() > 1);
  records.scatter([&] { return records.only_home(to_all({JobId(3)})); });
  records.scatter([&] {
    auto lists = to_all({JobId(7)});
    for (std::size_t r = 0; r < lists.size(); ++r) lists[r].emplace_back(r % 3);
    return records.only_home(lists);
  });
  const int own = world.rank() % 3;
  expect_here({3, 7, own});
  records.retain_only(std::vector{JobId(7), JobId(11)});
  expect_here({3, 7});
  records.retain_only({});
  expect_here({3});
  if (world.rank() > 0) {
    EXPECT_THROW((void)workload.job(JobId(7)), BrokenContract);
  }
}

TEST_F(JobRecordsTest, sends_from_each_rank_to_each) {
  JobRecords records(world, workload);
  records.scatter([&] {
    auto lists = to_all({});
    for (std::size_t r = 0; r < lists.size(); ++r) lists[r] = {JobId(r), JobId(r + 4)};
    return records.only_home(lists);
  });
  const int rank = world.rank(), next = (rank + 1) % world.size();
  const int before = (rank + world.size() - 1) % world.size();
  auto lists = to_all({});
  lists[static_cast<std::size_t>(next)] = {JobId(rank + 4), JobId(rank + 4)};
  records.send(lists);
  std::vector<int> here{rank, rank + 4};
  if (world.size() > 1) here.push_back(before + 4);
  expect_here(here);
  records.retain_only(std::vector{JobId(rank)});
  expect_here({rank});
  records.broadcast(std::vector{JobId(rank)});
  std::vector<int> all;
  for (int r = 0; r < world.size(); ++r) all.push_back(r);
  expect_here(all);
}

TEST_F(JobRecordsTest, leaves_whole_ranks_alone) {
  workload = whole();
  JobRecords records(world, workload);
  EXPECT_FALSE(records.distributed());
  records.scatter([]() -> JobLists { throw std::logic_error("must not be called"); });
  records.retain_only({});
  EXPECT_EQ(workload.jobs.size(), kJobs);
  EXPECT_EQ(records.count_local(), 0);
}

/// Enough jobs for several to be at home on every rank; job 70 is pinned, all others are planned.
class Homes : public testing::Test {
 protected:
  static constexpr int kMany = 1000;

  Homes() {
    workload.shapes.emplace_back().gpus = 1;
    for (int j = 0; j < kMany; ++j) {
      model::Job& job = workload.jobs.emplace_back();
      job.first_group = static_cast<std::uint32_t>(workload.groups.size());
      job.groups = 1 + static_cast<std::uint32_t>(j % 2);
      job.priority = j;
      for (std::uint32_t g = 0; g < job.groups; ++g) {
        workload.groups.push_back({ShapeId(0), j + static_cast<std::int32_t>(g), 0});
      }
    }
    workload.jobs[70].running = 0;
    workload.running = {{.job = JobId(70), .pinned = true}};
    if (world.rank() == 0) return;
    workload.jobs = {};
    workload.groups = {};
    workload.position.assign(kMany, model::Workload::kMissing);
  }

  void expect_record(JobId job) const {
    ASSERT_TRUE(workload.has(job)) << job.value();
    EXPECT_EQ(workload.job(job).priority, job.value());
    EXPECT_EQ(workload.groups_of(workload.job(job)).back().count, job.value() + job.value() % 2);
  }

  const comm::Communicator world = comm::Communicator::world();
  model::Workload workload;
};

TEST_F(Homes, are_all_ranks_once_jobs_are_spread_and_rank_0_once_they_are_gathered) {
  JobRecords records(world, workload);
  EXPECT_EQ(std::ssize(records.home_jobs()), world.rank() == 0 ? kMany - 1 : 0);
  records.scatter_homes();
  EXPECT_EQ(workload.in_parts(), world.size() > 1);
  records.retain_only({});
  const std::vector<JobId> home = records.home_jobs();
  EXPECT_EQ(world.sum(std::ssize(home)), kMany - 1);
  EXPECT_GT(home.size(), 0u);
  EXPECT_LE(workload.jobs.size(), world.size() > 1 ? home.size() + 1 : kMany);
  for (const JobId job : home) {
    EXPECT_EQ(records.home(job), world.rank());
    expect_record(job);
  }
  records.gather_to_root();
  records.retain_only({});
  EXPECT_EQ(std::ssize(records.home_jobs()), world.rank() == 0 ? kMany - 1 : 0);
  EXPECT_EQ(workload.in_parts(), world.rank() != 0);
  for (int j = 0; j < kMany && world.rank() == 0; ++j) {
    expect_record(JobId(j));
    EXPECT_EQ(workload.jobs[static_cast<std::size_t>(j)].priority, j);  // in order
  }
}

TEST_F(Homes, let_rank_0_have_guests_that_go_again) {
  JobRecords records(world, workload);
  records.scatter_homes();
  records.retain_only({});
  const std::size_t before = workload.jobs.size();
  {
    const auto borrowed = records.borrow({JobId(999), JobId(3), JobId(400), JobId(65)});
    for (const int job : {999, 3, 400, 65}) {
      if (world.rank() == 0) expect_record(JobId(job));
    }
    EXPECT_GE(workload.jobs.size(), before);
    EXPECT_LE(workload.jobs.size(), before + (world.rank() == 0 ? 4 : 0));
  }
  EXPECT_EQ(workload.jobs.size(), before);
  for (const JobId job : records.home_jobs()) expect_record(job);
}

TEST_F(Homes, send_whom_others_want) {
  JobRecords records(world, workload);
  records.scatter_homes();
  records.retain_only({});
  const int wanted = (world.rank() * 37 + 11) % kMany;
  JobLists lists(static_cast<std::size_t>(world.size()));
  for (int r = 0; r < world.size(); ++r) {
    lists[static_cast<std::size_t>(r)].emplace_back((r * 37 + 11) % kMany);
  }
  records.scatter([&] { return records.only_home(lists); });
  expect_record(JobId(wanted));
  records.retain_only({});
  EXPECT_EQ(workload.has(JobId(wanted)),
            world.size() == 1 || records.home(JobId(wanted)) == world.rank());
}

}  // namespace
}  // namespace berth::coordinator
