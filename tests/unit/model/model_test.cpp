// SPDX-License-Identifier: Apache-2.0
#include "two_pods.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"
#include "berth/model/digest.hpp"
#include "berth/model/placement.hpp"

namespace berth::model {
namespace {

using test::add_job;
using test::two_pods;

/// Whatever is on a device in slices, thousandths say the same as slices about what still fits.
TEST(Slices, fit_by_thousandths_exactly_when_they_fit_by_number) {
  for (std::int32_t slices = 1; slices <= kMaxGpuSlices; ++slices) {
    const auto size = [&](std::int32_t k) { return share_taken(1000 * k / slices, slices); };
    for (std::int32_t k = 1; k <= slices; ++k) {
      EXPECT_EQ(size(k), 1000 * k / slices);  // asked for by its own size
      EXPECT_EQ(share_taken(1000 * (k - 1) / slices + 1, slices), size(k));  // one more: one slice
    }
    // The tightest and the loosest ways to pass the end by one slice, and to just meet it.
    for (std::int32_t k = 1; k <= slices; ++k) {
      const std::int32_t times = slices / k, rest = slices - times * k;
      const std::int32_t full = times * size(k) + (rest > 0 ? size(rest) : 0);
      EXPECT_LE(full, 1000) << slices << " slices by " << k;
      EXPECT_GT(times * size(k) + size(rest + 1), 1000) << slices << " slices by " << k;
      EXPECT_GT(full - (rest > 0 ? size(rest) : 0) + rest * size(1) + size(1), 1000);
    }
  }
}

TEST(Digest, of_a_plan_does_not_depend_on_the_order_of_tasks) {
  Instance instance = two_pods();
  add_job(instance, {.gpus = 1}, 2);
  const TaskPlacement a{MachineId(0), 0, 1, 1000};
  const TaskPlacement b{MachineId(1), 0, 2, 1000};
  const auto one = plan_digest(instance, {{JobId(0), 0, {a, b}}});
  EXPECT_EQ(one, plan_digest(instance, {{JobId(0), 0, {b, a}}}));
  EXPECT_NE(one, plan_digest(instance, {{JobId(0), 5, {a, b}}}));
  EXPECT_NE(one, plan_digest(instance, {{JobId(0), 0, {a, a}}}));
  EXPECT_EQ(plan_digest(instance, {}),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");  // of nothing
}

/// In release builds too: a record that another rank holds is never read by accident.
TEST(Workload, refuses_a_record_that_is_not_here) {
  Workload workload = two_pods().workload;
  workload.jobs.resize(3);
  make_part(workload);
  keep_jobs(workload, std::vector{JobId(1)});
  EXPECT_FALSE(workload.has(JobId(0)));
  EXPECT_EQ(&workload.job(JobId(1)), &workload.jobs.front());
  EXPECT_THROW((void)workload.job(JobId(0)), BrokenContract);
  EXPECT_THROW((void)workload.job(JobId(2)), BrokenContract);
}

TEST(Workload, gives_back_the_jobs_that_were_added_last) {
  Workload workload = two_pods().workload;
  workload.jobs.resize(4);
  make_part(workload);
  keep_jobs(workload, std::vector{JobId(1)});
  const std::size_t groups = workload.groups.size();
  const std::vector<TaskGroup> two(2);
  Job job;
  job.groups = 2;
  add_job(workload, JobId(3), job, two);
  add_job(workload, JobId(0), job, two);
  remove_added(workload, 1, std::vector{JobId(0), JobId(1), JobId(2), JobId(3)});
  EXPECT_EQ(local_jobs(workload), std::vector{JobId(1)});
  EXPECT_EQ(workload.jobs.size(), 1U);
  EXPECT_EQ(workload.groups.size(), groups);
}

/// Oracle: all lines in one list. Names of which one begins like another, and some that sort
/// before and after a tab's place.
TEST(Digest, of_a_plan_is_that_of_all_its_lines_sorted) {
  Instance instance = two_pods();
  std::vector<std::string> lines;
  Placement placement;
  for (const std::string_view name : {"b", "a", "a b", "a!", "ab", "a-1", "\xC3\xA9", "a-10"}) {
    const JobId job(instance.workload.job_names.add(name));
    placement.push_back({job, 7, {{MachineId(1), 0, 6, 1000}, {MachineId(0), 0, 0, 0}}});
    const auto line = [&](const char* rest) {
      lines.push_back(std::string(name) + '\t' + rest + "\t7\n");
    };
    line("m1\t1\t1000"), line("m1\t2\t1000"), line("m0\t-1\t0");
  }
  std::ranges::sort(lines);
  Sha256 sha;
  for (const std::string& line : lines) sha.text(line);
  EXPECT_EQ(plan_digest(instance, placement), sha.hex());
}

TEST(Digest, of_an_instance_sees_every_field_that_matters) {
  const auto digest = [](auto change) {
    Instance instance = two_pods();
    add_job(instance, {.gpus = 1}, 2);
    change(instance);
    return instance_digest(instance);
  };
  const auto same = digest([](Instance&) {});
  EXPECT_EQ(same, digest([](Instance&) {}));
  EXPECT_NE(same, digest([](Instance& i) { i.workload.jobs[0].weight = 2.0; }));
  EXPECT_NE(same, digest([](Instance& i) { i.workload.jobs[0].gpu_types = 1; }));
  EXPECT_NE(same, digest([](Instance& i) { i.workload.shapes[0].needs[kCpu] = 1; }));
  EXPECT_NE(same, digest([](Instance& i) { i.cluster.classes[0].gpus = 8; }));
  EXPECT_NE(same, digest([](Instance& i) { i.cluster.machine_rack[2] = RackId(0); }));
}

}  // namespace
}  // namespace berth::model
