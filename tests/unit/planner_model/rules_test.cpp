// SPDX-License-Identifier: Apache-2.0
// Rules about machines: where `place_job` places tasks under them, and what a room knows of jobs
// whose rules concern others.
#include "tiny.hpp"

#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "berth/model/domain_task_counts.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::planner_model {
namespace {

constexpr std::int32_t kAny = model::PlacementRules::kAnyNumber;

/// Two pods of two racks of two machines with 4 GPUs: m0 .. m7.
struct Machines {
  test::Tiny tiny;
  std::vector<MachineId> all;

  Machines() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 64000, 1000);
    for (int rack = 0; rack < 4; ++rack) {
      if (rack % 2 == 0) tiny.pod();
      tiny.rack();
      for (int m = 0; m < 2; ++m) all.push_back(tiny.machine(c));
    }
  }
  JobId job(std::int32_t tasks, const model::PlacementRules& rules) {
    const JobId job = tiny.job({{.count = tasks, .gpus = 1}});
    tiny.rule(job, rules);
    return job;
  }
  std::optional<model::JobPlacement> place(Room& room, JobId job) const {
    return place_job(room, tiny.instance.workload, job, all);
  }
  /// As `place`, and leaves the room as it was.
  model::JobPlacement place_once(Room& room, JobId job) const {
    const auto placed = place(room, job);
    release(room, tiny.instance.workload, placed.value());
    return *placed;
  }
};

/// Number of tasks by domain of a level, in order of domains.
std::vector<std::int64_t> spread(const Machines& machines, const model::JobPlacement& placed,
                                 model::Level level) {
  const model::Cluster& cluster = machines.tiny.instance.cluster;
  std::map<std::int32_t, std::int64_t> tasks;
  for (const model::TaskPlacement& t : placed.tasks) {
    const RackId rack = cluster.machine_rack[t.machine.index()];
    ++tasks[level == model::Level::machine ? t.machine.value()
            : level == model::Level::rack  ? rack.value()
                                           : cluster.pod_of(t.machine).value()];
  }
  std::vector<std::int64_t> counts;
  for (const auto& [domain, count] : tasks) counts.push_back(count);
  return counts;
}

using Counts = std::vector<std::int64_t>;

TEST(PlaceJobUnderRules, keeps_numbers_of_tasks) {
  Machines machines;
  const JobId by_machine = machines.job(5, {.max_tasks = {2, kAny, kAny}});
  const JobId by_rack = machines.job(5, {.max_tasks = {kAny, 2, kAny}});
  const JobId by_pod = machines.job(5, {.max_tasks = {kAny, kAny, 3}});
  const JobId impossible = machines.job(5, {.max_tasks = {kAny, 1, kAny}});
  Room room(machines.tiny.instance.cluster);
  const auto find = [&](JobId job) { return machines.place_once(room, job); };
  EXPECT_EQ(spread(machines, find(by_machine), model::Level::machine), (Counts{2, 2, 1}));
  EXPECT_EQ(spread(machines, find(by_rack), model::Level::rack), (Counts{2, 2, 1}));
  EXPECT_EQ(spread(machines, find(by_pod), model::Level::pod), (Counts{3, 2}));
  EXPECT_FALSE(machines.place(room, impossible));
  EXPECT_EQ(room.free_milli(MachineId(0)), 4000) << "nothing is left behind";
}

TEST(PlaceJobUnderRules, reaches_numbers_of_domains_and_no_more) {
  Machines machines;
  const JobId by_machine = machines.job(4, {.min_domains = {3, 1, 1}});
  const JobId by_rack = machines.job(4, {.min_domains = {1, 3, 1}});
  const JobId both = machines.job(4, {.min_domains = {4, 2, 2}});
  Room room(machines.tiny.instance.cluster);
  const auto find = [&](JobId job) { return machines.place_once(room, job); };
  EXPECT_EQ(spread(machines, find(by_machine), model::Level::machine), (Counts{2, 1, 1}));
  EXPECT_EQ(spread(machines, find(by_rack), model::Level::rack), (Counts{2, 1, 1}));
  EXPECT_EQ(spread(machines, find(both), model::Level::machine), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(spread(machines, find(both), model::Level::pod).size(), 2U);
}

TEST(DomainTaskCounts, give_back_restores_what_is_allowed) {
  Machines machines;
  const model::PlacementRules rules{.max_tasks = {2, kAny, kAny}, .min_domains = {1, 2, 1}};
  model::DomainTaskCounts counts(machines.tiny.instance.cluster, rules, 3);
  counts.take(MachineId(0));
  EXPECT_TRUE(counts.allow(MachineId(0)));
  counts.take(MachineId(0));
  EXPECT_FALSE(counts.allow(MachineId(0))) << "two tasks are there";
  EXPECT_FALSE(counts.allow(MachineId(1))) << "the last task must be in another rack";
  EXPECT_TRUE(counts.allow(MachineId(2)));
  counts.give_back(MachineId(0));
  EXPECT_TRUE(counts.allow(MachineId(1)));
}

TEST(RoomRules, a_machine_of_an_exclusive_job_has_no_room_until_it_leaves) {
  Machines machines;
  machines.all.resize(1);
  const JobId alone = machines.job(1, {.exclusive = true});
  const JobId other = machines.job(1, {});
  const model::Workload& workload = machines.tiny.instance.workload;
  Room room(machines.tiny.instance.cluster);
  const auto placed = machines.place(room, alone);
  ASSERT_TRUE(placed);
  EXPECT_EQ(room.free_milli(MachineId(0)), 0);
  EXPECT_EQ(room.shared(MachineId(0)).milli(), 3000);
  EXPECT_FALSE(machines.place(room, other));
  release(room, workload, *placed);
  EXPECT_EQ(room.free_milli(MachineId(0)), 4000);
  const auto first = machines.place(room, other);
  ASSERT_TRUE(first);
  EXPECT_FALSE(machines.place(room, alone)) << "another job is there";
  EXPECT_FALSE(is_free(room, workload, *placed));
  release(room, workload, *first);
  EXPECT_TRUE(is_free(room, workload, *placed));
}

TEST(RoomRules, jobs_keep_away_from_labels_in_both_directions) {
  Machines machines;
  machines.all.resize(1);
  const JobId labelled = machines.job(1, {.labels = {"x"}});
  const JobId avoids = machines.job(1, {.not_with = {"x"}});
  const JobId plain = machines.job(1, {.labels = {"y"}});
  const model::Workload& workload = machines.tiny.instance.workload;
  Room room(machines.tiny.instance.cluster);
  const auto x = machines.place(room, labelled);
  EXPECT_FALSE(machines.place(room, avoids));
  EXPECT_TRUE(machines.place(room, plain));
  release(room, workload, *x);
  EXPECT_TRUE(machines.place(room, avoids));
  EXPECT_FALSE(machines.place(room, labelled));
}

TEST(RoomRules, pinned_jobs_count) {
  Machines machines;
  const JobId pinned = machines.job(1, {.exclusive = true});
  machines.tiny.pin(pinned, {{MachineId(0), 0, 1, 1000}});
  const JobId plain = machines.job(1, {});
  machines.tiny.pin(plain, {{MachineId(1), 0, 1, 1000}});
  const JobId alone = machines.job(1, {.exclusive = true});
  Room room(machines.tiny.instance.cluster);
  room.add_pinned(machines.tiny.instance.workload);
  EXPECT_EQ(room.free_milli(MachineId(0)), 0);
  EXPECT_EQ(room.free_milli(MachineId(1)), 3000);
  EXPECT_FALSE(
      room.admits(machines.tiny.instance.workload, machines.tiny[alone].rules, MachineId(1)));
  EXPECT_EQ(machines.place(room, alone)->tasks.front().machine, MachineId(2));
}

}  // namespace
}  // namespace berth::planner_model
