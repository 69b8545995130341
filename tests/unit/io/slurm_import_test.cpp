// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"
#include "slurm_samples.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/slurm.hpp"

namespace berth::io {
namespace {

using model::Shape;

SlurmImport import(const Samples& samples, SlurmImportOptions options = {}) {
  if (options.now == 0) options.now = 1000;
  return import_slurm(samples.sources(), options);
}

bool has(const std::vector<SlurmNote>& notes, const std::string& part, std::int64_t count) {
  return std::ranges::any_of(notes, [&](const SlurmNote& note) {
    return note.what.find(part) != std::string::npos && note.count == count;
  });
}

std::vector<std::string> names(const SlurmImport& import) {
  std::vector<std::string> all;
  const auto& w = import.instance.workload;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    if (w.jobs[j].running < 0) all.emplace_back(w.job_names[j]);
  }
  return all;
}

/// GPU types the job may have.
std::vector<std::string> types(const SlurmImport& import, std::size_t job) {
  const auto& types = import.instance.cluster.gpu_types;
  std::vector<std::string> all;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if ((import.instance.workload.jobs[job].gpu_types >> t & 1) != 0) all.push_back(types[t]);
  }
  return all;
}

struct Group {
  std::int32_t count;
  Shape shape;
  bool operator==(const Group&) const = default;
};
void PrintTo(const Group& g, std::ostream* out) {
  *out << g.count << " x {" << g.shape.needs[model::kCpu] << " cpu, "
       << g.shape.needs[model::kMemory] << " MiB, " << g.shape.gpus << " gpus, "
       << g.shape.gpu_milli << " milli}";
}
std::vector<Group> groups(const SlurmImport& import, std::size_t job) {
  const auto& w = import.instance.workload;
  std::vector<Group> all;
  for (const auto& g : w.groups_of(w.jobs.at(job))) all.push_back({g.count, w.shape(g.shape)});
  return all;
}

constexpr auto kMachine = static_cast<std::size_t>(model::Level::machine);
const model::PlacementRules& rules(const SlurmImport& import, std::size_t job) {
  const auto& w = import.instance.workload;
  return w.rules_of(w.jobs.at(job));
}

class SlurmImportTest : public testing::TestWithParam<Json> {
 protected:
  Samples s{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmImportTest,
                         testing::Values(Json::plain, Json::wrapped), [](const auto& which) {
                           return which.param == Json::plain ? "plain" : "wrapped";
                         });

TEST_P(SlurmImportTest, machines_with_gpus_features_and_what_is_kept_for_the_system) {
  s.node("n0", {{"tres", in_json("cpu=30,mem=64G")}})
      .node("n1", {{"gres", in_json("gpu:2,gpu:1")},
                   {"effective_cpus", "28"},
                   {"specialized_memory", "1024"}})
      .node("c0", {{"gres", in_json("")}, {"cpus", s.number(8)}, {"tres", "null"}})
      .node("m0", {{"gres", in_json("gpu:t4:1,gpu:a100:2(S:0)")}});
  const SlurmImport i = import(s);
  const auto& c = i.instance.cluster;
  ASSERT_EQ(c.machines(), 4U);
  EXPECT_EQ(c.class_of(MachineId(0)).name, "a100-4g-30c-64g");
  EXPECT_EQ(c.class_of(MachineId(1)).name, "gpu-3g-28c-63g");
  EXPECT_EQ(c.class_of(MachineId(2)).name, "cpu-8c-64g");
  EXPECT_EQ(c.class_of(MachineId(3)).name, "a100-2g-32c-64g");
  EXPECT_TRUE(has(i.notes, "several GPU types", 1));
  EXPECT_EQ(c.pods.size(), 1U);
  EXPECT_EQ(c.racks.size(), 4U);
}

TEST_P(SlurmImportTest, states_drain_and_reserve) {
  const auto flagged = [&](const std::string& base, std::vector<std::string> flags) {
    if (GetParam() == Json::plain) {
      return Samples::Fields{{"state", in_json(base)}, {"state_flags", Samples::list(flags)}};
    }
    flags.insert(flags.begin(), base);
    return Samples::Fields{{"state", Samples::list(flags)}};
  };
  s.node("up0", flagged("idle", {"CLOUD"}))
      .node("up1", flagged("mixed", {"POWERED_DOWN", "NOT_RESPONDING"}))
      .node("dr0", flagged("allocated", {"DRAIN"}))
      .node("dr1", flagged("down", {"CLOUD"}))
      .node("dr2", flagged("idle", {"NOT_RESPONDING"}))
      .node("rs0", flagged("idle", {"MAINTENANCE"}))
      .node("odd", flagged("idle", {"SLEEPING"}))
      .node("fut", flagged("future", {"CLOUD"}));
  const SlurmImport i = import(s);
  const auto& c = i.instance.cluster;
  using enum model::MachineState;
  const std::vector<model::MachineState> expected{up,      up,       drained, drained,
                                                  drained, reserved, drained};
  EXPECT_EQ(c.machine_state, expected);
  EXPECT_TRUE(has(i.notes, "state not known", 1));
  EXPECT_TRUE(has(i.notes, "FUTURE", 1));
}

TEST_P(SlurmImportTest, gang_shapes) {
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

TEST_P(SlurmImportTest, shares_where_gpus_are_cut_into_parts) {
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

TEST_P(SlurmImportTest, whole_nodes_take_all_of_the_commonest_machine) {
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

TEST_P(SlurmImportTest, numbers_of_nodes_are_rules_about_machines) {
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

TEST_P(SlurmImportTest, who_stays_with_slurm_and_why) {
  s.node("n0")
      .job(1, {{"priority", s.number(0)}, {"state_reason", in_json("JobHeldUser")}})
      .job(2, {{"dependency", in_json("afterok:1(unfulfilled)")}})
      .job(3, {{"eligible_time", s.number(1001)}})
      .job(4, {{"resv_name", in_json("r1")}})
      .job(5, {{"het_job_id", s.number(5)}})
      .job(6, {{"job_state", s.state({"REQUEUED"})}})
      .job(7, {{"partition", in_json("elsewhere")}})
      .job(8, {{"features", in_json("ib*2")}})
      .job(9, {{"required_nodes", in_json("n0")}, {"node_count", s.number(2)}})
      .job(10, {{"tres_per_node", in_json("gres:gpu:a100:1,gres:gpu:t4:1")}})
      .job(11, {{"job_state", s.state({"COMPLETED"})}})
      .job(12)
      .job(15, {{"state_reason", in_json("AssocGrpGRES")}})
      .job(16, {{"state_reason", in_json("QOSMaxJobsPerUserLimit")}})
      .job(17, {{"state_reason", in_json("BadConstraints")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i), (std::vector<std::string>{"12"}));
  for (const char* const reason :
       {"is held", "waits for another job", "begins later", "has a reservation", "heterogeneous",
        "requeued", "cannot start, says Slurm: BadConstraints", "fits none of the nodes",
        "features with counts", "names some of its nodes", "several GPU types"}) {
    EXPECT_TRUE(has(i.left, reason, 1)) << reason;
  }
  EXPECT_TRUE(has(i.left, "a limit of its association or QOS", 2));
  EXPECT_EQ(names(import(s, {.held = true})), (std::vector<std::string>{"1", "12"}));
  s.job(13, {{"hold", "true"}}).job(14, {{"priority", "null"}});
  EXPECT_EQ(names(import(s)), (std::vector<std::string>{"12", "14"}));
}

TEST_P(SlurmImportTest, arrays_are_one_job_for_each_task_that_may_start) {
  s.node("n0")
      .job(17, {{"array_job_id", s.number(17)}, {"array_task_string", in_json("3-4,8-12:2")}})
      .job(20, {{"array_job_id", s.number(20)},
                {"array_task_string", in_json("1-5%2")},
                {"array_max_tasks", s.number(2)}})
      .running(21, "n0", 1, 10, {{"array_job_id", s.number(20)}, {"array_task_id", s.number(0)}})
      .job(30, {{"array_job_id", s.number(30)}, {"array_task_string", in_json("1,3,5,...")}})
      .job(31, {{"array_job_id", s.number(29)}, {"array_task_id", s.number(7)}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i),
            (std::vector<std::string>{"17_3", "17_4", "17_8", "17_10", "17_12", "20_1", "29_7"}));
  EXPECT_TRUE(has(i.left, "other tasks of its array", 4));
  EXPECT_TRUE(has(i.left, "cut off", 1));
  EXPECT_EQ(i.instance.workload.job_names[0], "20_0");  // the task that runs
}

TEST_P(SlurmImportTest, machines_that_jobs_tell_apart_become_types_of_their_own) {
  s.node("n0", {{"features", s.words({"ib"})}})
      .node("n1", {{"features", s.words({"eth"})}})
      .node("n2", {{"features", s.words({"ib", "big"})}})
      .node("h0", {{"gres", in_json("gpu:h100:8")}, {"features", s.words({"ib"})}})
      .job(1, {{"tres_per_node", in_json("gres:gpu:a100:1")}})
      .job(2, {{"tres_per_node", in_json("gres:gpu:1")}, {"features", in_json("ib&big|eth")}})
      .job(3, {{"tres_per_node", in_json("gres:gpu:1")}, {"features", in_json("(ib|eth)&fast")}})
      .job(4, {{"tres_per_node", in_json("gres:gpu:1")}, {"excluded_nodes", in_json("n[0,2]")}})
      .job(5, {{"tres_per_node", in_json("gres:gpu:1")}, {"required_nodes", in_json("h0")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(i.instance.cluster.gpu_types,
            (std::vector<std::string>{"a100@1", "a100@2", "a100@3", "h100"}));
  EXPECT_EQ(types(i, 0), (std::vector<std::string>{"a100@1", "a100@2", "a100@3"}));
  EXPECT_EQ(types(i, 1), (std::vector<std::string>{"a100@2", "a100@3"}));
  EXPECT_EQ(types(i, 2), (std::vector<std::string>{"a100@2", "h100"}));  // job 4: n1, h0
  EXPECT_EQ(types(i, 3), (std::vector<std::string>{"h100"}));
  EXPECT_TRUE(has(i.left, "fits none of the nodes", 1));  // no node is "fast"
}

TEST_P(SlurmImportTest, types_that_only_drained_machines_have_are_not_offered) {
  s.node("n0")
      .node("h0", {{"gres", in_json("gpu:h100:8")}, {"state", s.state({"DOWN"})}})
      .node("t0", {{"gres", in_json("gpu:t4:1")}, {"features", s.words({"slow"})}})
      .job(1, {{"tres_per_node", in_json("gres:gpu:1")}, {"features", in_json("ib")}});
  EXPECT_EQ(types(import(s), 0), (std::vector<std::string>{"a100"}));
}

TEST_P(SlurmImportTest, alternatives_in_brackets_keep_a_gang_on_one_of_them) {
  s.node("n0", {{"features", s.words({"r1"})}})
      .node("n1", {{"features", s.words({"r2"})}})
      .job(1, {{"tres_per_task", in_json("gres:gpu:4")},
               {"tasks", s.number(2)},
               {"cpus", s.number(2)},
               {"features", in_json("[r1|r2]")}});
  // both machines will do, but not for one job: they are types of their own
  EXPECT_EQ(import(s).instance.cluster.gpu_types, (std::vector<std::string>{"a100@1", "a100@2"}));
}

TEST_P(SlurmImportTest, cpu_only_jobs_are_planned_where_that_can_be_said) {
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

TEST_P(SlurmImportTest, more_sets_of_nodes_than_types_leave_the_smallest_jobs_with_slurm) {
  for (int n = 0; n < 80; ++n) s.node("n" + std::to_string(n));
  for (int n = 0; n < 70; ++n) {
    s.job(n + 1, {{"tres_per_node", in_json("gres:gpu:" + std::to_string(n < 10 ? 1 : 2))},
                  {"required_nodes", in_json("n" + std::to_string(n))}});
  }
  const SlurmImport i = import(s);
  EXPECT_EQ(i.instance.cluster.gpu_types.size(), 64U);
  EXPECT_EQ(names(i).size(), 63U);
  EXPECT_TRUE(has(i.left, "cannot tell apart", 7));
}

TEST_P(SlurmImportTest, priority_weight_arrival_spread_and_switches) {
  s.node("n0")
      .job(1, {{"priority", s.number(4294901758)}, {"submit_time", s.number(900)}})
      .job(2, {{"priority", s.number(2147450879)},
               {"submit_time", s.number(700)},
               {"required_switches", "1"},
               {"tasks", s.number(2)},
               {"cpus", s.number(2)}});
  const auto i = import(
      s,
      {.weigh_priority = true, .priority_classes = 0, .pod_factor = 0.5, .cluster_factor = 0.25});
  const auto& w = i.instance.workload;
  EXPECT_GT(w.jobs[0].priority, w.jobs[1].priority);
  EXPECT_DOUBLE_EQ(w.jobs[0].weight, 1.0);
  EXPECT_DOUBLE_EQ(w.jobs[1].weight, 0.5);
  EXPECT_EQ(w.jobs[0].arrival, 200);
  EXPECT_EQ(w.jobs[1].arrival, 0);
  EXPECT_EQ(w.jobs[0].width_factor, 0U);
  EXPECT_EQ(w.factors[w.jobs[1].width_factor], (model::Factors{1.0, 1.0, 0.5, 0.25}));
  EXPECT_EQ(w.jobs[1].domain, model::Level::rack);
  EXPECT_EQ(i.instance.cluster.queues.at(w.jobs[1].queue.index()).name, "gpu");
}

TEST_P(SlurmImportTest, priority_classes_are_pairs_of_tier_and_qos_or_quantiles) {
  s.node("n0");
  const std::pair<const char*, std::int64_t> jobs[] = {
      {"low", 500}, {"low", 700}, {"high", 600}, {"high", 900}};
  int id = 0;
  for (const auto& [qos, priority] : jobs) {
    s.job(++id, {{"qos", in_json(qos)}, {"priority", s.number(priority)}});
  }
  const auto of = [&](std::int32_t most) {
    std::vector<std::int32_t> classes;
    for (const auto& job : import(s, {.priority_classes = most}).instance.workload.jobs) {
      classes.push_back(job.priority);
    }
    return classes;
  };
  EXPECT_EQ(of(16), (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(of(1), (std::vector<std::int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(of(0), (std::vector<std::int32_t>{500, 700, 600, 900}));
  s.job(5, {{"qos", in_json("third")}, {"priority", s.number(100)}});
  EXPECT_EQ(of(2), (std::vector<std::int32_t>{0, 1, 0, 1, 0}));  // quantiles
}

TEST_P(SlurmImportTest, what_is_not_counted_is_said) {
  s.node("n0", {{"threads", "2"}})
      .job(1, {{"licenses", in_json("matlab:1")},
               {"burst_buffer", in_json("x")},
               {"network", in_json("x")},
               {"core_spec", "1"},
               {"contiguous", "true"},
               {"tres_per_node", in_json("gres:gpu:1,gres:nvme:2")},
               {"required_switches", "3"},
               {"tasks_per_node", s.number(2)}});
  const SlurmImport i = import(s);
  for (const char* const note :
       {"licenses", "burst buffers", "network", "cores set aside", "contiguous",
        "generic resources", "so many switches", "several threads"}) {
    EXPECT_TRUE(has(i.notes, note, 1)) << note;
  }
}

TEST_P(SlurmImportTest, switches_are_read_from_the_details_of_jobs) {
  s.node("n0").job(1).job(2).job(3);
  SlurmSources sources = s.sources();
  sources.job_details = {
      .name = "jobs.txt",
      .text =
          "JobId=1 JobName=a Switches=1 b UserId=ada(1) Comment= StdOut=/o Switches=4@00:05 Power= "
          "\nJobId=2 JobName=Switches=1 UserId=ada(1) StdOut=/o Power= \n"
          "JobId=3 JobName=c StdOut=/o Switches=1@00:05:00 Power= \n"};
  const SlurmImport i = import_slurm(sources, {.now = 1000});
  EXPECT_TRUE(has(i.notes, "so many switches", 1));  // job 1
  EXPECT_EQ(i.instance.workload.jobs[1].domain, model::Level::cluster);
  EXPECT_EQ(i.instance.workload.jobs[2].domain, model::Level::rack);
}

TEST_P(SlurmImportTest, licenses_are_a_limit_of_the_cluster) {
  s.node("n0")
      .job(1, {{"licenses", in_json("matlab:2,ansys")}})
      .job(2, {{"licenses", in_json("matlab|ansys")}})
      .job(3, {{"licenses", in_json("other")}})
      .running(4, "n0", 1, 10, {{"licenses", in_json("matlab")}});
  SlurmSources sources = s.sources();
  sources.licenses = {.name = "licenses.txt",
                      .text =
                          "LicenseName=ansys Total=2 Used=0 Free=2 Reserved=1 Remote=no\n"
                          "LicenseName=matlab Total=4 Used=2 Free=2 Reserved=0 Remote=no\n"};
  const SlurmImport i = import_slurm(sources, {.now = 1000});
  const auto& all = i.instance.cluster.licenses;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].count, 1);  // ansys
  EXPECT_EQ(all[1].count, 3);  // matlab: 2 free, 1 of a running job; who has the other is not told
  using Uses = std::vector<model::LicenseUse>;
  EXPECT_EQ(rules(i, 0).licenses, (Uses{{1, 1}}));  // the running job comes first
  EXPECT_EQ(rules(i, 1).licenses, (Uses{{0, 1}, {1, 2}}));
  EXPECT_TRUE(has(i.notes, "licenses, which are not counted", 2));  // jobs 2 and 3
  EXPECT_TRUE(import(s, {.now = 1000}).instance.cluster.licenses.empty());
}

TEST_P(SlurmImportTest, names_and_users_are_carried) {
  s.node("n0")
      .job(1, {{"name", in_json("train it")}, {"user_name", in_json("ada")}})
      .running(2, "n0", 1, 10, {{"name", in_json("old")}, {"user_name", in_json("bob")}});
  const SlurmImport i = import(s);
  const model::JobTitles& titles = i.instance.workload.titles;
  EXPECT_EQ(titles.name_of(JobId(0)), "old");  // the running job comes first
  EXPECT_EQ(titles.user_of(JobId(0)), "bob");
  EXPECT_EQ(titles.name_of(JobId(1)), "train it");
  EXPECT_EQ(titles.user_of(JobId(1)), "ada");
}

TEST_P(SlurmImportTest, pins_of_an_earlier_plan_are_not_the_users_wish) {
  for (int n = 0; n < 4; ++n) s.node("n" + std::to_string(n));
  s.job(1, {{"required_nodes", in_json("n2")}, {"admin_comment", in_json("berth:nodes=n2")}})
      .job(2, {{"required_nodes", in_json("n3")}})
      .job(3, {{"eligible_time", s.number(5000)}, {"admin_comment", in_json("berth:start=5000")}})
      .job(4, {{"array_job_id", s.number(4)},
               {"array_task_id", s.number(0)},
               {"array_max_tasks", s.number(2)},
               {"required_nodes", in_json("n1")},
               {"admin_comment", in_json("berth:nodes=n1")}})
      .job(5, {{"array_job_id", s.number(4)},
               {"array_max_tasks", s.number(2)},
               {"array_task_string", in_json("1-3%2")}});
  const SlurmImport i = import(s);
  EXPECT_EQ(names(i), (std::vector<std::string>{"1", "2", "3", "4_0", "4_1"}));
  EXPECT_EQ(i.instance.cluster.gpu_types.size(), 2U);  // only job 2 tells machines apart
  EXPECT_EQ(types(i, 0).size(), 2U);
  EXPECT_TRUE(has(i.notes, "an earlier apply pinned", 3));
  EXPECT_THAT(i.state, testing::HasSubstr(R"("pinned":["1","3","4_0"])"));
}

TEST_P(SlurmImportTest, files_read_back_are_the_same_instance) {
  s.node("n0").node("n1", {{"features", s.words({"x"})}}).node("c0", {{"gres", in_json("")}});
  s.job(1, {{"tres_per_node", in_json("gres:gpu:2")}, {"features", in_json("x")}})
      .job(2, {{"tasks", s.number(3)}, {"cpus", s.number(3)}})
      .running(3, "n0,n1", 4, 100,
               {{"gres_detail", Samples::list({"gpu:a100:1(IDX:2)", "gpu:a100:2(IDX:0,3)"})}});
  const SlurmImport i = import(s);
  model::Instance back;
  back.cluster = parse_cluster(cluster_text(i.instance.cluster), "c.yaml");
  back.workload = parse_jobs(jobs_text(i.instance), "j.jsonl", back.cluster);
  EXPECT_EQ(model::instance_digest(back), model::instance_digest(i.instance));
  EXPECT_NE(i.state.find(model::instance_digest(back)), std::string::npos);
}

TEST_P(SlurmImportTest, cpus_stand_for_gpus_in_a_test_slurm) {
  s.node("n0", {{"gres", in_json("")}})
      .job(1, {{"tasks", s.number(8)},
               {"cpus", s.number(8)},
               {"node_count", s.number(2)},
               {"max_nodes", s.number(2)}});
  const SlurmImport i = import(s, {.cpu_as_gpu = "G"});
  EXPECT_EQ(i.instance.cluster.gpus(), 32);
  EXPECT_EQ(groups(i, 0), (std::vector<Group>{{2, {{4000, 0}, 4, 0}}}));
}

}  // namespace
}  // namespace berth::io
