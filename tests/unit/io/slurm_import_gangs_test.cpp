// SPDX-License-Identifier: Apache-2.0
#include "slurm_imports.hpp"

#include <string>
#include <utility>
#include <vector>

namespace berth::io {
namespace {

class SlurmImportGangs : public SlurmImportTest {};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmImportGangs, both_generations(), generation_name);

TEST_P(SlurmImportGangs, gang_shapes) {
  const auto mib = [&](const char* key, std::int64_t value) {
    return std::pair<const std::string, std::string>{key, s.number(value)};
  };
  const auto nodes = [&](std::int64_t n, std::int64_t most) {
    return Samples::Fields{{"node_count", s.number(n)}, {"max_nodes", s.number(most)}};
  };
  struct Case {
    Samples::Fields ask;
    std::vector<Group> groups;
  };
  const bool old = GetParam() == Json::plain;  // gres:gpu:4 became gres/gpu:4, then gres/gpu=4
  const std::string gpu = old ? "gres:gpu:" : "gres/gpu:";
  const auto with = [](Samples::Fields a, const Samples::Fields& b) {
    a.insert(b.begin(), b.end());
    return a;
  };
  const auto work = [&](std::int64_t tasks, std::int64_t cpus) {
    return Samples::Fields{{"tasks", s.number(tasks)}, {"cpus", s.number(cpus)}};
  };
  const std::vector<Case> cases{
      // by node: -N2 -n4 -c2 --gres=gpu:a100:4 --mem=8G
      {with(with(nodes(2, 2), work(4, 8)),
            {{"tres_per_node", in_json(gpu + "a100:4")}, mib("memory_per_node", 8192)}),
       {{2, {{4000, 8192}, 4, 0}}}},
      // by task: -n3 -c2 --gpus-per-task=1 --mem-per-cpu=100
      {with(work(3, 6), {{"tres_per_task", in_json(gpu + "1")}, mib("memory_per_cpu", 100)}),
       {{3, {{2000, 200}, 1, 0}}}},
      // by job, as many tasks as GPUs
      {with(work(6, 6), {{"tres_per_job", in_json(gpu + "6")}}), {{6, {{1000, 0}, 1, 0}}}},
      // by job, one task: together
      {{{"tres_per_job", in_json(gpu + "3")}}, {{1, {{1000, 0}, 3, 0}}}},
      // by job over nodes, uneven: -N2 --gpus=5
      {with(with(nodes(2, 2), work(2, 4)), {{"tres_per_job", in_json(gpu + "5")}}),
       {{1, {{2000, 0}, 2, 0}}, {1, {{2000, 0}, 3, 0}}}},
      // more tasks than GPUs: a part for each GPU
      {with(work(8, 8), {{"tres_per_job", in_json(gpu + "2")}}), {{2, {{4000, 0}, 1, 0}}}},
      // by job and by node: --gpus=8 --gpus-per-node=4
      {with(work(8, 8),
            {{"tres_per_job", in_json(gpu + "8")}, {"tres_per_node", in_json(gpu + "4")}}),
       {{2, {{4000, 0}, 4, 0}}}},
      // by socket: -N1 --gpus-per-socket=2 --sockets-per-node=2
      {with(nodes(2, 1), {{"tres_per_socket", in_json(gpu + "2")}, mib("sockets_per_node", 2)}),
       {{1, {{1000, 0}, 4, 0}}}},
      // CPUs and memory that come with each GPU
      {{{"tres_per_job", in_json(gpu + "2")},
        {"cpus_per_tres", in_json(gpu + "3")},
        {"memory_per_tres", in_json(gpu + "4096")}},
       {{1, {{6000, 8192}, 2, 0}}}},
      // no GPUs: task by task, node by node when nodes or memory by node are given
      {work(4, 8), {{4, {{2000, 0}, 0, 0}}}},
      {with(work(4, 8), {mib("memory_per_node", 512)}), {{1, {{8000, 512}, 0, 0}}}},
      {with(nodes(2, 4), work(4, 8)), {{2, {{4000, 0}, 0, 0}}}},
      // what cannot be divided is rounded up
      {with(nodes(2, 2), work(3, 3)), {{2, {{2000, 0}, 0, 0}}}},
  };
  s.node("n0");
  for (std::size_t k = 0; k < cases.size(); ++k)
    s.job(static_cast<std::int64_t>(k + 1), cases[k].ask);
  const SlurmImport i = import(s);
  ASSERT_EQ(i.instance.workload.jobs.size(), cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    EXPECT_EQ(groups(i, k), cases[k].groups) << "job " << k + 1;
  }
  EXPECT_TRUE(has(i.notes, "range of nodes", 1));
  EXPECT_TRUE(has(i.notes, "by socket", 1));
}

TEST_P(SlurmImportGangs, shares_where_gpus_are_cut_into_parts) {
  s.node("n0", {{"gres", in_json("gpu:a100:4,shard:16")}})
      .job(1, {{"tres_per_node", in_json("gres:shard:1")}})
      .job(2, {{"tres_per_job", in_json("gres/shard:3")}})
      .job(3, {{"tres_per_node", in_json("gres:shard:4")}})
      .job(4, {{"tres_per_node", in_json("gres:shard:5")}})
      .job(5, {{"tres_per_node", in_json("gres:mps:5")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(groups(i, 0), (std::vector<Group>{{1, {{1000, 0}, 0, 250}}}));
  EXPECT_EQ(groups(i, 1), (std::vector<Group>{{1, {{1000, 0}, 0, 750}}}));
  EXPECT_EQ(groups(i, 2), (std::vector<Group>{{1, {{1000, 0}, 1, 0}}}));
  EXPECT_EQ(names(i), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_TRUE(has(i.left, "parts of several GPUs", 1));
  EXPECT_TRUE(has(i.left, "which no machine has", 1));
}

TEST_P(SlurmImportGangs, whole_nodes_take_all_of_the_commonest_machine) {
  const std::string none = GetParam() == Json::plain ? in_json("none") : Samples::list({"none"});
  s.node("n0")
      .node("n1")
      .node("big", {{"cpus", "64"}, {"tres", "null"}})
      .job(1, {{"shared", none}, {"node_count", s.number(2)}, {"max_nodes", s.number(2)}});
  const SlurmImport i = import(s);
  EXPECT_EQ(groups(i, 0), (std::vector<Group>{{2, {{32000, 65536}, 4, 0}}}));
  EXPECT_TRUE(has(i.notes, "whole nodes where nodes differ", 1));
  EXPECT_TRUE(rules(i, 0).exclusive);
  EXPECT_EQ(rules(i, 0).max_tasks[kMachine], 1);
}

TEST_P(SlurmImportGangs, numbers_of_nodes_are_rules_about_machines) {
  const auto nodes = [&](std::int64_t count) { return s.number(count); };
  s.node("n0")
      .node("n1")
      .node("n2")
      .job(1, {{"node_count", nodes(2)},
               {"max_nodes", nodes(2)},
               {"tres_per_node", in_json("gres:gpu:1")}})
      .job(2, {{"node_count", nodes(2)},
               {"max_nodes", nodes(2)},
               {"tasks", nodes(4)},
               {"tres_per_task", in_json("gres:gpu:1")}})
      .job(3, {{"node_count", nodes(2)},
               {"max_nodes", nodes(0)},
               {"tasks", nodes(4)},
               {"tres_per_task", in_json("gres:gpu:1")}})
      .job(4, {{"node_count", nodes(2)},
               {"max_nodes", nodes(3)},
               {"tasks", nodes(4)},
               {"tasks_per_node", nodes(2)},
               {"tres_per_task", in_json("gres:gpu:1")}})
      .job(5, {{"node_count", nodes(2)},
               {"max_nodes", nodes(3)},
               {"tasks", nodes(10)},
               {"cpus", nodes(20)},
               {"memory_per_node", nodes(512)},
               {"tres_per_task", in_json("gres:gpu:1")}})
      .job(6, {{"node_count", nodes(1)},
               {"max_nodes", nodes(1)},
               {"tasks", nodes(3)},
               {"tres_per_task", in_json("gres:gpu:1")}})
      .job(7, {{"node_count", nodes(3)},
               {"max_nodes", nodes(3)},
               {"tres_per_job", in_json("gres:gpu:2")}});
  const SlurmImport i = import(s);
  constexpr std::int32_t kAny = model::PlacementRules::kAnyNumber;
  const auto numbers = [&](std::size_t job) {
    return std::pair(rules(i, job).max_tasks[kMachine], rules(i, job).min_domains[kMachine]);
  };
  EXPECT_EQ(numbers(0), std::pair(1, 1));  // one task for each node
  EXPECT_EQ(numbers(1), std::pair(1, 1));  // --nodes=2 --ntasks=4: two tasks on each node
  EXPECT_EQ(groups(i, 1), (std::vector<Group>{{2, {{2000, 0}, 2, 0}}}));
  EXPECT_EQ(numbers(2), std::pair(kAny, 1));  // Slurm's own estimate of the nodes
  EXPECT_EQ(numbers(3), std::pair(1, 1));     // --nodes=2-3 --ntasks-per-node=2
  EXPECT_EQ(groups(i, 3), (std::vector<Group>{{2, {{2000, 0}, 2, 0}}}));
  // ten GPUs in machines of four: three nodes
  EXPECT_EQ(groups(i, 4), (std::vector<Group>{{2, {{6000, 512}, 3, 0}}, {1, {{8000, 512}, 4, 0}}}));
  EXPECT_EQ(numbers(4), std::pair(1, 1));
  EXPECT_EQ(groups(i, 5), (std::vector<Group>{{1, {{3000, 0}, 3, 0}}}));
  EXPECT_TRUE(has(i.left, "more nodes than it has parts", 1));
  EXPECT_FALSE(rules(i, 0).exclusive);
}

TEST_P(SlurmImportGangs, cpu_only_jobs_are_planned_where_that_can_be_said) {
  const Samples::Fields cpu{{"gres", in_json("")}, {"partitions", Samples::list({"cpu"})}};
  s.node("n0")
      .node("c0", cpu)
      .job(1)
      .job(2, {{"partition", in_json("cpu")}})
      .job(3, {{"partition", in_json("cpu,gpu")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i), (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(types(i, 0), (std::vector<std::string>{"a100"}));  // tied to machines with GPUs
  EXPECT_EQ(i.instance.workload.jobs[1].gpu_types, ~std::uint64_t{0});
  EXPECT_TRUE(has(i.left, "tied to nodes without GPUs", 1));
  const SlurmImport alone = import(s, {.partitions = {"cpu"}});
  EXPECT_EQ(names(alone), (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(alone.instance.cluster.machines(), 1U);
}

}  // namespace
}  // namespace berth::io
