// SPDX-License-Identifier: Apache-2.0
#include "berth/io/slurm_apply.hpp"

#include "faults.hpp"
#include "slurm_samples.hpp"

#include <string>
#include <vector>

namespace berth::io {
namespace {

const std::string kGpu = in_json("gres:gpu:2");

/// n0 .. n3 with 4 GPUs each; job 1 asks for 2 GPUs on each of 2 nodes, job 2 two GPUs, 5_0 and 5_1
/// one.
Samples cluster() {
  Samples s(Json::wrapped);
  for (const char* const name : {"n0", "n1", "n2", "n3"}) s.node(name);
  return s;
}
void add_first(Samples& s, const Samples::Fields& other = {}) {
  Samples::Fields fields{{"tres_per_node", kGpu},
                         {"node_count", s.number(2)},
                         {"max_nodes", s.number(2)},
                         {"tasks", s.number(2)},
                         {"cpus", s.number(2)}};
  for (const auto& [key, text] : other) fields[key] = text;
  s.job(1, fields);
}
void add_others(Samples& s) {
  s.job(2, {{"tres_per_node", kGpu}});
  s.job(5, {{"array_job_id", s.number(5)},
            {"array_task_string", in_json("0-1")},
            {"tres_per_node", in_json("gres:gpu:1")}});
}
Samples usual() {
  Samples s = cluster();
  add_first(s);
  add_others(s);
  return s;
}

model::RawTask on(const std::string& machine, int gpus) {
  model::RawTask task{.shape = "task", .machine = machine, .gpus = {}, .needs = {1000}};
  for (int g = 0; g < gpus; ++g) task.gpus.push_back({.index = g, .milli = 1000});
  return task;
}

/// Job 1 on n0 and n2, job 2 on n1, 5_1 on n1.
struct Planned {
  Planned() : import(import_slurm(usual().sources(), {.now = 1000})) {
    plan.instance_digest = model::instance_digest(import.instance);
    plan.placements = {{.job = "1", .start = 0, .tasks = {on("n0", 2), on("n2", 2)}},
                       {.job = "2", .start = 0, .tasks = {on("n1", 2)}},
                       {.job = "5_1", .start = 60, .tasks = {on("n1", 1)}}};
  }
  SlurmOrders orders(const Samples& now, const SlurmApplyOptions& options = {}) const {
    return slurm_orders(plan, "plan.json", {.name = "state.json", .text = import.state},
                        now.sources(), options);
  }
  SlurmImport import;
  model::RawPlan plan;
};

std::vector<std::string> lines(const SlurmOrders& orders) {
  std::vector<std::string> all;
  for (const SlurmOrder& order : orders.orders) all.push_back(shell_line(order));
  return all;
}

/// The one job that is broken, and why.
void expect_broken(const SlurmOrders& orders, const std::string& job, const std::string& why) {
  ASSERT_EQ(orders.broken.size(), 1U);
  EXPECT_EQ(orders.broken[0].job, job);
  EXPECT_THAT(orders.broken[0].problem, testing::HasSubstr(why));
  EXPECT_EQ(orders.orders.size(), 2U);
}

TEST(SlurmApply, one_update_for_each_planned_job) {
  const Planned planned;
  const SlurmOrders orders = planned.orders(usual());
  EXPECT_TRUE(orders.broken.empty());
  EXPECT_TRUE(orders.left.empty());
  EXPECT_EQ(
      lines(orders),
      (std::vector<std::string>{
          "scontrol update JobId=1 ReqNodeList=n0,n2 AdminComment=berth:nodes=n0,n2",
          "scontrol update JobId=2 ReqNodeList=n1 AdminComment=berth:nodes=n1",
          "scontrol update JobId=5_1 ReqNodeList=n1 AdminComment=berth:nodes=n1"}));
  EXPECT_TRUE(orders.cleared.empty());
}

TEST(SlurmApply, start_and_priority_as_the_site_chooses) {
  const Planned planned;
  ::setenv("TZ", "UTC", 1);
  const auto orders =
      planned.orders(usual(), {.nodes = false, .start = true, .priority = true, .now = 0});
  EXPECT_EQ(lines(orders),
            (std::vector<std::string>{
                "scontrol update JobId=1 StartTime=now Priority=1003 "
                "AdminComment=berth:priority=1003/1000",
                "scontrol update JobId=2 StartTime=now Priority=1002 "
                "AdminComment=berth:priority=1002/1000",
                "scontrol update JobId=5_1 StartTime=1970-01-01T00:01:00 Priority=1001 "
                "'AdminComment=berth:start=60;priority=1001/1000'"}));
  EXPECT_TRUE(planned.orders(usual(), {.nodes = false}).orders.empty());
}

TEST(SlurmApply, a_priority_would_release_a_held_job) {
  const Planned planned;
  Samples now = cluster();
  add_first(now, {{"priority", now.number(0)}});
  add_others(now);
  const auto orders = planned.orders(now, {.nodes = true, .priority = true});
  EXPECT_EQ(lines(orders)[0],
            "scontrol update JobId=1 ReqNodeList=n0,n2 AdminComment=berth:nodes=n0,n2");
  const auto released = planned.orders(now, {.nodes = true, .release = true});
  EXPECT_EQ(lines(released)[0],
            "scontrol update JobId=1 ReqNodeList=n0,n2 AdminComment=berth:nodes=n0,n2 && "
            "scontrol release 1");
  EXPECT_EQ(lines(released)[1],
            "scontrol update JobId=2 ReqNodeList=n1 AdminComment=berth:nodes=n1");
}

TEST(SlurmApply, names_of_nodes_are_put_together_and_quoted) {
  Planned planned;
  planned.plan.placements = {{.job = "1", .start = 0, .tasks = {on("n2", 2), on("n3", 2)}}};
  EXPECT_EQ(lines(planned.orders(usual())),
            (std::vector<std::string>{"scontrol update JobId=1 'ReqNodeList=n[2-3]' "
                                      "'AdminComment=berth:nodes=n[2-3]'"}));
}

TEST(SlurmApply, refuses_what_the_cluster_has_broken_and_names_the_job) {
  const Planned planned;
  Samples gone = cluster();
  add_others(gone);
  expect_broken(planned.orders(gone), "1", "no longer in the queue");

  Samples runs = cluster();
  runs.running(1, "n3", 1, 0);
  add_others(runs);
  expect_broken(planned.orders(runs), "1", "no longer pending: RUNNING");

  Samples other = cluster();
  add_first(other, {{"time_limit", other.number(90)}});
  add_others(other);
  expect_broken(planned.orders(other), "1", "its time_limit was 60, is now 90");

  Samples elsewhere = cluster();
  add_first(elsewhere, {{"required_nodes", in_json("n3,n1")}});
  add_others(elsewhere);
  expect_broken(planned.orders(elsewhere), "1", "its required_nodes was none, is now n3,n1");
}

TEST(SlurmApply, refuses_nodes_gone_drained_reserved_or_taken) {
  const Planned planned;
  const auto with_n2 = [&](const Samples::Fields* n2) {
    Samples s(Json::wrapped);
    s.node("n0").node("n1").node("n3");
    if (n2 != nullptr) s.node("n2", *n2);
    add_first(s);
    add_others(s);
    return s;
  };
  expect_broken(planned.orders(with_n2(nullptr)), "1", "node n2 is gone");
  const Samples::Fields drained{{"state", Samples::list({"IDLE", "DRAIN"})}};
  expect_broken(planned.orders(with_n2(&drained)), "1", "n2 is down or drained");
  const Samples::Fields reserved{{"state", Samples::list({"IDLE", "MAINTENANCE"})}};
  expect_broken(planned.orders(with_n2(&reserved)), "1", "n2 is reserved");
  const Samples::Fields fewer{{"gres", in_json("gpu:a100:1")}};
  expect_broken(planned.orders(with_n2(&fewer)), "1", "n2 has too few free GPUs");
  const Samples::Fields none{{"cpus", "0"}};
  expect_broken(planned.orders(with_n2(&none)), "1", "n2 has too few free CPUs");

  Planned remembers;  // memory by task
  remembers.plan.placements[0].tasks[1].needs[model::kMemory] = 1000;
  const Samples::Fields forgetful{{"real_memory", "999"}};
  expect_broken(remembers.orders(with_n2(&forgetful)), "1", "n2 has too little memory");

  Samples taken = usual();  // job 9 came, ran, and left one GPU of n1: the first job gets no less
  taken.running(9, "n1", 1, 0, {{"gres_detail", Samples::list({"gpu:a100:2(IDX:0-1)"})}});
  expect_broken(planned.orders(taken), "5_1", "n1 has too few free GPUs");
}

TEST(SlurmApply, an_earlier_apply_of_the_same_plan_is_no_change) {
  const Planned planned;
  Samples now = cluster();
  add_first(now, {{"required_nodes", in_json("n[0,2]")},
                  {"admin_comment", in_json("berth:nodes=n0,n2")}});
  add_others(now);
  const SlurmOrders orders = planned.orders(now);
  EXPECT_TRUE(orders.broken.empty());
  EXPECT_EQ(lines(orders).size(), 3U);
}

/// Job 1 asks for 1 to 3 of n0 .. n3; an earlier plan pinned it to n1 and n3.
Samples pinned_before(const Samples::Fields& other = {}) {
  Samples s = cluster();
  Samples::Fields fields{
      {"required_nodes", in_json("n[1,3]")},
      {"node_count", s.number(2)},
      {"max_nodes", s.number(2)},
      {"admin_comment", in_json("asked by ada berth:nodes=n[1,3];range=1-3;priority=1200/900")},
      {"priority", s.number(1200)}};
  for (const auto& [key, text] : other) fields[key] = text;
  add_first(s, fields);
  return s;
}

/// A plan of the import that puts job 1 on these machines.
SlurmOrders replanned(const Samples& now, const std::vector<std::string>& machines) {
  const SlurmImport import = import_slurm(now.sources(), {.now = 1000});
  model::RawPlan plan;
  plan.instance_digest = model::instance_digest(import.instance);
  if (!machines.empty()) plan.placements = {{.job = "1", .start = 0, .tasks = {}}};
  for (const std::string& machine : machines) plan.placements[0].tasks.push_back(on(machine, 2));
  return slurm_orders(plan, "plan.json", {.name = "state.json", .text = import.state},
                      now.sources(), {});
}

TEST(SlurmApply, a_pin_of_an_earlier_plan_is_replaced) {
  const SlurmOrders orders = replanned(pinned_before(), {"n0"});
  EXPECT_TRUE(orders.broken.empty());
  EXPECT_TRUE(orders.left.empty());
  EXPECT_TRUE(orders.cleared.empty());
  EXPECT_EQ(lines(orders),
            (std::vector<std::string>{"scontrol update JobId=1 ReqNodeList=n0 NumNodes=1-1 "
                                      "'AdminComment=asked by ada berth:nodes=n0;range=1-3'"}));
}

TEST(SlurmApply, a_pin_that_no_plan_renews_is_taken_back) {
  const SlurmOrders orders = replanned(pinned_before(), {});
  EXPECT_TRUE(orders.orders.empty());
  ASSERT_EQ(orders.cleared.size(), 1U);
  const std::string line =
      "scontrol update JobId=1 ReqNodeList= NumNodes=1-3 'AdminComment=asked by ada' && scontrol "
      "hold 1 && scontrol release 1";
  EXPECT_EQ(shell_line(orders.cleared[0]), line);
  const auto cleared = slurm_clear_orders(pinned_before().sources());
  ASSERT_EQ(cleared.size(), 1U);
  EXPECT_EQ(shell_line(cleared[0]), line);
  EXPECT_TRUE(slurm_clear_orders(usual().sources()).empty());
}

TEST(SlurmApply, what_somebody_changed_since_the_pin_is_kept) {
  const Samples moved = pinned_before({{"required_nodes", in_json("n2")},
                                       {"node_count", Samples(Json::wrapped).number(1)},
                                       {"priority", Samples(Json::wrapped).number(7)}});
  const auto cleared = slurm_clear_orders(moved.sources());
  ASSERT_EQ(cleared.size(), 1U);
  EXPECT_EQ(shell_line(cleared[0]), "scontrol update JobId=1 'AdminComment=asked by ada'");
}

TEST(SlurmApply, a_job_that_slurm_gave_up_for_its_pin_is_released) {
  const Samples given_up = pinned_before(
      {{"priority", Samples(Json::wrapped).number(0)}, {"state_reason", in_json("BadConstraints")}});
  EXPECT_EQ(lines(replanned(given_up, {"n0", "n2"})),
            (std::vector<std::string>{
                "scontrol update JobId=1 ReqNodeList=n0,n2 NumNodes=2-2 'AdminComment=asked by ada "
                "berth:nodes=n0,n2;range=1-3' && scontrol release 1"}));
}

TEST(SlurmApply, leaves_a_job_planned_on_fewer_nodes_than_it_asks_for) {
  Planned planned;
  planned.plan.placements = {{.job = "1", .start = 0, .tasks = {on("n3", 2), on("n3", 2)}}};
  const SlurmOrders orders = planned.orders(usual());
  EXPECT_TRUE(orders.orders.empty());
  ASSERT_EQ(orders.left.size(), 1U);
  EXPECT_EQ(orders.left[0].problem, "planned on 1 nodes, asks for 2");
}

TEST(SlurmApply, leaves_a_job_whose_own_nodes_the_plan_leaves_out) {
  const Samples::Fields named{{"tres_per_node", kGpu}, {"required_nodes", in_json("n0,n1")}};
  Samples s = cluster();
  s.job(1, named);
  Planned planned;
  planned.import = import_slurm(s.sources(), {.now = 1000});
  planned.plan.instance_digest = model::instance_digest(planned.import.instance);
  planned.plan.placements = {{.job = "1", .start = 0, .tasks = {on("n0", 2)}}};
  const SlurmOrders orders = planned.orders(s);
  ASSERT_EQ(orders.left.size(), 1U);
  EXPECT_EQ(orders.left[0].problem, "names node n1, which the plan leaves out");
}

TEST(SlurmApply, a_plan_of_another_import_is_refused) {
  Planned planned;
  planned.plan.instance_digest = "0";
  EXPECT_THROW((void)planned.orders(usual()), InputError);
  planned.import.state = "{}";
  EXPECT_THROW((void)planned.orders(usual()), InputError);
  planned.import.state = R"({"schema":1,"kind":"plan","instance_digest":"0","jobs":[]})";
  EXPECT_THROW((void)planned.orders(usual()), InputError);
}

TEST(SlurmApply, shell_words_are_quoted) {
  EXPECT_EQ(shell_line({.job = "1", .calls = {{"update", "a b", "it's"}}}),
            "scontrol update 'a b' 'it'\\''s'");
}

}  // namespace
}  // namespace berth::io
