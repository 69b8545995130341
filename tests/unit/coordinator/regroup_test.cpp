// SPDX-License-Identifier: Apache-2.0
// How the cluster is cut anew, round by round.
#include "berth/coordinator/regroup.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"

namespace berth::coordinator {
namespace {

const model::Cluster& cluster() {
  static const model::Instance instance = generate::generate_hetero({.gpus = 4096, .seed = 3});
  return instance.cluster;
}

std::map<ShardId, std::size_t> sizes(const std::vector<ShardId>& of_machine) {
  std::map<ShardId, std::size_t> machines;
  for (const ShardId g : of_machine) ++machines[g];
  return machines;
}

TEST(Deal, keeps_pods_whole_while_there_are_two_for_each_group) {
  const std::size_t groups = cluster().pods.size() / 2;
  const auto of_machine = draw_groups(cluster(), groups, 1, 0);
  std::map<PodId, std::set<ShardId>> of_pod;
  for (std::size_t m = 0; m < of_machine.size(); ++m) {
    of_pod[cluster().pod_of(MachineId(m))].insert(of_machine[m]);
  }
  for (const auto& [pod, of] : of_pod) EXPECT_EQ(of.size(), 1u);
  EXPECT_EQ(sizes(of_machine).size(), groups);
}

TEST(Deal, cuts_along_racks_when_there_are_fewer_pods) {
  const std::size_t groups = cluster().pods.size();
  const auto of_machine = draw_groups(cluster(), groups, 1, 0);
  std::map<RackId, std::set<ShardId>> of_rack;
  std::map<PodId, std::set<ShardId>> of_pod;
  for (std::size_t m = 0; m < of_machine.size(); ++m) {
    of_rack[cluster().machine_rack[m]].insert(of_machine[m]);
    of_pod[cluster().pod_of(MachineId(m))].insert(of_machine[m]);
  }
  for (const auto& [rack, of] : of_rack) EXPECT_EQ(of.size(), 1u);
  EXPECT_TRUE(std::ranges::any_of(of_pod, [](const auto& pod) { return pod.second.size() > 1; }));
  EXPECT_EQ(sizes(of_machine).size(), groups);
}

TEST(Deal, is_another_one_in_each_round_and_for_each_seed) {
  const auto first = draw_groups(cluster(), 4, 1, 0);
  EXPECT_EQ(draw_groups(cluster(), 4, 1, 0), first);
  EXPECT_NE(draw_groups(cluster(), 4, 2, 0), first);
  EXPECT_NE(draw_groups(cluster(), 4, 1, 9), first);
}

TEST(Deal, leaves_the_last_groups_without_machines_when_there_are_too_few_racks) {
  const std::size_t racks = cluster().racks.size();
  const auto machines = sizes(draw_groups(cluster(), 10 * racks, 1, 0));
  EXPECT_EQ(machines.size(), racks);
  EXPECT_EQ(machines.rbegin()->first, ShardId(racks - 1));
}

TEST(Deal, makes_fewer_groups_than_shards_of_small_ones) {
  EXPECT_EQ(group_count(cluster(), 8, 1024), 4u);
  EXPECT_EQ(group_count(cluster(), 3, 1024), 3u);
  EXPECT_EQ(group_count(cluster(), 8, 100'000), 1u);
  EXPECT_EQ(group_count(cluster(), 8, 0), 1u);
}

}  // namespace
}  // namespace berth::coordinator
