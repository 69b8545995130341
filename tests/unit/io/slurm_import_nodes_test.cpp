// SPDX-License-Identifier: Apache-2.0
#include "slurm_imports.hpp"

#include <string>
#include <vector>

namespace berth::io {
namespace {

class SlurmImportNodes : public SlurmImportTest {};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmImportNodes, both_generations(), generation_name);

TEST_P(SlurmImportNodes, machines_with_gpus_features_and_what_is_kept_for_the_system) {
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

TEST_P(SlurmImportNodes, states_drain_and_reserve) {
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

TEST_P(SlurmImportNodes, machines_that_jobs_tell_apart_become_types_of_their_own) {
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

TEST_P(SlurmImportNodes, types_that_only_drained_machines_have_are_not_offered) {
  s.node("n0")
      .node("h0", {{"gres", in_json("gpu:h100:8")}, {"state", s.state({"DOWN"})}})
      .node("t0", {{"gres", in_json("gpu:t4:1")}, {"features", s.words({"slow"})}})
      .job(1, {{"tres_per_node", in_json("gres:gpu:1")}, {"features", in_json("ib")}});
  EXPECT_EQ(types(import(s), 0), (std::vector<std::string>{"a100"}));
}

TEST_P(SlurmImportNodes, alternatives_in_brackets_keep_a_gang_on_one_of_them) {
  s.node("n0", {{"features", s.words({"r1"})}})
      .node("n1", {{"features", s.words({"r2"})}})
      .job(1, {{"tres_per_task", in_json("gres:gpu:4")},
               {"tasks", s.number(2)},
               {"cpus", s.number(2)},
               {"features", in_json("[r1|r2]")}});
  // both machines will do, but not for one job: they are types of their own
  EXPECT_EQ(import(s).instance.cluster.gpu_types, (std::vector<std::string>{"a100@1", "a100@2"}));
}

TEST_P(SlurmImportNodes, more_sets_of_nodes_than_types_leave_the_smallest_jobs_with_slurm) {
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

TEST_P(SlurmImportNodes, switches_are_read_from_the_details_of_jobs) {
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

TEST_P(SlurmImportNodes, cpus_stand_for_gpus_in_a_test_slurm) {
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
