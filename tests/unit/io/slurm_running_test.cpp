// SPDX-License-Identifier: Apache-2.0
// Jobs that run, reservations, partitions and the topology.
#include "faults.hpp"
#include "slurm_samples.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "berth/io/file.hpp"
#include "berth/io/slurm.hpp"

namespace berth::io {
namespace {

SlurmImport import(const SlurmSources& sources, SlurmImportOptions options = {}) {
  if (options.now == 0) options.now = 1000;
  return import_slurm(sources, options);
}

bool has(const std::vector<SlurmNote>& notes, const std::string& part, std::int64_t count) {
  return std::ranges::any_of(notes, [&](const SlurmNote& note) {
    return note.what.find(part) != std::string::npos && note.count == count;
  });
}

class SlurmRunningTest : public testing::TestWithParam<Json> {
 protected:
  Samples s{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmRunningTest,
                         testing::Values(Json::plain, Json::wrapped), [](const auto& which) {
                           return which.param == Json::plain ? "plain" : "wrapped";
                         });

TEST_P(SlurmRunningTest, gpu_indices_are_slurms_own_or_the_lowest_left) {
  s.node("n0")
      .running(1, "n0", 2, 100, {{"gres_detail", Samples::list({"gpu(CNT:1)"})}})
      .running(2, "n0", 4, 200, {{"gres_detail", Samples::list({"gpu:a100:2(IDX:0,3)"})}})
      .running(3, "n0", 1, 300, {{"tres_alloc_str", in_json("cpu=1,mem=300M,gres/gpu=1")}});
  const SlurmImport i = import(s.sources());
  const auto& c = i.instance.cluster;
  ASSERT_EQ(c.immovable.size(), 3U);
  std::vector<std::uint64_t> devices(3);
  for (const auto& piece : c.immovable) devices[piece.job.index()] = piece.devices;
  EXPECT_EQ(devices, (std::vector<std::uint64_t>{0b0010, 0b1001, 0b0100}));
  EXPECT_EQ(c.immovable[0].taken[model::kCpu], 2000);
  EXPECT_EQ(c.immovable[0].taken[model::kMemory], 100);
  EXPECT_TRUE(i.instance.workload.pinned(i.instance.workload.jobs[0]));
  EXPECT_EQ(i.running, 3);
  EXPECT_TRUE(i.notes.empty());
}

TEST_P(SlurmRunningTest, gpus_that_slurm_does_not_tell_are_those_asked_for) {
  s.node("n0")
      .running(1, "n0", 1, 10, {{"gres_detail", Samples::list({""})},
                                {"tres_per_job", in_json("gres:gpu:2")}})
      .running(2, "n0", 1, 10, {{"gres_detail", Samples::list({""})}});
  const auto& c = import(s.sources()).instance.cluster;
  ASSERT_EQ(c.immovable.size(), 2U);
  EXPECT_EQ(c.immovable[0].devices | c.immovable[1].devices, 0b0011U);
}

TEST_P(SlurmRunningTest, parts_of_a_job_may_differ_and_lie_outside) {
  s.node("n0", {{"gres", in_json("gpu:a100:4,shard:16")}})
      .node("n1", {{"gres", in_json("gpu:h100:8")}})
      .running(
          1, "n0,n1,gone", 3, 50,
          {{"gres_detail", Samples::list({"gpu:a100:1(IDX:1)", "gpu:h100:2(IDX:6-7)", "gpu:4"})}})
      .running(2, "n0", 1, 10, {{"gres_detail", Samples::list({"shard:a100:1(1/4,0/4,0/4,0/4)"})}});
  const SlurmImport i = import(s.sources());
  const auto& w = i.instance.workload;
  ASSERT_EQ(w.running_tasks.size(), 3U);
  EXPECT_EQ(w.jobs[0].groups, 2U);
  EXPECT_EQ(w.running_tasks[1].devices, 0b11000000U);
  EXPECT_EQ(w.running_tasks[2].milli, 250);
  EXPECT_EQ(w.running_tasks[2].devices, 1U);
}

TEST_P(SlurmRunningTest, a_machine_handed_out_too_often_is_full_and_said_so) {
  s.node("n0").running(1, "n0", 20, 60000,
                       {{"gres_detail", Samples::list({"gpu:a100:3(IDX:0-2)"})}});
  s.running(2, "n0", 20, 60000, {{"gres_detail", Samples::list({"gpu:a100:3(IDX:1-3)"})}});
  const SlurmImport i = import(s.sources());
  EXPECT_TRUE(has(i.notes, "more than they have", 2));
  EXPECT_TRUE(has(i.notes, "taken or not there", 2));
  std::int64_t cpu = 0;
  std::uint64_t devices = 0;
  for (const auto& piece : i.instance.cluster.immovable) {
    cpu += piece.taken[model::kCpu];
    EXPECT_EQ(devices & piece.devices, 0U);
    devices |= piece.devices;
  }
  EXPECT_EQ(cpu, 32000);
  EXPECT_EQ(devices, 0b1111U);
}

TEST_P(SlurmRunningTest, memory_counts_when_slurm_hands_it_out) {
  s.node("n0").job(1, {{"tres_req_str", in_json("cpu=1,mem=64G,node=1")}});
  s.job(2, {{"memory_per_node", s.number(512)}});
  const auto memory = [](const SlurmImport& i, std::size_t job) {
    const auto& w = i.instance.workload;
    return w.shape(w.groups_of(w.jobs[job])[0].shape).needs[model::kMemory];
  };
  SlurmSources sources = s.sources();
  const SlurmImport unknown = import(sources);
  EXPECT_EQ(memory(unknown, 0), 0);
  EXPECT_EQ(memory(unknown, 1), 512);
  EXPECT_TRUE(has(unknown.notes, "ask for no memory", 1));
  sources.config = {
      .name = "config",
      .text = "SelectType = select/cons_tres\nSelectTypeParameters    = CR_CORE_MEMORY\n"};
  EXPECT_EQ(memory(import(sources), 0), 65536);
  sources.config.text = "SelectTypeParameters    = CR_CPU\n";
  EXPECT_EQ(memory(import(sources), 0), 0);
  EXPECT_EQ(memory(import(sources), 1), 0);
  EXPECT_TRUE(has(import(sources).notes, "does not hand out", 1));
  sources.config.text = "SelectType = select/linear\nSelectTypeParameters    = CR_MEMORY\n";
  EXPECT_EQ(memory(import(sources), 1), 65536);                              // whole nodes
  s.running(3, "n0", 1, 10, {{"tres_alloc_str", in_json("cpu=1,node=1")}});  // given none
  EXPECT_EQ(memory(import(s.sources()), 2), 0);
}

TEST_P(SlurmRunningTest, partitions_limit_who_may_start) {
  const bool old = GetParam() == Json::plain;
  SlurmSources sources;
  s.node("n0", {{"partitions", Samples::list({"gpu", "off", "solo"})}});
  const auto ask = [&](const char* partition, std::int64_t minutes, std::int64_t nodes) {
    return Samples::Fields{{"partition", in_json(partition)},
                           {"time_limit", s.number(minutes)},
                           {"node_count", s.number(nodes)},
                           {"max_nodes", s.number(nodes)}};
  };
  s.job(1, ask("gpu", 120, 1))
      .job(2, ask("gpu", 121, 1))
      .job(3, ask("gpu", 1, 3))
      .job(4, ask("off", 1, 1))
      .job(5, ask("solo", 1, 1))
      .job(6, ask("gpu,off", 100, 2));
  s.job(7, {{"time_limit", s.unlimited()}});
  sources = s.sources();
  sources.partitions.name = "partitions";
  sources.partitions.text =
      old ? "PartitionName=gpu Nodes=n[0-3] MaxNodes=2 MaxTime=02:00:00 State=UP "
            "OverSubscribe=FORCE:2 "
            "MaxCPUsPerNode=16\n"
            "PartitionName=off Nodes=n0 MaxNodes=UNLIMITED MaxTime=1-00:00:00 State=DOWN\n"
            "PartitionName=solo Nodes=n0 MaxTime=UNLIMITED State=UP OverSubscribe=EXCLUSIVE\n"
          : R"({"partitions":[
       {"name":"gpu","nodes":{"configured":"n[0-3]"},"partition":{"state":["UP"]},
        "maximums":{"nodes":{"set":true,"infinite":false,"number":2},"shares":32770,
                    "cpus_per_node":{"set":true,"infinite":false,"number":16},
                    "time":{"set":true,"infinite":false,"number":120}}},
       {"name":"off","nodes":{"configured":"n0"},"partition":{"state":["DOWN"]}},
       {"name":"solo","nodes":{"configured":"n0"},"partition":{"state":["UP"]},
        "maximums":{"shares":0,"time":{"set":false,"infinite":true,"number":0}}}]})";
  const SlurmImport i = import(sources);
  const auto& w = i.instance.workload;
  std::vector<std::string> names;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) names.emplace_back(w.job_names[j]);
  EXPECT_EQ(names, old ? (std::vector<std::string>{"1", "5", "6", "7"})  // null: no limit asked for
                       : (std::vector<std::string>{"1", "5", "6"}));
  EXPECT_TRUE(has(i.left, "passes the limits", old ? 2 : 3));
  EXPECT_TRUE(has(i.left, "starts no jobs", 1));
  EXPECT_TRUE(has(i.notes, "MaxCPUsPerNode", 1));
  EXPECT_TRUE(has(i.notes, "more than once", 1));
  EXPECT_EQ(w.shape(w.groups_of(w.jobs[1])[0].shape).gpus, 4);  // solo: the whole machine
}

TEST_P(SlurmRunningTest, reservations_keep_nodes_free) {
  s.node("n0").node("n1").node("n2").node("n3", {{"reservation", in_json("r9")}}).job(1);
  SlurmSources sources = s.sources();
  sources.reservations.name = "reservations";
  sources.reservations.text =  // the job lasts an hour from now, second 1000
      R"({"reservations":[
        {"name":"on","node_list":"n0","start_time":{"set":true,"infinite":false,"number":900},
         "end_time":{"set":true,"infinite":false,"number":1100}},
        {"name":"soon","node_list":"n1","start_time":4599,"end_time":9000},
        {"name":"over","node_list":"n2","start_time":1,"end_time":1000},
        {"name":"later","node_list":"n2","start_time":4600,"end_time":9000}]})";
  const SlurmImport i = import(sources);
  using enum model::MachineState;
  EXPECT_EQ(i.instance.cluster.machine_state,
            (std::vector<model::MachineState>{reserved, reserved, up, reserved}));
  EXPECT_TRUE(has(i.notes, "reservations to come", 1));
  sources.reservations.text = "No reservations in the system\n";
  EXPECT_EQ(import(sources).instance.cluster.machine_state[0], up);
  sources.reservations.text =
      "ReservationName=a StartTime=1970-01-01T00:00:00 EndTime=2100-01-01T00:00:00 Nodes=n[0-1]\n";
  EXPECT_EQ(import(sources).instance.cluster.machine_state[1], reserved);
}

/// Pods and racks with their machines: "pod: rack=m,m rack=m".
std::string fabric(const model::Cluster& c) {
  std::string text;
  for (std::size_t m = 0; m < c.machines(); ++m) {
    const RackId rack = c.machine_rack[m];
    const bool opens = m == 0 || c.machine_rack[m - 1] != rack;
    const bool opens_pod = m == 0 || c.pod_of(MachineId(m - 1)) != c.pod_of(MachineId(m));
    if (opens_pod) text += (m == 0 ? "" : "; ") + c.pods[c.pod_of(MachineId(m)).index()].name + ":";
    text += opens ? " " + c.racks[rack.index()].name + "=" : ",";
    text += c.machine_names[m];
  }
  return text;
}

TEST(SlurmTopology, leaves_are_racks_and_what_names_them_pods) {
  Samples s(Json::plain);
  for (const char* const name : {"a0", "a1", "b0", "b1", "c0", "x"}) s.node(name);
  SlurmSources sources = s.sources();
  sources.topology = {.name = "topology.conf",
                      .text =
                          "# comment\nSwitchName=top Switches=p[0-1]\n"
                          "SwitchName=p1 Switches=l2 # behind\n"
                          "switchname=p0 \\\n Switches=l[0-1]\n"
                          "SwitchName=l2 Nodes=c[0-7]\nSwitchName=l0 Nodes=a1,a0\n"
                          "SwitchName=l1 Nodes=b[0-1] LinkSpeed=1\n"};
  const SlurmImport i = import(sources);
  EXPECT_EQ(fabric(i.instance.cluster), "p1: l2=c0; p0: l0=a1,a0 l1=b0,b1; no-switch: no-switch=x");
  EXPECT_TRUE(has(i.notes, "not among the nodes", 7));
  EXPECT_TRUE(has(i.notes, "does not name", 1));
  EXPECT_TRUE(has(i.notes, "above pods", 2));
  // scontrol repeats the nodes on every level
  sources.topology.text =
      "SwitchName=l0 Level=0 LinkSpeed=1 Nodes=a[0-1],b[0-1]\n"
      "SwitchName=l1 Level=0 LinkSpeed=1 Nodes=c0\n"
      "SwitchName=s Level=1 LinkSpeed=1 Nodes=a[0-1],b[0-1],c0,x Switches=l[0-1]\n";
  EXPECT_EQ(fabric(import(sources).instance.cluster), "s: l0=a0,a1,b0,b1 l1=c0 s=x");
}

TEST(SlurmTopology, irregular_trees_are_taken_as_far_as_they_go) {
  Samples s(Json::plain);
  for (const char* const name : {"a", "b", "c"}) s.node(name);
  SlurmSources sources = s.sources();
  sources.topology = {.name = "topology.conf",
                      .text =
                          "SwitchName=u Switches=v,l0\nSwitchName=v Switches=u,l0,l1\n"  // a cycle
                          "SwitchName=l0 Nodes=a,b\nSwitchName=l1 Nodes=b LinkSpeed=40\n"
                          "SwitchName=l2 Nodes=c\n"};
  const SlurmImport i = import(sources);
  EXPECT_EQ(fabric(i.instance.cluster), "u: l0=a,b; l2: l2=c");
  for (const char* const note :
       {"below several others", "under several leaf", "hang on no other", "LinkSpeed"}) {
    EXPECT_TRUE(has(i.notes, note, 1)) << note;
  }
}

TEST(SlurmTopology, blocks_are_racks_and_the_largest_size_makes_pods) {
  Samples s(Json::plain);
  for (int n = 0; n < 10; ++n) s.node("n" + std::to_string(n));
  SlurmSources sources = s.sources();
  sources.topology = {.name = "topology.conf",
                      .text =
                          "BlockName=b0 Nodes=n[0-1]\nBlockName=b1 Nodes=n[2-3]\n"
                          "BlockName=b2 Nodes=n[4-5]\nBlockName=b3 Nodes=n[6-7]\n"
                          "BlockName=b4 Nodes=n[8-9]\nBlockSizes=2,4,8\n"};
  const SlurmImport i = import(sources);
  EXPECT_EQ(fabric(i.instance.cluster),
            "blocks-0: b0=n0,n1 b1=n2,n3 b2=n4,n5 b3=n6,n7; blocks-1: b4=n8,n9");
  EXPECT_TRUE(has(i.notes, "between block and pod", 1));
}

TEST(SlurmTopology, real_files) {
  const auto traces = test::traces();
  if (!traces) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  struct File {
    const char* name;
    std::vector<const char*> machines;  // some of them
    std::size_t pods, racks;
  };
  const std::vector<File> files{
      {"nstda_tara.topology.conf", {"tara-c-003", "tara-c-006", "tara-dgx1-001"}, 1, 3},
      {"psmn_X5.topology.conf", {"sl390lin101", "sl390lin29", "r815lin104", "x5570comp2"}, 1, 4},
      {"schedmd_testcase1/topology.conf", {"peta10000", "peta10019", "peta19999"}, 2, 2},
      {"topograph_expected_block.conf", {"srv1101", "srv4208", "srv5101"}, 3, 3},
      {"topograph_expected_tree.conf", {"srv1101", "srv1208", "srv2101"}, 2, 3}};
  for (const File& file : files) {
    SCOPED_TRACE(file.name);
    const auto path = *traces / "topologies/slurm" / file.name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no " << path;
    Samples s(Json::plain);
    for (const char* const name : file.machines) s.node(name);
    SlurmSources sources = s.sources();
    sources.topology = {.name = path.string(), .text = read_file(path.string())};
    const auto c = import(sources).instance.cluster;
    EXPECT_EQ(c.machines(), file.machines.size());
    EXPECT_EQ(c.pods.size(), file.pods);
    EXPECT_EQ(c.racks.size(), file.racks);
    for (const model::Rack& rack : c.racks) EXPECT_NE(rack.name, "no-switch");
  }
}

}  // namespace
}  // namespace berth::io
