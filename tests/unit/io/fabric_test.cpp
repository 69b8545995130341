// SPDX-License-Identifier: Apache-2.0
// Fabrics as their tools tell them, and how shards follow them.
#include "faults.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "berth/io/import.hpp"
#include "berth/io/import_inventory.hpp"
#include "berth/partition/partition.hpp"

namespace berth::io {
namespace {

using model::Cluster;

/// Two rails: hosts a and b hang on leaves L1 and L2, host c on L3 alone; spine S over all.
constexpr const char* kRails = R"(# a fabric
vendid=0x1
switchguid=0x1(1)
Switch	65 "S-1"		# "MF0;L1:MQM/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-1"[1](1) 		# "a mlx5_0" lid 2 4xNDR
[2]	"H-2"[1](2) 		# "b HCA-1" lid 3 4xNDR
[3]	"H-9"[1](9) 		# "Some Vendor Adapter" lid 9 4xNDR
[33]	"S-4"[1]		# "MF0;S:MQM/U1" lid 8 4xNDR
[34]	"S-4"[2]		# "MF0;S:MQM/U1" lid 8 4xNDR

Switch	65 "S-2"		# "MF0;L2:MQM/U1" enhanced port 0 lid 4 lmc 0
[1]	"H-3"[1](3) 		# "a mlx5_1" lid 5 4xNDR
[33]	"S-4"[3]		# "MF0;S:MQM/U1" lid 8 4xNDR

Switch	65 "S-3"		# "plain leaf" base port 0 lid 4 lmc 0
[1]	"H-5"[1](5) 		# "c mlx5_0" lid 7 2xHDR
[33]	"S-4"[4]		# "MF0;S:MQM/U1" lid 8 4xHDR

Switch	65 "S-4"		# "MF0;S:MQM/U1" enhanced port 0 lid 8 lmc 0
[1]	"S-1"[33]		# "MF0;L1:MQM/U1" lid 1 4xNDR
[40]	"H-8"[1](8) 		# "Mellanox Technologies Aggregation Node" lid 9 4xNDR

Ca	1 "H-1"		# "a mlx5_0"
[1](1) 	"S-1"[1]		# lid 2 lmc 0 "MF0;L1:MQM/U1" lid 1 4xNDR
)";

TEST(ImportIbnetdiscover, leaves_that_share_a_host_are_one_rack) {
  const Folder folder;
  folder.put("ib.txt", kRails);
  const auto [cluster, nameless, notes] =
      import_fabric("ibnetdiscover", folder / "ib.txt",
                    {.gpu_type = "H100", .gpus = 4, .cpu_milli = 100, .memory_mib = 200});
  EXPECT_EQ(nameless, 1);
  ASSERT_EQ(cluster.machines(), 3U);
  EXPECT_EQ(cluster.machine_names[0], "a");
  ASSERT_EQ(cluster.racks.size(), 2U);
  EXPECT_EQ(cluster.racks[0].name, "L1");
  EXPECT_EQ(cluster.racks[0].uplink_gbps, 1200.0);  // three links of 400 from L1 and L2
  EXPECT_EQ(cluster.racks[1].name, "S-3");
  EXPECT_EQ(cluster.racks[1].uplink_gbps, 200.0);
  EXPECT_EQ(cluster.pods.size(), 1U);
  EXPECT_EQ(cluster.machine_rack[1], RackId(0));
  EXPECT_EQ(cluster.machine_rack[2], RackId(1));
  EXPECT_EQ(cluster.gpus(), 12);
  EXPECT_EQ(cluster.class_of(MachineId(0)).capacity[model::kCpu], 100);
}

TEST(ImportLingjun, racks_are_access_switches_and_pods_share_what_is_above) {
  const Folder folder;
  folder.put("topo.csv", "ip,DSW,PSW,ASW\nx,G1,P1,S1\ny,G1,P1,S2\nz,G1,P2,S1\nw,G1,P1,S1\n");
  const Cluster cluster = import_fabric("lingjun", folder / "topo.csv", {.gpu_type = "A"}).cluster;
  ASSERT_EQ(cluster.racks.size(), 3U);
  EXPECT_EQ(cluster.racks[0].name, "P1-S1");
  EXPECT_TRUE(std::isinf(cluster.racks[0].uplink_gbps));
  EXPECT_EQ(cluster.pods.size(), 2U);
  EXPECT_EQ(cluster.machine_names[0], "w");
  EXPECT_EQ(cluster.machine_rack[1], RackId(0));
}

TEST(ImportFabric, refuses_what_is_no_fabric) {
  const Folder folder;
  const auto import = [&](const std::string& text, std::string_view format,
                          const HostOptions& host) {
    folder.put("f", text);
    import_fabric(format, folder / "f", host);
  };
  const HostOptions sound{.gpu_type = "A"};
  EXPECT_THROW(import("", "ibnetdiscover", sound), InputError);
  EXPECT_THROW(import("Switch 65\n", "ibnetdiscover", sound), InputError);
  EXPECT_THROW(import("ip,DSW,PSW\nx,G,P\n", "lingjun", sound), InputError);
  EXPECT_THROW(import(kRails, "ibnetdiscover", {.gpu_type = ""}), InputError);
  EXPECT_THROW(import(kRails, "ibnetdiscover", {.gpu_type = "A", .gpus = 65}), InputError);
}

constexpr const char* kTopograph = R"(# a model
switches:
  core: {labels: {region: x}, switches: [spine-1, spine-2]}
  spine-1:
    switches: [leaf-1, leaf-2]
  spine-2:
    switches:
    - leaf-3
blocks:
- switch: leaf-1
  nodes: ["n[01-03]", "x7"]
  annotations: {domain: nvl-1}
- switch: leaf-3
  nodes: [1101]
)";

TEST(ImportTopograph, blocks_are_racks_and_the_switches_above_pods) {
  const Folder folder;
  folder.put("model.yaml", kTopograph);
  const Cluster cluster =
      import_fabric("topograph", folder / "model.yaml", {.gpu_type = "GB200", .gpus = 4}).cluster;
  ASSERT_EQ(cluster.machines(), 5U);
  ASSERT_EQ(cluster.racks.size(), 2U);
  EXPECT_EQ(cluster.pods.size(), 2U);
  EXPECT_EQ(cluster.racks[0].name, "leaf-1");
  EXPECT_EQ(cluster.machine_names[0], "n01");
  EXPECT_EQ(cluster.machine_names[4], "1101");
  EXPECT_EQ(cluster.gpus(), 20);
}

TEST(ImportTopograph, names_the_line_of_a_fault) {
  const auto read = [](const std::string& text) {
    const Folder folder;
    folder.put("m", text);
    import_fabric("topograph", folder / "m", {.gpu_type = "A"});
  };
  const std::string switches = "switches:\n  s: {switches: [l]}\n";
  expect_fault({"switch", switches + "blocks:\n- {switch: t, nodes: [a]}\n", 4, "blocks[0].switch",
                "no such switch"},
               read);
  expect_fault(
      {"twice", switches + "blocks:\n- {switch: l, nodes: [a]}\n- {switch: s, nodes: [a]}\n", 5,
       "blocks[1].nodes[0]", "two blocks"},
      read);
  expect_fault(
      {"range", "blocks:\n- {switch: l, nodes: [\"a[1-\"]}\n", 2, "blocks[0].nodes[0]", ""}, read);
  expect_fault({"key", "blocks:\n- {switch: l, hosts: [a]}\n", 2, "blocks[0].hosts", "unknown"},
               read);
  expect_fault({"yaml", "blocks: [", 1, "", "not valid YAML"}, read);
}

// A cycle of switches, a leaf under two others, and a node of two leaves, as probes write them.
TEST(ImportSlurmTopology, tells_what_is_no_tree) {
  const Folder folder;
  folder.put("topology.conf",
             "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\n"
             "SwitchName=s Switches=a,b,t # spine\nSwitchName=t Switches=a,s\n");
  const FabricImport import =
      import_fabric("slurm-topology", folder / "topology.conf", {.gpu_type = "A100"});
  EXPECT_EQ(import.cluster.machines(), 3U);
  EXPECT_EQ(import.cluster.racks.size(), 2U);
  EXPECT_EQ(import.cluster.pods.size(), 1U);
  EXPECT_EQ(import.notes.size(), 3U);
}

TEST(ImportInventory, machines_by_class) {
  const Folder folder;
  folder.put("philly",
             "machineId, number of GPUs, single GPU mem\nm0,2, 12GB\nm1,8, 24GB\nm2,2, 12GB\n");
  const Cluster philly = import_philly_machines(folder / "philly");
  ASSERT_EQ(philly.machines(), 3U);
  EXPECT_EQ(philly.gpus(), 12);
  EXPECT_EQ(philly.gpu_types, (std::vector<std::string>{"GPU-12GB", "GPU-24GB"}));
  EXPECT_EQ(philly.machine_names[1], "m2");  // in the rack of its class
  folder.put("revised", ",machineId,number of GPUs\n0,m0,8\n1,m1,8\n");
  EXPECT_EQ(import_philly_machines(folder / "revised").gpus(), 16);
  folder.put("pai", "a,CPU,96,512,0\nb,V100,96,384,8\n");
  const Cluster pai = import_pai_machines(folder / "pai");
  EXPECT_EQ(pai.gpus(), 8);
  EXPECT_EQ(pai.gpu_types, std::vector<std::string>{"V100"});
  EXPECT_EQ(pai.class_of(MachineId(1)).capacity[model::kMemory], 384 * 1024);
  expect_fault({"twice", "a,CPU,96,512,0\na,CPU,96,512,0\n", 2, "machine", "twice"},
               [&](const std::string& text) {
                 folder.put("pai", text);
                 import_pai_machines(folder / "pai");
               });
  expect_fault({"gpus", "machineId, number of GPUs\nm0,many\n", 2, " number of GPUs", "number"},
               [&](const std::string& text) {
                 folder.put("philly", text);
                 import_philly_machines(folder / "philly");
               });
}

TEST(ImportInventory, published_lists) {
  const auto traces = test::traces();
  if (!traces) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  const Cluster philly = import_philly_machines(*traces / "philly/cluster_machine_list");
  EXPECT_EQ(philly.machines(), 552U);
  EXPECT_EQ(philly.gpus(), 2490);
  const Cluster pai = import_pai_machines(*traces / "pai/pai_machine_spec.csv");
  EXPECT_EQ(pai.machines(), 1897U);
  EXPECT_EQ(pai.gpus(), 6742);
}

/// Racks that lie in more than one shard.
std::size_t torn(const Cluster& cluster, const partition::Shards& shards) {
  std::vector<std::set<ShardId>> of_rack(cluster.racks.size());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    of_rack[cluster.machine_rack[m].index()].insert(shards.of_machine[m]);
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(of_rack, [](const auto& set) { return set.size() > 1; }));
}

TEST(RealFabrics, shards_follow_them_and_tear_no_rack) {
  const auto traces = test::traces();
  if (!traces) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  const auto topologies = *traces / "topologies";
  struct Case {
    const char* format;
    std::string path;
    std::size_t machines, racks, pods;
  };
  for (const Case& c :
       {Case{"ibnetdiscover", (topologies / "ibnetdiscover/topograph_example.out").string(), 121, 8,
             1},
        Case{"lingjun", (topologies / "lingjun_2023/topo.csv").string(), 541, 77, 2},
        Case{"slurm-topology", (topologies / "slurm/schedmd_testcase1/topology.conf").string(),
             10000, 500, 26},
        Case{"topograph", (topologies / "topograph_models/dual-xclr-regular.yaml").string(), 96, 12,
             6},
        Case{"topograph", (topologies / "topograph_models/medium.yaml").string(), 8, 4, 2},
        Case{"topograph", (topologies / "topograph_models/nvl72.yaml").string(), 72, 4, 2},
        Case{"topograph", (topologies / "topograph_models/small-tree.yaml").string(), 6, 2, 1}}) {
    SCOPED_TRACE(c.path);
    const Cluster cluster = import_fabric(c.format, c.path, {.gpu_type = "H100"}).cluster;
    EXPECT_EQ(cluster.machines(), c.machines);
    EXPECT_EQ(cluster.racks.size(), c.racks);
    EXPECT_EQ(cluster.pods.size(), c.pods);
    for (int shards = 1; shards <= static_cast<int>(c.racks); shards *= 2) {
      const auto split = partition::split(cluster, {.shards = shards});
      EXPECT_EQ(split.size(), static_cast<std::size_t>(shards));
      EXPECT_EQ(torn(cluster, split), 0U) << shards << " shards";
    }
  }
}

}  // namespace
}  // namespace berth::io
