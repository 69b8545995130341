// SPDX-License-Identifier: Apache-2.0
// One state for all searches: what it counts, and that a roll back leaves no trace.
#include "berth/solver/occupancy.hpp"

#include "instance_builder.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::solver {
namespace {

using test::InstanceBuilder;

/// Two machines of 4 GPUs in one rack.
InstanceBuilder small() {
  InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(2, 0, 4);
  return plan;
}

/// Everything an occupancy answers, as text.
std::string described(const Occupancy& occupancy, const model::Cluster& cluster) {
  std::string text = std::to_string(occupancy.value()) + ':';
  for (const JobEntry& entry : occupancy.entries()) {
    text += std::to_string(entry.job().value()) + '=' + std::to_string(entry.value) + '(';
    for (const auto& t : entry.placement.tasks) {
      text += std::to_string(t.machine.value()) + '/' + std::to_string(t.devices) + ' ';
    }
    text += ')';
  }
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const MachineId machine(m);
    text += '[' + std::to_string(occupancy.room().free_milli(machine)) + ' ' +
            std::to_string(occupancy.room().free_cpu(machine));
    for (const Occupant& o : occupancy.occupants(machine)) {
      text += ' ' + std::to_string(o.job.value()) + '*' + std::to_string(o.milli) + '*' +
              std::to_string(o.whole_gpus) + '*' + std::to_string(o.density);
    }
    text += ']';
  }
  for (std::size_t l = 0; l < occupancy.limit_usage().size(); ++l) {
    text += ' ' + std::to_string(occupancy.limit_usage().use(l));
  }
  return text;
}

TEST(Occupancy, holds_jobs_in_their_order_placed_or_not) {
  InstanceBuilder plan = small();
  for (int j = 0; j < 4; ++j) plan.job({.gpus = 2});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(std::vector{JobId(3), JobId(1), JobId(3)});
  occupancy.take(*occupancy.fit(JobId(2), plan.machines));
  EXPECT_EQ(occupancy.unplaced_jobs(), (std::vector{JobId(1), JobId(3)}));
  EXPECT_EQ(occupancy.placed_jobs(), std::vector{JobId(2)});
  EXPECT_FALSE(occupancy.holds(JobId(0)));
  EXPECT_TRUE(occupancy.is_waiting(JobId(3)));
  occupancy.forget(JobId(1));
  EXPECT_FALSE(occupancy.is_waiting(JobId(1)));
  occupancy.give_back(JobId(2));
  EXPECT_TRUE(occupancy.is_waiting(JobId(2)));
  EXPECT_EQ(occupancy.value(), 0.0);
}

TEST(Occupancy, lists_occupants_by_value_per_gpu_and_counts_whole_gpus) {
  InstanceBuilder plan = small();
  const JobId dear = plan.job({.gpus = 1, .weight = 3.0});
  const JobId pair = plan.job({.tasks = 2, .gpus = 1, .weight = 2.0});
  const JobId share = plan.job({.gpus = 0, .milli = 500, .weight = 1.0});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  for (const JobId job : {dear, pair, share}) {
    occupancy.take(*occupancy.fit(job, std::span(plan.machines).first(1)));
  }
  const auto here = occupancy.occupants(MachineId(0));
  ASSERT_EQ(here.size(), 3U);
  EXPECT_EQ(here[0].job, share);
  EXPECT_EQ(here[0].whole_gpus, 0);
  EXPECT_EQ(here[0].milli, 500);
  EXPECT_EQ(here[1].job, pair);
  EXPECT_EQ(here[1].whole_gpus, 2);
  EXPECT_EQ(here[2].job, dear);
}

TEST(Occupancy, fits_and_looks_for_free_room_without_a_trace) {
  InstanceBuilder plan = small();
  const JobId gang = plan.job({.tasks = 3, .gpus = 2});
  const JobId other = plan.job({.gpus = 4});
  const auto value = plan.value();
  Occupancy occupancy(value, plan.machines);
  occupancy.admit(plan.jobs);
  const std::string before = described(occupancy, plan.instance.cluster);
  const auto found = occupancy.fit(gang, plan.machines);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(occupancy.is_free(*found));
  EXPECT_EQ(described(occupancy, plan.instance.cluster), before);
  occupancy.take(*occupancy.fit(other, plan.machines));
  EXPECT_FALSE(occupancy.is_free(*found));
  EXPECT_FALSE(occupancy.fit(gang, plan.machines).has_value());
}

/// Random edits with marks inside marks: what is rolled back leaves no trace, what is kept stays.
TEST(Occupancy, rolls_back_to_every_mark) {
  InstanceBuilder plan = test::mixed_instance(3, 200);
  plan.instance.cluster.queues = {{.name = "org", .gpu_quota = 300},
                                  {.name = "a", .gpu_quota = 100, .parent = QueueId(0)}};
  for (std::size_t j = 0; j < 200; ++j) plan.instance.workload.jobs[j].queue = QueueId(j % 2);
  const auto value = plan.value();
  const planner_model::CouplingLimits limits(plan.instance, model::Objective::value);
  Occupancy occupancy(value, plan.machines, &limits);
  occupancy.admit(plan.jobs);
  std::vector<std::pair<Occupancy::Mark, std::string>> marks;
  int rolled_back = 0, kept = 0;
  for (std::uint64_t step = 0; step < 3000; ++step) {
    const auto draw = [&](std::uint64_t below, std::uint64_t key) {
      return random_below(below, {step, key});
    };
    const std::uint64_t what = draw(20, 0);
    if (what == 0 && marks.size() < 5) {
      const std::string text = described(occupancy, plan.instance.cluster);
      marks.emplace_back(occupancy.mark(), text);
    } else if (what == 1 && !marks.empty()) {
      const auto [mark, text] = marks.back();
      marks.pop_back();
      if (draw(3, 1) == 0) {
        occupancy.keep(mark);
        ++kept;
      } else {
        occupancy.roll_back(mark);
        ++rolled_back;
        ASSERT_EQ(described(occupancy, plan.instance.cluster), text) << "step " << step;
      }
    } else {
      const JobId job(draw(200, 2));
      if (occupancy.is_placed(job)) {
        occupancy.give_back(job);
      } else if (auto found =
                     occupancy.fit(job, std::span(plan.machines).subspan(4 * draw(16, 3), 4))) {
        occupancy.take(std::move(*found));
      }
    }
  }
  EXPECT_GT(rolled_back, 40);
  EXPECT_GT(kept, 10);
}

/// The order of edits is forgotten, and values taken anew are those of a fresh occupancy.
TEST(Occupancy, depends_on_placements_alone) {
  const InstanceBuilder plan = test::mixed_instance(4, 150);
  const auto value = plan.value();
  const planner_model::Valuation allocate(plan.instance, model::Objective::allocate);
  Occupancy edited(value, plan.machines);
  for (const JobId job : plan.jobs) {
    if (auto found = edited.fit(job, plan.machines)) edited.take(std::move(*found));
  }
  for (std::size_t j = 0; j < plan.jobs.size(); j += 3) {
    if (edited.is_placed(plan.jobs[j])) edited.give_back(plan.jobs[j]);
  }
  for (const planner_model::Valuation* by : {&value, &allocate}) {
    edited.revalue(*by, nullptr);
    Occupancy fresh(*by, plan.machines);
    model::Placement placed = edited.placement();
    std::ranges::reverse(placed);
    for (auto& p : placed) fresh.take(std::move(p));
    for (const JobId job : edited.unplaced_jobs()) fresh.admit(job);
    EXPECT_EQ(described(edited, plan.instance.cluster), described(fresh, plan.instance.cluster));
  }
}

/// Room, occupants, quotas and the journal are those of single edits.
TEST(Occupancy, takes_many_jobs_as_one_after_the_other) {
  InstanceBuilder plan = test::mixed_instance(5, 150);
  plan.instance.cluster.queues = {{.name = "org", .gpu_quota = 300},
                                  {.name = "a", .gpu_quota = 100, .parent = QueueId(0)}};
  for (std::size_t j = 0; j < 150; ++j) plan.instance.workload.jobs[j].queue = QueueId(j % 2);
  for (std::size_t j = 0; j < 150; j += 7) plan.instance.workload.jobs[j].required = true;
  const auto value = plan.value();
  const planner_model::CouplingLimits limits(plan.instance, model::Objective::value);
  Occupancy one_by_one(value, plan.machines, &limits), together(value, plan.machines, &limits);
  for (const JobId job : plan.jobs) {
    if (auto found = one_by_one.fit(job, plan.machines)) one_by_one.take(std::move(*found));
  }
  ASSERT_GT(one_by_one.placed_jobs().size(), 50U);
  together.admit(one_by_one.placed_jobs());
  const std::string empty = described(together, plan.instance.cluster);
  for (const bool keep : {false, true}) {
    const auto mark = together.mark();
    together.take(one_by_one.placement());
    EXPECT_EQ(described(together, plan.instance.cluster),
              described(one_by_one, plan.instance.cluster));
    for (std::size_t q = 0; q < limits.of_queues(); ++q) {
      EXPECT_EQ(together.evictable_jobs(q), one_by_one.evictable_jobs(q));
    }
    if (keep) {
      together.keep(mark);
    } else {
      together.roll_back(mark);
      EXPECT_EQ(described(together, plan.instance.cluster), empty);
    }
  }
}

}  // namespace
}  // namespace berth::solver
