// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/online.hpp"

#include "petsc_environment.hpp"
#include "tiny.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::solver {
namespace {

using berth::test::Tiny;
using berth::test::TinyTask;
using model::JobPlacement;
using model::Objective;

/// `machines` machines of four GPUs in one rack.
Tiny cluster(int machines) {
  Tiny tiny;
  const ClassId c = tiny.machine_class("g", tiny.type("G"), 4, 32000, 1000);
  tiny.pod();
  tiny.rack();
  for (int m = 0; m < machines; ++m) tiny.machine(c);
  return tiny;
}

/// Single tasks of a few shapes; some CPU-only ones are required.
void add_random_jobs(Tiny& tiny, int jobs, std::uint64_t seed) {
  for (int j = 0; j < jobs; ++j) {
    const auto draw = [&](std::uint64_t n, std::uint64_t what) {
      return random_below(n, {seed, static_cast<std::uint64_t>(j), what});
    };
    const std::uint64_t kind = draw(6, 0);
    TinyTask task{.cpu_milli = 1000 * static_cast<std::int64_t>(1 + draw(9, 1))};
    if (kind < 2) task.gpu_milli = kind == 0 ? 300 : 600;
    if (kind >= 2 && kind < 5) task.gpus = kind == 4 ? 4 : static_cast<std::int32_t>(kind - 1);
    model::Job& job = tiny[tiny.job({task})];
    job.required = kind == 5 && draw(2, 2) == 0;
    job.weight = static_cast<double>(1 + draw(3, 3));
  }
}

std::vector<JobId> first(std::size_t count) {
  std::vector<JobId> jobs;
  for (std::size_t j = 0; j < count; ++j) jobs.emplace_back(j);
  return jobs;
}

OnlineResult place(const Tiny& tiny, std::size_t jobs, const OnlineOptions& options,
                   Objective objective = Objective::allocate) {
  const planner_model::Valuation valuation(tiny.instance, objective);
  return place_online(valuation, first(jobs), {}, options);
}

bool has(const OnlineResult& result, int job) {
  return std::ranges::binary_search(result.placed, JobId(job), {}, &JobPlacement::job);
}

std::string words(const model::Placement& placed) {
  std::string text;
  for (const JobPlacement& p : placed) {
    const auto& t = p.tasks.front();
    text += std::to_string(p.job.value()) + ":" + std::to_string(t.machine.value()) + "/" +
            std::to_string(t.devices) + " ";
  }
  return text;
}

/// Throws nothing and leaves nothing negative when every task fits beside those before it.
void expect_feasible(const Tiny& tiny, const model::Placement& placed) {
  planner_model::Room room(tiny.instance.cluster);
  const model::Workload& workload = tiny.instance.workload;
  for (const JobPlacement& p : placed) {
    const auto& group = workload.groups_of(workload.job(p.job)).front();
    const auto& task = p.tasks.front();
    const model::Immovable content{.machine = task.machine,
                                   .devices = task.devices,
                                   .milli = task.milli,
                                   .taken = {workload.shape(group.shape).needs[model::kCpu]}};
    ASSERT_TRUE(room[task.machine].fits(content)) << "job " << p.job.value();
    room.take(task, workload.shape(group.shape));
  }
}

// Nothing that comes later changes what was decided: not its number, its kinds, nor its shapes.
TEST(Online, the_plan_of_fewer_batches_is_part_of_the_plan_of_more) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const std::int64_t batch : {1, 7, 70}) {
      for (const Objective objective : {Objective::allocate, Objective::value}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " batch " << batch);
        Tiny all = cluster(12);
        add_random_jobs(all, 210, seed);
        const OnlineOptions options{.batch = batch};
        const auto whole = place(all, 210, options, objective);
        expect_feasible(all, whole.placed);
        for (const int jobs : {70, 140}) {
          Tiny some = cluster(12);  // does not even know the others
          add_random_jobs(some, jobs, seed);
          const auto part = place(some, static_cast<std::size_t>(jobs), options, objective);
          model::Placement before = whole.placed;
          std::erase_if(before, [&](const JobPlacement& p) { return p.job.value() >= jobs; });
          EXPECT_EQ(words(part.placed), words(before));
        }
      }
    }
  }
}

// Shares of 700 with 300 fill a device, two of 300 and nothing else do not.
TEST(Online, keeps_places_for_the_jobs_it_expects) {
  Tiny tiny = cluster(30);
  for (std::uint64_t j = 0; j < 300; ++j) {
    const bool large = random_below(2, {7, j}) == 0;
    tiny.job({{.gpu_milli = large ? 700 : 300, .cpu_milli = large ? 4000 : 8000}});
  }
  const planner_model::Valuation valuation(tiny.instance, Objective::allocate);
  const auto milli = [&](const OnlineResult& result) {
    double sum = 0.0;
    for (const JobPlacement& p : result.placed) sum += valuation.placed(p);
    return sum;
  };
  const auto result = place(tiny, 300, {.batch = 1});
  EXPECT_GT(result.used_reservation, 50);
  EXPECT_GT(result.forecasts, 5);
  EXPECT_GT(milli(result), milli(place(tiny, 300, {.batch = 1, .expect = 0.0})));
}

// A job of 3 GPUs leaves one idle; jobs of 4 are expected to go on.
TEST(Online, refuses_what_would_displace_more_than_it_is_worth) {
  Tiny tiny = cluster(2);
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  tiny.job({{.gpus = 3, .cpu_milli = 1000}});
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  const auto choosy = place(tiny, 3, {.batch = 1, .expect = 2.0});
  EXPECT_TRUE(has(choosy, 0) && !has(choosy, 1) && has(choosy, 2));
  EXPECT_EQ(choosy.refused, 1);
  const auto taker = place(tiny, 3, {.batch = 1, .expect = 2.0, .take_all = true});
  EXPECT_TRUE(has(taker, 0) && has(taker, 1) && !has(taker, 2));
  EXPECT_EQ(taker.refused, 0);
}

TEST(Online, a_required_job_is_never_refused) {
  Tiny tiny = cluster(2);
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  tiny[tiny.job({{.gpus = 3, .cpu_milli = 1000}})].required = true;
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  EXPECT_TRUE(has(place(tiny, 3, {.batch = 1, .expect = 2.0}), 1));
}

// Without a forecast a batch is placed as it is: the job of 4 first, then what is left.
TEST(Online, a_batch_is_looked_at_as_a_whole) {
  Tiny tiny = cluster(1);
  tiny.job({{.gpus = 1, .cpu_milli = 1000}});
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  EXPECT_TRUE(has(place(tiny, 2, {.batch = 2, .expect = 0.0}), 1));
  EXPECT_TRUE(has(place(tiny, 2, {.batch = 1, .expect = 0.0}), 0));
}

// Value: a job of less value than the expected one does not take the place kept for it.
TEST(Online, no_job_of_less_value_takes_a_place_kept_for_another) {
  Tiny tiny = cluster(1);
  for (const double weight : {1.0, 1.0, 0.01, 1.0, 1.0}) {
    tiny[tiny.job({{.gpus = 1, .cpu_milli = 1000}})].weight = weight;
  }
  const auto result = place(tiny, 5, {.batch = 1, .expect = 1.0}, Objective::value);
  EXPECT_EQ(result.placed.size(), 4);
  EXPECT_FALSE(has(result, 2));
}

TEST(Online, jobs_worth_nothing_run_beside_GPUs_that_are_taken) {
  Tiny tiny = cluster(1);
  tiny.job({{.cpu_milli = 1000}});
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  tiny.job({{.cpu_milli = 1000}});
  const auto result = place(tiny, 3, {.batch = 1});
  EXPECT_TRUE(!has(result, 0) && has(result, 1) && has(result, 2));
}

TEST(Online, running_jobs_stay) {
  Tiny tiny = cluster(1);
  const JobId old = tiny.job({{.gpus = 3, .cpu_milli = 1000}});
  tiny.job({{.gpus = 4, .cpu_milli = 1000}});
  tiny.job({{.gpus = 1, .cpu_milli = 1000}});
  const planner_model::Valuation valuation(tiny.instance, Objective::allocate);
  const JobPlacement kept{.job = old,
                          .tasks = {{.machine = MachineId(0), .devices = 7, .milli = 1000}}};
  const std::vector<JobId> jobs{JobId(1), JobId(2)};
  const auto result = place_online(valuation, jobs, {kept}, {.batch = 1});
  EXPECT_EQ(words(result.placed), "0:0/7 2:0/8 ");
}

/// Two racks of a machine each: the budget of the second has room for two jobs, that of the pod for
/// two beside the running one.
TEST(Online, jobs_stay_within_power_budgets) {
  Tiny tiny = cluster(2);
  tiny.instance.cluster.racks.push_back({.name = "rack-1", .pod = PodId(0)});
  tiny.instance.cluster.machine_rack[1] = RackId(1);
  for (int j = 0; j < 5; ++j) tiny.job({{.gpus = 1, .power_w = 300}});
  tiny.instance.cluster.racks[1].power_w = 650.0;
  const planner_model::Valuation valuation(tiny.instance, Objective::allocate);
  const JobPlacement kept{.job = JobId(0),
                          .tasks = {{.machine = MachineId(0), .devices = 1, .milli = 1000}}};
  const std::vector<JobId> jobs{JobId(1), JobId(2), JobId(3), JobId(4)};
  const auto placed = [&] {
    const planner_model::CouplingLimits limits(tiny.instance, Objective::allocate);
    return words(place_online(valuation, jobs, {kept}, {.batch = 1}, &limits).placed);
  };
  EXPECT_EQ(placed(), "0:0/1 1:1/1 2:1/2 3:0/2 4:0/4 ");
  tiny.instance.cluster.pods[0].power_w = 1199.0;
  EXPECT_EQ(placed(), "0:0/1 1:1/1 2:1/2 ");
}

TEST(Online, no_jobs_and_no_machines) {
  EXPECT_TRUE(place(cluster(1), 0, {.batch = 1}).placed.empty());
  Tiny tiny = cluster(0);
  tiny.job({{.gpus = 1}});
  EXPECT_TRUE(place(tiny, 1, {.batch = 1}).placed.empty());
}

}  // namespace
}  // namespace berth::solver
