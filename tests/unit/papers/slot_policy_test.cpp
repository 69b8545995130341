// SPDX-License-Identifier: Apache-2.0
// PD-ORS and OASiS in a simulation: jobs files with workers and servers, profiles and runs.
#include "pd_ors/slot_policy.hpp"

#include "petsc_environment.hpp"
#include "tiny.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/certify/run.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/papers/pd_ors/pooled_bound.hpp"
#include "berth/sim/metrics.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::papers {
namespace {

constexpr policy::Micros kHour = 3600 * policy::kSecond;

struct Row {
  int arrival = 0;       ///< seconds
  int duration = 14400;  ///< seconds of one worker beside its server
  int value = 10;
  std::string utility = R"({"linear":[[0,1],[72000,0]]})";
  std::string more = "";
};

/// Jobs of 1, 2 or 4 workers of a GPU and half as many servers, on machines of 4 GPUs and 8 cores.
/// A worker does 1 second of work in a second beside its servers, half of that elsewhere.
struct SlotWorld {
  explicit SlotWorld(const std::vector<Row>& rows, int machines = 2) : count(rows.size()) {
    const ClassId of = tiny.machine_class("m", tiny.type("X"), 4, 8'000, 64 * 1024);
    tiny.pod();
    tiny.rack();
    for (int m = 0; m < machines; ++m) tiny.machine(of);
    std::string jobs;
    for (std::size_t j = 0; j < rows.size(); ++j) jobs += line(j, rows[j]);
    tiny.instance.workload = io::parse_jobs(jobs, "jobs.jsonl", tiny.instance.cluster);
  }

  static std::string line(std::size_t j, const Row& row) {
    return "{\"id\":\"j" + std::to_string(j) + R"(","arrival":)" + std::to_string(row.arrival) +
           ",\"duration\":" + std::to_string(row.duration) +
           ",\"value\":" + std::to_string(row.value) + ",\"utility\":" + row.utility + row.more +
           R"(,"tasks":[{"shape":"worker","count":1,"gpus":1,"cpu_milli":1000},)"
           R"({"shape":"server","count":1,"cpu_milli":1000}],"configurations":[)"
           R"({"counts":{"worker":1,"server":1}},{"counts":{"worker":2,"server":1}},)"
           R"({"counts":{"worker":4,"server":2}}]})"
           "\n";
  }

  [[nodiscard]] std::string profiles() const {
    std::string text =
        R"({"profile":"a","model":"parameter_server","reference":100,"servers":"server",)"
        R"("seconds_per_sample":0.005,"gradient_gbit":0.25,"batch":4,"workers_per_server":2,)"
        R"("internal_gbps":50,"external_gbps":16.6666666666666667})";
    text += "\n";
    for (std::size_t j = 0; j < count; ++j)
      text += "{\"job\":\"j" + std::to_string(j) + R"(","profile":"a"})" + "\n";
    return text;
  }

  sim::Run run(std::string_view policy, const sim::World& world = {},
               const sim::ReplayOptions& options = {}) {
    return run_with(policy, profiles(), world, options);
  }
  sim::Run run_with(std::string_view policy, const std::string& text, sim::World world = {},
                    const sim::ReplayOptions& options = {}) {
    speed::Profiles parsed = io::parse_profiles(text, "p.jsonl", tiny.instance);
    const sim::WorldSpeeds speeds(tiny.instance, parsed, 0.0);
    const auto made = find_paper_policy(policy)->make({tiny.instance, parsed, 1});
    const sim::Trace trace = sim::make_trace(tiny.instance, options, &speeds);
    world.speeds = &speeds;
    return sim::simulate(tiny.instance.cluster, trace, *made, {}, world);
  }

  [[nodiscard]] std::vector<std::string> faults(const sim::Run& run,
                                                std::vector<certify::MachineDown> down = {}) const {
    const model::RunSummary summary{.instance_digest = model::instance_digest(tiny.instance),
                                    .run_digest = "",
                                    .policy = "",
                                    .options = {},
                                    .figures = sim::figures(tiny.instance, run.records)};
    return certify::check_run(tiny.instance, run.records, summary, down).faults;
  }

  test::Tiny tiny;
  std::size_t count;
};

std::set<std::size_t> machines_of(const model::JobRun& run, std::uint32_t group) {
  std::set<std::size_t> machines;
  for (const auto& task : run.tasks) {
    if (task.group == group) machines.insert(task.machine.index());
  }
  return machines;
}

std::size_t workers_of(const model::JobRun& run) {
  return static_cast<std::size_t>(std::ranges::count(run.tasks, 0U, &model::TaskPlacement::group));
}

// 14,400 s of work: four workers of one machine are done after one hour.
TEST(SlotPolicy, a_job_alone_takes_the_crew_that_pays_most) {
  SlotWorld world(std::vector<Row>(1));
  const sim::Run run = world.run("pd-ors");
  ASSERT_EQ(run.records[0].runs.size(), 1U);
  EXPECT_EQ(workers_of(run.records[0].runs[0]), 4U);
  EXPECT_EQ(machines_of(run.records[0].runs[0], 0), machines_of(run.records[0].runs[0], 1));
  EXPECT_EQ(run.records[0].end(), kHour);
  EXPECT_TRUE(world.faults(run).empty());
}

// Three jobs of a machine-hour without hurry on two machines: what two have booked of the first
// hour is dear for the third, which takes the second hour.
TEST(SlotPolicy, prices_of_what_is_booked_move_jobs_to_later_slots) {
  SlotWorld world(std::vector<Row>(3, {.utility = R"({"steps":[[0,1],[72000,0]]})"}));
  const sim::Run run = world.run("pd-ors");
  std::vector<policy::Micros> ends;
  for (const auto& record : run.records) ends.push_back(record.end());
  EXPECT_EQ(ends, (std::vector<policy::Micros>{kHour, kHour, 2 * kHour}));
  EXPECT_TRUE(world.faults(run).empty());
}

// Workers on the first machine, servers on the second, at half the speed.
TEST(SlotPolicy, oasis_keeps_workers_and_servers_apart) {
  SlotWorld world({{}, {.arrival = 100}});
  const sim::Run run = world.run("oasis");
  for (const auto& record : run.records) {
    for (const model::JobRun& part : record.runs) {
      EXPECT_EQ(machines_of(part, 0), std::set<std::size_t>{0});
      EXPECT_EQ(machines_of(part, 1), std::set<std::size_t>{1});
      EXPECT_DOUBLE_EQ(part.speed, 0.5 * static_cast<double>(workers_of(part)));
    }
  }
  EXPECT_TRUE(run.records[0].finished());
  EXPECT_GE(run.records[0].end(), 2 * kHour);
  EXPECT_TRUE(world.faults(run).empty());
}

/// 12 dear jobs of a machine-hour each that must end within three hours, on one pair of machines:
/// six of them have room.
std::vector<Row> crowd() {
  std::vector<Row> rows;
  for (int j = 0; j < 12; ++j)
    rows.push_back({.value = 50 + j, .utility = R"({"steps":[[0,1],[10800,0]]})"});
  return rows;
}

TEST(SlotPolicy, refuses_whom_prices_turn_away_and_says_so) {
  SlotWorld world(crowd());
  const sim::Run run = world.run("pd-ors");
  std::size_t refused = 0;
  for (const auto& record : run.records) {
    EXPECT_NE(record.refused, record.finished());
    EXPECT_TRUE(record.refused || record.end() <= 3 * kHour);
    refused += record.refused ? 1 : 0;
  }
  EXPECT_GE(refused, 6U);
  EXPECT_LT(refused, 12U);
  EXPECT_TRUE(world.faults(run).empty());
  EXPECT_EQ(sim::figures(world.tiny.instance, run.records).refused, static_cast<double>(refused));
  sim::Run broken = run;
  for (auto& record : broken.records) record.refused = true;
  EXPECT_FALSE(world.faults(broken).empty());
}

// j13 waits for j12, which nobody pays for; j14 waits for j13 and arrives later.
TEST(SlotPolicy, jobs_that_wait_for_a_refused_one_are_refused) {
  std::vector<Row> rows = crowd();
  rows.push_back({.value = 0});
  rows.push_back({.more = R"(,"after":["j12"])"});
  rows.push_back({.arrival = 20000, .more = R"(,"after":["j13"])"});
  rows.push_back({.arrival = 40000});
  SlotWorld world(rows);
  const sim::Run run = world.run("pd-ors");
  for (const std::size_t j : {12, 13, 14}) EXPECT_TRUE(run.records[j].refused) << j;
  EXPECT_TRUE(run.records[15].finished());
  EXPECT_TRUE(world.faults(run).empty());
}

// A restart costs a minute: a booked slot counts as a minute less, so that what is booked is
// enough.
TEST(SlotPolicy, books_room_for_restarts) {
  std::vector<Row> rows;
  for (int j = 0; j < 6; ++j)
    rows.push_back({.arrival = 1000 * j, .duration = 20000 + 1000 * j, .value = 10 + 5 * j});
  SlotWorld world(rows, 3);
  const sim::Run run = world.run("pd-ors", {}, {.restart_cost = 60 * policy::kSecond});
  for (const auto& record : run.records) EXPECT_NE(record.refused, record.finished());
  EXPECT_TRUE(world.faults(run).empty());
}

// Both machines fail in the first hour: what was booked is not enough, and the jobs run on.
TEST(SlotPolicy, admitted_jobs_end_although_machines_fail) {
  SlotWorld world(std::vector<Row>(2));
  const sim::World failing{
      .closings = {{MachineId(0), kHour / 2, 2 * kHour}, {MachineId(1), kHour / 3, 3 * kHour}}};
  const sim::Run run = world.run("pd-ors", failing);
  for (const auto& record : run.records) {
    EXPECT_TRUE(record.finished());
    EXPECT_GT(record.end(), kHour);
  }
  EXPECT_TRUE(
      world
          .faults(run, {{MachineId(0), kHour / 2, 2 * kHour}, {MachineId(1), kHour / 3, 3 * kHour}})
          .empty());
}

std::string refusal(SlotWorld& world, std::string_view policy, const std::string& profiles) {
  try {
    (void)world.run_with(policy, profiles);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SlotPolicy, jobs_without_data_are_named_with_what_they_lack) {
  SlotWorld world(std::vector<Row>(2));
  std::string only_first = world.profiles();
  only_first.resize(only_first.find("{\"job\":\"j1\""));
  for (const std::string_view policy : {"pd-ors", "oasis"}) {
    const std::string text = refusal(world, policy, only_first);
    EXPECT_NE(text.find("j1 has no profile of the model parameter_server"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("j0"), std::string::npos);
    EXPECT_NE(text.find(policy), std::string::npos);
  }
  SlotWorld narrow({{.more = R"(,"domain":"rack")"}});
  EXPECT_NE(refusal(narrow, "pd-ors", narrow.profiles()).find("j0 has a domain"),
            std::string::npos);
  SlotWorld one(std::vector<Row>(1), 1);
  EXPECT_NE(refusal(one, "oasis", one.profiles()).find("two machines"), std::string::npos);
}

TEST(SlotPolicy, too_many_slots_ask_for_longer_ones) {
  SlotWorld world({{}, {.arrival = 2'000'000'000}});
  const sim::World short_slots{.slot = policy::kSecond};
  try {
    (void)world.run("pd-ors", short_slots);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("longer --slot"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::papers
