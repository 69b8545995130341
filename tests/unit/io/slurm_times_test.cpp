// SPDX-License-Identifier: Apache-2.0
// Slurm's limits, begins, dependencies and reservations as keys of time.
#include "faults.hpp"
#include "slurm_samples.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/slurm.hpp"

namespace berth::io {
namespace {

using model::kNotGiven;
using model::MachineRange;
using model::WindowKind;

constexpr std::int64_t kNow = 10000;

SlurmImport import(const SlurmSources& sources, double limit_used = 1.0) {
  return import_slurm(sources, {.now = kNow, .times = true, .limit_used = limit_used});
}

bool has(const std::vector<SlurmNote>& notes, const std::string& part, std::int64_t count) {
  return std::ranges::any_of(notes, [&](const SlurmNote& note) {
    return note.what.find(part) != std::string::npos && note.count == count;
  });
}

JobId id_of(const SlurmImport& i, const std::string& name) {
  const auto& w = i.instance.workload;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    if (w.job_names[j] == name) return JobId(j);
  }
  return {};
}

const model::TimeRules& times(const SlurmImport& i, const std::string& name) {
  return i.instance.workload.time_of(i.instance.workload.job(id_of(i, name)));
}

std::vector<std::string> before(const SlurmImport& i, const std::string& name) {
  std::vector<std::string> names;
  for (const model::Dependency& d : i.instance.workload.dependencies_of(id_of(i, name))) {
    names.emplace_back(i.instance.workload.job_names[d.after.index()]);
  }
  return names;
}

class SlurmTimesTest : public testing::TestWithParam<Json> {
 protected:
  /// Waits for other jobs.
  Samples& waits(std::int64_t id, const std::string& dependency) {
    return s.job(id, {{"dependency", in_json(dependency)}});
  }
  SlurmSources reserved(const std::string& text) {
    SlurmSources sources = s.sources();
    sources.reservations = {.name = "reservations", .text = text};
    return sources;
  }
  std::string reservation(const std::string& name, const std::string& nodes, std::int64_t from,
                          std::int64_t to, const std::string& flag = "SPEC_NODES") {
    return R"({"name":")" + name + R"(","node_list":")" + nodes + R"(","start_time":)" +
           s.number(from) + R"(,"end_time":)" + s.number(to) + R"(,"flags":)" +
           s.words({"IGNORE_JOBS", flag}) + "}";
  }
  Samples s{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmTimesTest,
                         testing::Values(Json::plain, Json::wrapped), [](const auto& which) {
                           return which.param == Json::plain ? "plain" : "wrapped";
                         });

TEST_P(SlurmTimesTest, limits_and_begins_are_times_of_jobs) {
  s.node("n0").job(1).job(2, {{"time_limit", s.unlimited()}});
  s.job(3, {{"eligible_time", s.number(20000)}});
  const SlurmImport i = import(s.sources());
  EXPECT_EQ(times(i, "1"), (model::TimeRules{.limit = 3600}));
  EXPECT_EQ(times(i, "2"), model::TimeRules{});
  EXPECT_EQ(times(i, "3"), (model::TimeRules{.limit = 3600, .not_before = 20000}));
  EXPECT_EQ(i.instance.workload.job(id_of(i, "1")).arrival, 501);
  EXPECT_TRUE(i.left.empty());
}

TEST_P(SlurmTimesTest, jobs_are_expected_to_use_a_part_of_their_limit) {
  s.node("n0").job(1).running(2, "n0", 1, 10, {{"start_time", s.number(9000)}});
  s.running(3, "n0", 1, 10, {{"start_time", s.number(7000)}});  // beyond the part
  s.running(4, "n0", 1, 10, {{"start_time", s.number(1000)}});  // beyond the limit
  const SlurmImport i = import(s.sources(), 0.5001);
  EXPECT_EQ(times(i, "1"), (model::TimeRules{.duration = 1801, .limit = 3600}));
  EXPECT_EQ(times(i, "2"), (model::TimeRules{.duration = 1801, .limit = 3600}));
  EXPECT_EQ(times(i, "3"), (model::TimeRules{.limit = 3600}));
  EXPECT_EQ(times(i, "4"), (model::TimeRules{.limit = 9060}));
  EXPECT_EQ(i.instance.workload.running[0].since, 9000);
  EXPECT_TRUE(i.instance.workload.running[0].pinned);
}

TEST_P(SlurmTimesTest, jobs_wait_for_the_end_of_others) {
  s.node("n0").job(1).running(2, "n0", 1, 10, {{"start_time", s.number(9000)}});
  s.job(30, {{"array_job_id", s.number(30)}, {"array_task_string", in_json("1-2")}});
  waits(4, "afterok:1(unfulfilled),afterany:2:30_*(unfulfilled)");
  waits(5, "afterany:30_2(unfulfilled)");
  const SlurmImport i = import(s.sources());
  EXPECT_EQ(before(i, "4"), (std::vector<std::string>{"2", "1", "30_1", "30_2"}));
  EXPECT_EQ(before(i, "5"), (std::vector<std::string>{"30_2"}));
  EXPECT_TRUE(before(i, "1").empty());
  EXPECT_TRUE(i.left.empty());
}

TEST_P(SlurmTimesTest, jobs_stay_with_slurm_when_what_they_wait_for_does) {
  s.node("n0").job(1, {{"priority", s.number(0)}});  // held
  s.job(30, {{"array_job_id", s.number(30)},
             {"array_task_string", in_json("1-3%2")},
             {"array_max_tasks", s.number(2)}});
  waits(4, "afterok:1");
  waits(5, "afterok:4");
  waits(6, "afterok:99");
  waits(7, "afterok:30");
  waits(8, "afterok:30_1");
  const SlurmImport i = import(s.sources());
  EXPECT_TRUE(has(i.left, "a job that is not planned", 4));
  EXPECT_EQ(before(i, "8"), (std::vector<std::string>{"30_1"}));
}

TEST_P(SlurmTimesTest, other_dependencies_stay_with_slurm) {
  s.node("n0").job(1);
  const std::vector<std::string> texts{
      "after:1",     "afternotok:1",      "singleton",           "afterok:1+30",
      "aftercorr:1", "afterok:1(failed)", "afterok:1?afterany:1"};
  for (std::size_t t = 0; t < texts.size(); ++t) {
    waits(static_cast<std::int64_t>(10 + t), texts[t]);
  }
  const SlurmImport i = import(s.sources());
  EXPECT_TRUE(has(i.left, "files cannot say", std::ssize(texts)));
}

TEST_P(SlurmTimesTest, reservations_are_windows) {
  for (const char* node : {"n0", "n1", "n2"}) s.node(node);
  s.node("n3", {{"state", s.state({"RESERVED"})}, {"reservation", in_json("on")}}).job(1);
  s.running(2, "n3", 1, 10, {{"start_time", s.number(9000)}, {"resv_name", in_json("on")}});
  const SlurmImport i = import(reserved(
      R"({"reservations":[)" + reservation("on", "n3", 8000, 12000) + "," +
      reservation("fix", "n[0-1]", 50000, 60000, "MAINT") + "," +
      reservation("over", "n2", 1, kNow) + "," + reservation("elsewhere", "x", 1, 90000) + "]}"));
  const model::Cluster& c = i.instance.cluster;
  ASSERT_EQ(c.windows.size(), 2U);
  EXPECT_EQ(c.windows[0].machines, (std::vector<MachineRange>{{3, 4}}));
  EXPECT_EQ(c.windows[0].from, 8000);
  EXPECT_EQ(c.windows[0].to, 12000);
  EXPECT_EQ(c.windows[0].kind, WindowKind::reservation);
  EXPECT_EQ(c.windows[0].jobs, (std::vector<std::string>{"2"}));
  EXPECT_EQ(c.windows[0].job_ids, (std::vector<JobId>{id_of(i, "2")}));
  EXPECT_EQ(c.windows[1].machines, (std::vector<MachineRange>{{0, 2}}));
  EXPECT_EQ(c.windows[1].kind, WindowKind::maintenance);
  for (std::size_t m = 0; m < c.machines(); ++m) {
    EXPECT_EQ(c.state_of(MachineId(m)), model::MachineState::up);
  }
}

TEST_P(SlurmTimesTest, the_text_of_scontrol_has_flags_of_maintenance) {
  s.node("n0").node("n1").job(1);
  const SlurmImport i =
      import(reserved("ReservationName=a StartTime=1970-01-01T00:00:00 EndTime=2100-01-01T00:00:00 "
                      "Nodes=n0 Flags=IGNORE_JOBS,MAINT,SPEC_NODES\n"
                      "ReservationName=b StartTime=1970-01-01T00:00:00 EndTime=2100-01-01T00:00:00 "
                      "Nodes=n1 Flags=SPEC_NODES\n"));
  ASSERT_EQ(i.instance.cluster.windows.size(), 2U);
  EXPECT_EQ(i.instance.cluster.windows[0].kind, WindowKind::maintenance);
  EXPECT_EQ(i.instance.cluster.windows[1].kind, WindowKind::reservation);
}

/// Such files must not be refused: Slurm lets jobs run on with IGNORE_JOBS.
TEST_P(SlurmTimesTest, jobs_of_others_in_reservations_end_or_keep_the_machine) {
  s.node("n0").node("n1").job(1);
  s.running(2, "n0", 1, 10, {{"start_time", s.number(9000)}, {"time_limit", s.unlimited()}});
  s.running(3, "n1", 1, 10, {{"start_time", s.number(9000)}});
  const SlurmImport i =
      import(reserved(R"({"reservations":[)" + reservation("on", "n1", 8000, 99000) + "," +
                      reservation("soon", "n0", 11000, 12000, "MAINT") + "," +
                      reservation("later", "n0", 13000, 14000, "MAINT") + "]}"));
  EXPECT_EQ(times(i, "2"), (model::TimeRules{.duration = 2000}));
  EXPECT_TRUE(has(i.notes, "taken to end there", 1));
  EXPECT_TRUE(has(i.notes, "reserved without end", 1));
  EXPECT_EQ(i.instance.cluster.windows.size(), 2U);
  EXPECT_EQ(i.instance.cluster.state_of(MachineId(1)), model::MachineState::reserved);
}

TEST_P(SlurmTimesTest, written_files_read_back) {
  s.node("n0").job(1).running(2, "n0", 1, 10, {{"start_time", s.number(9000)}});
  waits(4, "afterok:1:2");
  const SlurmImport i = import(
      reserved(R"({"reservations":[)" + reservation("soon", "n0", 11000, 12000, "MAINT") + "]}"),
      0.7);
  model::Instance again{.cluster = parse_cluster(cluster_text(i.instance.cluster), "c.yaml"),
                        .workload = {}};
  again.workload = parse_jobs(jobs_text(i.instance), "j.jsonl", again.cluster);
  EXPECT_EQ(model::instance_digest(again), model::instance_digest(i.instance));
}

TEST(SlurmTimes, without_the_option_files_have_no_times) {
  Samples s(Json::wrapped);
  s.node("n0").job(1).running(2, "n0", 1, 10, {{"start_time", s.number(900)}});
  s.job(3, {{"dependency", in_json("afterok:1")}});
  const SlurmImport i = import_slurm(s.sources(), {.now = 1000});
  EXPECT_EQ(keys_of_time(i.instance.cluster, i.instance.workload), "");
  EXPECT_TRUE(has(i.left, "waits for another job", 1));
}

TEST(SlurmTimes, a_part_of_the_limit_lies_between_nothing_and_all) {
  for (const double part : {0.0, -1.0, 1.5}) {
    EXPECT_THROW(validate(SlurmImportOptions{.times = true, .limit_used = part}), InputError);
  }
  EXPECT_THROW(validate(SlurmImportOptions{.limit_used = 0.5}), InputError);
  EXPECT_NO_THROW(validate(SlurmImportOptions{.times = true, .limit_used = 0.5}));
}

}  // namespace
}  // namespace berth::io
