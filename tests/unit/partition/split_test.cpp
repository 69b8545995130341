// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "berth/partition/partition.hpp"

namespace berth::partition {
namespace {

/// pods x racks x machines of 8 GPUs; the class of a pod is pod % classes.
model::Cluster regular(int pods, int racks, int machines, int classes = 1) {
  model::Cluster cluster;
  for (int c = 0; c < classes; ++c) {
    cluster.gpu_types.push_back("T" + std::to_string(c));
    cluster.classes.push_back(
        {.name = "c" + std::to_string(c), .gpu_type = GpuTypeId(c), .gpus = 8});
  }
  for (int p = 0; p < pods; ++p) {
    cluster.pods.push_back({.name = "p" + std::to_string(p)});
    for (int r = 0; r < racks; ++r) {
      cluster.racks.push_back(
          {.name = "r" + std::to_string(cluster.racks.size()), .pod = PodId(p)});
      for (int m = 0; m < machines; ++m) {
        cluster.machine_names.add("m" + std::to_string(cluster.machines()));
        cluster.machine_class.push_back(ClassId(p % classes));
        cluster.machine_rack.push_back(RackId(cluster.racks.size() - 1));
      }
    }
  }
  return cluster;
}

void expect_partition(const model::Cluster& cluster, const Shards& shards) {
  std::size_t total = 0;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    EXPECT_TRUE(std::ranges::is_sorted(shards.machines[s]));
    EXPECT_TRUE(cluster.machines() == 0 || !shards.machines[s].empty()) << "shard " << s;
    for (const MachineId m : shards.machines[s])
      EXPECT_EQ(shards.of_machine[m.index()], ShardId(s));
    total += shards.machines[s].size();
  }
  EXPECT_EQ(total, cluster.machines());
}

/// Number of shards that hold a part of each rack, at most.
std::size_t pieces_of_a_rack(const model::Cluster& cluster, const Shards& shards) {
  std::vector<std::set<ShardId>> pieces(cluster.racks.size());
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    pieces[cluster.machine_rack[m].index()].insert(shards.of_machine[m]);
  }
  std::size_t most = 0;
  for (const auto& p : pieces) most = std::max(most, p.size());
  return most;
}

TEST(Split, default_is_one_shard_per_4096_gpus_and_never_more_than_pods) {
  EXPECT_EQ(default_shards(regular(8, 16, 16)), 4);  // 16,384 GPUs
  EXPECT_EQ(default_shards(regular(2, 64, 16)), 2);  // 16,384 GPUs, 2 pods
  EXPECT_EQ(default_shards(regular(1, 1, 1)), 1);
  EXPECT_EQ(default_shards(model::Cluster{}), 1);
}

TEST(Split, keeps_pods_whole_and_balances_every_class) {
  const auto cluster = regular(8, 4, 4, 2);
  const auto shards = split(cluster, {.shards = 4});
  expect_partition(cluster, shards);
  for (const auto& machines : shards.machines) {
    EXPECT_EQ(machines.size(), 32U);  // two pods
    std::set<PodId> pods;
    int of_class_0 = 0;
    for (const MachineId m : machines) {
      pods.insert(cluster.pod_of(m));
      of_class_0 += cluster.machine_class[m.index()] == ClassId(0) ? 1 : 0;
    }
    EXPECT_EQ(pods.size(), 2U);
    EXPECT_EQ(of_class_0, 16);  // one pod of each class
  }
}

TEST(Split, tears_no_rack_while_there_are_racks_enough) {
  const auto cluster = regular(3, 5, 4);
  for (const int wanted : {4, 7, 15}) {
    SCOPED_TRACE(wanted);
    const auto shards = split(cluster, {.shards = wanted});
    EXPECT_EQ(shards.size(), static_cast<std::size_t>(wanted));
    expect_partition(cluster, shards);
    EXPECT_EQ(pieces_of_a_rack(cluster, shards), 1U);
  }
}

TEST(Split, goes_down_to_machines_and_no_further) {
  const auto cluster = regular(2, 2, 3);
  for (const int wanted : {5, 11, 12, 100}) {
    SCOPED_TRACE(wanted);
    const auto shards = split(cluster, {.shards = wanted});
    EXPECT_EQ(shards.size(), static_cast<std::size_t>(std::min(wanted, 12)));
    expect_partition(cluster, shards);
  }
}

TEST(Split, answers_an_empty_cluster_with_one_empty_shard) {
  const auto shards = split(model::Cluster{}, {.shards = 4});
  ASSERT_EQ(shards.size(), 1U);
  EXPECT_TRUE(shards.machines[0].empty());
}

TEST(Own, gives_every_shard_one_owner_and_balances) {
  const auto cluster = regular(8, 2, 4);
  const auto shards = split(cluster, {.shards = 8});
  for (const int ranks : {1, 3, 4, 8, 11}) {
    SCOPED_TRACE(ranks);
    const auto owners = own(cluster, shards, ranks);
    std::size_t total = 0;
    std::size_t most = 0;
    for (int r = 0; r < ranks; ++r) {
      total += owners.of_rank(r).size();
      most = std::max(most, owners.of_rank(r).size());
    }
    EXPECT_EQ(total, 8U);
    EXPECT_EQ(most, static_cast<std::size_t>((8 + ranks - 1) / ranks));
  }
}

}  // namespace
}  // namespace berth::partition
