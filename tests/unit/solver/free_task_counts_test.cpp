// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/free_task_counts.hpp"

#include "local_search/counted_placer.hpp"
#include "local_search/fill_idle_capacity.hpp"
#include "random_tiny.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "berth/solver/make_room.hpp"

namespace berth::solver {
namespace {

std::vector<MachineId> all_machines(const model::Cluster& cluster) {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < cluster.machines(); ++m) machines.emplace_back(m);
  return machines;
}

/// A tiny instance with every `step`-th job placed by first fit.
struct Filled {
  explicit Filled(model::Instance tiny, std::size_t step = 1)
      : instance(std::move(tiny)),
        valuation(model::InstanceView(instance), model::Objective::value),
        limits(model::InstanceView(instance), model::Objective::value),
        occupancy(valuation, all_machines(instance.cluster), &limits) {
    for (std::size_t l = 0; l < limits.size(); ++l) {
      occupancy.limit_usage().allow(l, limits.capacity(l));
    }
    for (const JobId job : model::planned_jobs(instance.workload)) {
      occupancy.admit(job);
      if (job.index() % step != 0) continue;
      if (auto placed = find_room(occupancy, job)) occupancy.take(*std::move(placed));
    }
  }

  model::Instance instance;
  planner_model::Valuation valuation;
  planner_model::CouplingLimits limits;
  Occupancy occupancy;
};

model::Instance tiny_with_limits(std::uint64_t seed) {
  test::Dice dice(seed);
  model::Instance instance = test::random_tiny(dice);
  if (seed % 4 == 1) return test::with_more_limits(dice, std::move(instance));
  if (seed % 4 == 2) return test::with_rules(dice, std::move(instance));
  if (seed % 4 == 3) return test::with_power_budgets(dice, std::move(instance));
  return instance;
}

bool equal(const model::JobPlacement& a, const model::JobPlacement& b) {
  return a.job == b.job && a.tasks == b.tasks;
}

void expect_exact(const Filled& filled, FreeTaskCounts& counts, const model::TaskGroup& group) {
  const model::Shape& shape = filled.instance.workload.shapes[group.shape.index()];
  for (const GpuTypeId type : filled.occupancy.index().types()) {
    for (const model::Level level :
         {model::Level::rack, model::Level::pod, model::Level::cluster}) {
      const auto domains = filled.occupancy.index().domains(type, level);
      const auto found = counts.of(group.shape, type, level);
      ASSERT_EQ(found.size(), domains.size());
      for (std::size_t d = 0; d < domains.size(); ++d) {
        std::int64_t together = 0, on_one = 0;
        for (const MachineId m : domains[d].machines) {
          const std::int64_t here = filled.occupancy.room().count(m, shape, 2147483647);
          together += here;
          on_one = std::max(on_one, here);
        }
        EXPECT_EQ(found[d].together, together);
        EXPECT_EQ(found[d].on_one, on_one);
      }
    }
  }
}

TEST(FreeTaskCounts, change_no_answer_and_stay_exact_when_victims_move) {
  int found = 0, moved = 0, stopped = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Filled filled(tiny_with_limits(seed));
    FreeTaskCounts counts(filled.occupancy);
    RoomSearch rooms(filled.occupancy, &counts);
    RoomMaker maker(filled.occupancy, &counts);
    for (const JobId job : model::planned_jobs(filled.instance.workload)) {
      if (filled.occupancy.is_placed(job)) continue;
      const double value = filled.instance.workload.jobs[job.index()].value;
      filled.instance.workload.jobs[job.index()].value = 1e6;  // worth all others
      const auto room = find_room(filled.occupancy, job);
      const auto room_counted = rooms.find(job);
      ASSERT_EQ(room_counted.has_value(), room.has_value());
      EXPECT_TRUE(!room || equal(*room_counted, *room));
      const auto made = make_room(filled.occupancy, job);  // with no bound on any cost
      const auto counted = maker.make(job);
      ASSERT_EQ(counted.has_value(), made.has_value());
      if (made) {
        EXPECT_TRUE(equal(counted->placement, made->placement));
        EXPECT_TRUE(std::ranges::equal(counted->moved, made->moved, equal));
        EXPECT_EQ(counted->stopped, made->stopped);
        ++found;
        moved += made->moved.empty() ? 0 : 1;
        stopped += made->stopped.empty() ? 0 : 1;
      }
      filled.instance.workload.jobs[job.index()].value = value;
    }
    for (const model::TaskGroup& group : filled.instance.workload.groups) {
      expect_exact(filled, counts, group);
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(moved, 10);
  EXPECT_GT(stopped, 100);
}

TEST(FreeTaskCounts, change_no_place_when_idle_capacity_is_filled) {
  std::size_t placed = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Filled plain(tiny_with_limits(seed), 2);
    Filled counted(tiny_with_limits(seed), 2);
    const auto jobs = model::planned_jobs(plain.instance.workload);
    const std::size_t before = plain.occupancy.placed_jobs().size();
    local_search::fill_idle_capacity(plain.occupancy, jobs);
    FreeTaskCounts counts(counted.occupancy);
    const Occupancy::Mark mark = counted.occupancy.mark();
    local_search::fill_idle_capacity(counted.occupancy, jobs, {},
                                     local_search::counted_placer(counted.occupancy, mark, counts));
    counted.occupancy.keep(mark);
    EXPECT_TRUE(
        std::ranges::equal(plain.occupancy.placement(), counted.occupancy.placement(), equal));
    placed += plain.occupancy.placed_jobs().size() - before;
  }
  EXPECT_GT(placed, 200U);
}

}  // namespace
}  // namespace berth::solver
