// SPDX-License-Identifier: Apache-2.0
#include "berth/io/jobs_file.hpp"

#include "faults.hpp"
#include "two_type_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "berth/base/error.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"
#include "berth/model/free_machine.hpp"

namespace berth::io {
namespace {

using model::Cluster;
using model::Factors;
using model::Instance;
using model::Job;
using model::Level;
using model::Shape;
using model::Workload;

constexpr std::uint64_t kAny = ~std::uint64_t{0};

using test::two_types;
using test::with_jobs;

TEST(ParseJobs, only_id_and_tasks_are_needed) {
  const Instance instance = with_jobs(R"({"id":"j","tasks":[{"gpus":2}]})");
  ASSERT_EQ(instance.workload.jobs.size(), 1U);
  const Job& job = instance.workload.jobs[0];
  EXPECT_EQ(instance.workload.job_names[0], "j");
  EXPECT_EQ(job.gpu_types, kAny);
  EXPECT_EQ(job.weight, 1.0);
  EXPECT_TRUE(std::isnan(job.value));
  EXPECT_EQ(job.domain, Level::cluster);
  EXPECT_FALSE(job.required || job.queue.valid() || job.home_rack.valid() || job.home_pod.valid());
  EXPECT_EQ(job.speed + job.home_factor + job.width_factor, 0U);
  const auto groups = instance.workload.groups_of(job);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].count, 1);
  EXPECT_EQ(instance.workload.labels[groups[0].label], "task");
  EXPECT_EQ(instance.workload.shape(groups[0].shape), (Shape{.gpus = 2}));
}

TEST(ParseJobs, reads_every_key) {
  const Instance instance = with_jobs(
      R"({"value":12.5,"width_factor":{"machine":1,"rack":1,"pod":0.95,"cluster":0.8},"id":"j",)"
      R"("arrival":7,"queue":"product","priority":-3,"weight":2.5,"required":true,"domain":"pod",)"
      R"("tasks":[{"shape":"worker","count":4,"gpus":2,"cpu_milli":8000,"memory_mib":1024},)"
      R"({"shape":"server","gpu_milli":300}],"gpu_types":["B"],"speed":{"B":1.6},)"
      R"("home":{"rack":"rack-2","factor":{"rack":1,"pod":0.9,"cluster":0.75}}})");
  const Workload& w = instance.workload;
  const Job& job = w.jobs[0];
  EXPECT_EQ(job.arrival, 7);
  EXPECT_EQ(job.queue, QueueId(1));
  EXPECT_EQ(job.priority, -3);
  EXPECT_EQ(job.weight, 2.5);
  EXPECT_EQ(job.value, 12.5);
  EXPECT_TRUE(job.required);
  EXPECT_EQ(job.domain, Level::pod);
  EXPECT_EQ(job.gpu_types, 2U);
  EXPECT_EQ(w.speed(job, GpuTypeId(0)), 1.0);
  EXPECT_EQ(w.speed(job, GpuTypeId(1)), 1.6);
  EXPECT_EQ(job.home_rack, RackId(2));
  EXPECT_EQ(w.factors[job.home_factor], (Factors{1, 1, 0.9, 0.75}));
  EXPECT_EQ(w.factors[job.width_factor], (Factors{1, 1, 0.95, 0.8}));
  const auto groups = w.groups_of(job);
  EXPECT_EQ(groups[0].count, 4);
  EXPECT_EQ(w.shape(groups[0].shape), (Shape{.needs = {8000, 1024}, .gpus = 2}));
  EXPECT_EQ(w.shape(groups[1].shape), (Shape{.gpu_milli = 300}));
}

TEST(ParseJobs, reads_where_jobs_run_and_pins_them) {
  const Instance instance =
      with_jobs(R"({"id":"a","tasks":[{"shape":"w","count":2,"gpus":2}],"running":{"tasks":[)"
                R"({"shape":"w","machine":"m1","gpus":[{"index":0},{"index":3,"milli":1000}]},)"
                R"({"shape":"w","machine":"m0","gpus":[{"index":7},{"index":6}]}],)"
                R"("stop_cost":2,"move_cost":0.5}})"
                "\n"
                R"({"id":"b","tasks":[{"gpu_milli":300}],"running":{"pinned":true,"tasks":[)"
                R"({"machine":"m1","gpus":[{"index":1,"milli":300}]}]}})"
                "\n"
                R"({"id":"c","tasks":[{"gpus":1}]})");
  const Workload& w = instance.workload;
  ASSERT_EQ(w.running.size(), 2U);
  EXPECT_EQ(w.running_of(w.jobs[2]), nullptr);
  const model::Running& a = *w.running_of(w.jobs[0]);
  EXPECT_FALSE(a.pinned);
  EXPECT_EQ(a.stop_cost, 2.0);
  EXPECT_EQ(a.move_cost, 0.5);
  ASSERT_EQ(w.tasks_of(a).size(), 2U);
  EXPECT_EQ(w.tasks_of(a)[0], (model::TaskPlacement{MachineId(0), 0, 0xC0, 1000}));
  EXPECT_EQ(w.tasks_of(a)[1], (model::TaskPlacement{MachineId(1), 0, 0x9, 1000}));
  EXPECT_TRUE(w.pinned(w.jobs[1]));
  EXPECT_FALSE(w.pinned(w.jobs[0]) || w.pinned(w.jobs[2]));
  ASSERT_EQ(instance.cluster.immovable.size(), 1U);
  EXPECT_EQ(instance.cluster.immovable[0].job, JobId(1));
  EXPECT_EQ(instance.cluster.immovable[0].devices, 2U);
  EXPECT_EQ(instance.cluster.immovable[0].milli, 300);
}

TEST(ParseJobs, who_runs_on_a_drained_machine_is_pinned) {
  Cluster cluster = two_types();
  cluster.machine_state = {model::MachineState::drained, model::MachineState::up,
                           model::MachineState::up};
  const Workload w = parse_jobs(
      R"({"id":"a","tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]}})",
      "j.jsonl", cluster);
  EXPECT_TRUE(w.pinned(w.jobs[0]));
}

TEST(ParseJobs, who_runs_on_an_evacuated_machine_may_move_unless_pinned) {
  Cluster cluster = two_types();
  cluster.machine_state = {model::MachineState::drain, model::MachineState::up,
                           model::MachineState::up};
  const Workload w = parse_jobs(
      R"({"id":"a","tasks":[{"gpus":1}],"running":{"tasks":[{"machine":"m0","gpus":[{"index":0}]}]}})"
      "\n"
      R"({"id":"b","tasks":[{"gpus":1}],"running":{"pinned":true,"tasks":[{"machine":"m0","gpus":[{"index":1}]}]}})",
      "j.jsonl", cluster);
  EXPECT_FALSE(w.pinned(w.jobs[0]));
  EXPECT_TRUE(w.pinned(w.jobs[1]));
}

TEST(ParseJobs, reads_communication) {
  const Workload w = with_jobs(R"({"id":"a","tasks":[{"count":4,"gpus":1}],)"
                               R"("communication":{"pattern":"ring","gbps":12.5}})"
                               "\n"
                               R"({"id":"b","tasks":[{"shape":"w","gpus":1},{"shape":"ps"}],)"
                               R"("communication":{"pattern":"ps","gbps":0.0004,"servers":"ps"}})")
                         .workload;
  EXPECT_EQ(w.jobs[0].communication.pattern, model::CommunicationPattern::ring);
  EXPECT_EQ(w.jobs[0].communication.mbps, 12500);
  EXPECT_EQ(w.jobs[1].communication.pattern, model::CommunicationPattern::ps);
  EXPECT_EQ(w.jobs[1].communication.mbps, 1);
  EXPECT_EQ(w.jobs[1].communication.servers, 1U);
}

TEST(WriteJobs, running_jobs_and_communication_read_back) {
  const Instance instance = with_jobs(
      R"({"id":"a","tasks":[{"shape":"w","count":2,"gpus":2},{"shape":"s","cpu_milli":3}],)"
      R"("communication":{"pattern":"ps","gbps":2.5,"servers":"s"}})"
      "\n"
      R"({"id":"b","tasks":[{"gpu_milli":300}],"running":{"pinned":true,"tasks":[)"
      R"({"machine":"m1","gpus":[{"index":1,"milli":300}]}]}})"
      "\n"
      R"({"id":"c","tasks":[{"shape":"w","count":2,"gpus":2}],"running":{"tasks":[)"
      R"({"shape":"w","machine":"m1","gpus":[{"index":0},{"index":2}]},)"
      R"({"shape":"w","machine":"m0","gpus":[{"index":7},{"index":6}]}],"move_cost":0.5}})");
  const std::string text = jobs_text(instance);
  EXPECT_EQ(instance_digest(with_jobs(text)), instance_digest(instance)) << text;
  EXPECT_EQ(jobs_text(with_jobs(text)), text);
}

TEST(ParseJobs, reads_and_writes_nics) {
  const Instance instance = with_jobs(
      R"({"id":"a","tasks":[{"shape":"w","gpus":1,"nic_mbps":400},{"shape":"s","gpus":1}]})");
  const auto groups = instance.workload.groups_of(instance.workload.jobs[0]);
  EXPECT_EQ(instance.workload.shape(groups[0].shape), (Shape{.needs = {0, 0, 400}, .gpus = 1}));
  EXPECT_EQ(instance.workload.shape(groups[1].shape), (Shape{.gpus = 1}));
  const std::string text = jobs_text(instance);
  EXPECT_EQ(instance_digest(with_jobs(text)), instance_digest(instance)) << text;
}

/// A share of 300 on a GPU of 7 slices runs on 3 of them, however the file tells it.
TEST(ParseJobs, reads_and_writes_how_many_tasks_have_to_answer) {
  const Instance instance = with_jobs(
      R"({"id":"j","tasks":[{"shape":"worker","count":4,"gpus":1,"k_of":3},{"gpus":1}]})");
  const auto groups = instance.workload.groups_of(instance.workload.jobs[0]);
  EXPECT_EQ(groups[0].k_of, 3);
  EXPECT_EQ(groups[1].k_of, 0);
  EXPECT_NE(jobs_text(instance).find(R"("k_of":3)"), std::string::npos);
  Instance all = instance;
  all.workload.groups[0].k_of = 0;
  EXPECT_NE(model::instance_digest(instance), model::instance_digest(all));
  EXPECT_THROW((void)with_jobs(R"({"id":"j","tasks":[{"count":4,"k_of":5}]})"), InputError);
  EXPECT_THROW((void)with_jobs(R"({"id":"j","tasks":[{"count":4,"k_of":0}]})"), InputError);
  EXPECT_THROW(
      (void)with_jobs(
          R"({"id":"j","tasks":[{"count":4,"k_of":2}],"configurations":[{"counts":{"task":4}}]})"),
      InputError);
}

TEST(ParseJobs, what_runs_on_slices_takes_whole_ones) {
  const auto read = [](const std::string& milli, bool pinned) {
    Instance instance{.cluster = parse_cluster(
                          "{schema: 1, classes: {a: {gpu_type: A, gpus: 1, gpu_slices: 7}},\n"
                          "pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: a}]}]}]}",
                          "c.yaml"),
                      .workload = {}};
    instance.workload = parse_jobs(
        R"({"id":"a","tasks":[{"gpu_milli":300,"nic_mbps":7}],"running":{"tasks":[{"machine":"m",)"
        R"("gpus":[{"index":0)" +
            milli + R"(}]}],"pinned":)" + (pinned ? "true" : "false") + "}}",
        "j.jsonl", instance.cluster);
    return instance;
  };
  for (const char* milli : {"", R"(,"milli":300)", R"(,"milli":428)"}) {
    const Instance moves = read(milli, false);
    EXPECT_EQ(moves.workload.running_tasks[0].milli, 428) << milli;
    const Instance stays = read(milli, true);
    ASSERT_EQ(stays.cluster.immovable.size(), 1U);
    EXPECT_EQ(stays.cluster.immovable[0].taken[model::kNic], 7);
    EXPECT_EQ(model::FreeMachine(stays.cluster, MachineId(0)).milli(), 572);
  }
  EXPECT_THROW(read(R"(,"milli":285)", false), InputError);
}

TEST(ParseJobs, blank_lines_and_windows_ends_are_fine_and_no_jobs_are_jobs) {
  EXPECT_EQ(with_jobs("").workload.jobs.size(), 0U);
  EXPECT_EQ(with_jobs("\n \r\n").workload.jobs.size(), 0U);
  EXPECT_EQ(with_jobs("\r\n{\"id\":\"a\",\"tasks\":[{}]}\r\n\n{\"id\":\"b\",\"tasks\":[{}]}")
                .workload.jobs.size(),
            2U);
}

TEST(ParseJobs, repeated_parts_are_kept_once) {
  std::string text;
  for (int j = 0; j < 10; ++j) {
    text += R"({"id":")" + std::to_string(j) +
            R"(","tasks":[{"shape":"w","gpus":1}],"speed":{"A":2,"B":1},)"
            R"("home":{"rack":"rack-0","factor":{"pod":0.5}},"width_factor":{"cluster":0.5}})"
            "\n";
  }
  const Instance instance = with_jobs(text);
  const Workload& w = instance.workload;
  EXPECT_EQ(w.shapes.size(), 1U);
  EXPECT_EQ(w.labels.size(), 1U);
  EXPECT_EQ(w.factors.size(), 3U);
  EXPECT_EQ(w.speed_types, 2U);
  EXPECT_EQ(w.speeds, (std::vector<double>{1, 1, 2, 1}));
  EXPECT_EQ(w.factors[w.jobs[9].home_factor], (Factors{1, 1, 0.5, 0.5}));
}

TEST(ParseJobs, the_old_key_spread_is_read_with_one_note_a_file) {
  const auto jobs = [](const std::string& key) {
    return with_jobs(
        "\n"
        R"({"id":"a","tasks":[{"count":2}],")" +
        key +
        R"(":{"pod":0.5}})"
        "\n"
        R"({"id":"b","tasks":[{"count":2}],")" +
        key + R"(":{"cluster":0.25}})");
  };
  const Instance old = jobs("spread");
  const Instance fresh = jobs("width_factor");
  EXPECT_EQ(old.workload.factors[old.workload.jobs[0].width_factor], (Factors{1, 1, 0.5, 0.5}));
  EXPECT_EQ(instance_digest(old), instance_digest(fresh));
  EXPECT_TRUE(fresh.workload.notes.empty());
  ASSERT_EQ(old.workload.notes.size(), 1U);
  EXPECT_TRUE(old.workload.notes[0].starts_with("j.jsonl:2: spread: ")) << old.workload.notes[0];
  EXPECT_EQ(jobs_text(old), jobs_text(fresh));
  EXPECT_EQ(jobs_text(old).find("spread"), std::string::npos);
}

TEST(ParseJobs, a_share_of_1000_is_a_whole_gpu) {
  const Workload w = with_jobs(R"({"id":"a","tasks":[{"gpu_milli":1000}]}
{"id":"b","tasks":[{"gpus":1,"gpu_milli":0}]})")
                         .workload;
  ASSERT_EQ(w.shapes.size(), 1U);
  EXPECT_EQ(w.shapes[0], (Shape{.gpus = 1}));
}

TEST(ParseJobs, types_that_no_machine_has_join_the_cluster) {
  const Instance instance = with_jobs(R"({"id":"a","tasks":[{"gpus":1}],"gpu_types":["H9","B","H9"]}
{"id":"b","tasks":[{"gpus":1}],"gpu_types":["A","B"],"speed":{"Q":3}}
{"id":"c","tasks":[{"gpus":1}],"gpu_types":[],"speed":{"Z":1}})");
  EXPECT_EQ(instance.cluster.gpu_types, (std::vector<std::string>{"A", "B", "H9", "Q"}));
  EXPECT_EQ(instance.workload.jobs[0].gpu_types, 0b110U);
  EXPECT_EQ(instance.workload.jobs[1].gpu_types, 0b011U);
  EXPECT_EQ(instance.workload.jobs[2].gpu_types, kAny);
  EXPECT_EQ(instance.workload.speed_types, 4U);
  EXPECT_EQ(instance.workload.speed(instance.workload.jobs[1], GpuTypeId(3)), 3.0);
}

TEST(ParseJobs, in_the_home_pod_is_as_near_as_it_gets) {
  const Workload w =
      with_jobs(
          R"({"id":"a","tasks":[{}],"home":{"factor":{"pod":0.9,"cluster":0.5},"pod":"pod-1"}})")
          .workload;
  EXPECT_EQ(w.jobs[0].home_pod, PodId(1));
  EXPECT_EQ(w.factors[w.jobs[0].home_factor], (Factors{0.9, 0.9, 0.9, 0.5}));
}

TEST(WriteJobs, written_text_reads_back_as_the_same_jobs) {
  const Instance instance = with_jobs(
      R"({"id":"a \"q\" \\ é","tasks":[{"gpus":1}],"gpu_types":["Z","B"],"speed":{"Y":0.1,"A":1e-9}}
{"id":"b","arrival":5,"queue":"research","priority":2,"weight":0.3333333333333333,"required":true,"tasks":[{"shape":"w","count":3,"gpus":2,"cpu_milli":1},{"shape":"s","gpu_milli":1,"memory_mib":3}],"domain":"machine","home":{"rack":"rack-1","factor":{"pod":0.7}},"width_factor":{"rack":0.9}}
{"id":"c","tasks":[{"cpu_milli":5}],"gpu_types":["A","B"],"home":{"pod":"pod-0","factor":{"rack":0.8,"pod":0.7,"cluster":0}},"value":0}
{"id":"d","tasks":[{}],"gpu_types":["Q"],"home":{"rack":"rack-0"},"value":1e12})");
  const std::string text = jobs_text(instance);
  const Instance again = with_jobs(text);
  EXPECT_EQ(instance_digest(again), instance_digest(instance)) << text;
  EXPECT_EQ(jobs_text(again), text);
  const Folder folder;
  write_jobs(folder / "j.jsonl.gz", instance);
  Cluster cluster = two_types();
  EXPECT_EQ(read_jobs(folder / "j.jsonl.gz", cluster).jobs.size(), 4U);
}

/// So many jobs that the text is read in several blocks; lines of all lengths meet their ends.
std::string many_jobs() {
  std::string text = "\xEF\xBB\xBF";
  for (int j = 0; text.size() < (std::size_t{5} << 19); ++j) {
    text += R"({"id":"job-)" + std::to_string(j) + R"(","tasks":[{"gpus":1}],"weight":1.)" +
            std::string(1 + static_cast<std::size_t>(j % 17), '5') + "}" +
            (j % 5 == 0 ? "\r" : "") + "\n";
    if (j % 7 == 0) text += "\n";
  }
  text += R"({"id":"long","tasks":[{"gpus":1}],"weight":)" + std::string(1 << 20, ' ') + "2}\n";
  return text + R"({"id":"last","tasks":[{"gpus":1}]})";
}

TEST(ReadJobs, in_blocks_gives_what_the_whole_text_gives) {
  const Folder folder;
  const std::string text = many_jobs();
  folder.put("j.jsonl", text);
  write_atomically(folder / "j.jsonl.gz", [&](AtomicFile& file) { file.write(text); });
  const std::string expected = model::instance_digest(with_jobs(text));
  for (const char* name : {"j.jsonl", "j.jsonl.gz"}) {
    Instance instance{.cluster = two_types(), .workload = {}};
    instance.workload = read_jobs(folder / name, instance.cluster);
    EXPECT_EQ(model::instance_digest(instance), expected);
  }
}

TEST(ReadJobs, in_blocks_counts_lines_over_all_of_them) {
  const Folder folder;
  const std::string text = many_jobs();
  const auto lines = static_cast<std::int64_t>(std::ranges::count(text, '\n'));
  const auto read = [&](const std::string& more) {
    folder.put("j.jsonl", text + more);
    Cluster cluster = two_types();
    read_jobs(folder / "j.jsonl", cluster);
  };
  expect_fault({"late", "\n\n{\"id\":\"j\"}", lines + 3, "tasks", "missing"}, read);
  expect_fault({"twice",
                "\n"
                R"({"id":"job-0","tasks":[{}]})",
                lines + 2, "id", "given twice", "first on line 1"},
               read);
}

}  // namespace
}  // namespace berth::io
