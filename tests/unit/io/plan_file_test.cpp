// SPDX-License-Identifier: Apache-2.0
#include "berth/io/plan_file.hpp"

#include "faults.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {
namespace {

using model::Instance;
using model::Plan;
using model::RawPlan;

/// Two racks; a gang of 2 x 2 GPUs with a CPU-only server, a share, and a job that waits.
Instance small_instance() {
  Instance instance;
  instance.cluster = parse_cluster(
      R"({schema: 1, classes: {a: {gpu_type: A, gpus: 4}, c: {}}, pods: [{id: p, racks: [
          {id: r0, machines: [{ids: [m0, "m\"1\""], class: a}]},
          {id: r1, machines: [{ids: z, class: c}]}]}]})",
      "c.yaml");
  instance.workload = parse_jobs(
      R"({"id":"gang","tasks":[{"shape":"w","count":2,"gpus":2},{"shape":"s","cpu_milli":7,"memory_mib":9}]}
{"id":"share","tasks":[{"gpu_milli":300}]}
{"id":"late","tasks":[{"gpus":99}]})",
      "j.jsonl", instance.cluster);
  return instance;
}

Plan small_plan() {
  Plan plan;
  plan.instance_digest = "i";
  plan.plan_digest = "p";
  plan.proof_digest = "q";
  plan.seed = std::numeric_limits<std::uint64_t>::max();
  plan.objective_kind = model::Objective::allocate;
  plan.options = {{"gap", "0.0001"}, {"jobs", "a\\b"}};
  plan.reproducible = false;
  plan.figures = {.objective = 0.1,
                  .upper_bound = 4300.000000000001,
                  .gap = 1.0 / 3.0,
                  .gpus_total = 8,
                  .gpu_milli_total = 8000,
                  .gpu_milli_allocated = 4300,
                  .jobs_total = 3,
                  .jobs_placed = 2};
  plan.required_missing = {JobId(2)};
  plan.seconds = {{"load", 0.25}};
  plan.stats = {{"rounds", 3}};
  plan.certificate = {.scale_log2 = 20,
                      .level = model::Level::rack,
                      .pools = {{PodId(0), RackId(1), ClassId(0), std::int64_t{1} << 62, {1, 2}}},
                      .shapes = {{ShapeId(0), GpuTypeId(0), 5}, {ShapeId(1), GpuTypeId(), 6}},
                      .multipliers = {{ClassId(1), {7, 8}}},
                      .jobs = {{JobId(0), 9}},
                      .gangs = {{ShapeId(0), 3, GpuTypeId(0), 12}}};
  plan.placements = {
      {JobId(0),
       0,
       {{MachineId(0), 0, 0b0011, 1000}, {MachineId(1), 0, 0b1010, 1000}, {MachineId(2), 1, 0, 0}}},
      {JobId(1), 60, {{MachineId(0), 0, 0b0100, 300}}}};
  plan.waiting = {{JobId(2), "asks for 99 GPUs of one machine"}};
  return plan;
}

TEST(PlanFile, figures_and_prices_come_back_to_the_last_bit) {
  const RawPlan raw = parse_plan(plan_text(small_instance(), small_plan()), "plan.json");
  EXPECT_EQ(raw.instance_digest, "i");
  EXPECT_EQ(raw.plan_digest, "p");
  EXPECT_EQ(raw.proof_digest, "q");
  EXPECT_EQ(raw.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(raw.objective_kind, "allocate");
  EXPECT_EQ(raw.reproducible, false);
  EXPECT_EQ(raw.figures.objective, 0.1);
  EXPECT_EQ(raw.figures.upper_bound, 4300.000000000001);
  EXPECT_EQ(raw.figures.gap, 1.0 / 3.0);
  EXPECT_EQ(raw.figures.gpu_milli_allocated, 4300);
  EXPECT_EQ(raw.figures.jobs_placed, 2);
  EXPECT_EQ(raw.required_missing, std::vector<std::string>{"late"});
  ASSERT_TRUE(raw.certificate.has_value());
  EXPECT_EQ(raw.certificate->scale_log2, 20);
  EXPECT_EQ(raw.certificate->level, "rack");
  ASSERT_EQ(raw.certificate->pools.size(), 1U);
  EXPECT_EQ(raw.certificate->pools[0].rack, "r1");
  EXPECT_EQ(raw.certificate->pools[0].machine_class, "a");
  EXPECT_EQ(raw.certificate->pools[0].gpu_milli, std::int64_t{1} << 62);
  ASSERT_EQ(raw.certificate->shapes.size(), 2U);
  ASSERT_EQ(raw.certificate->gangs.size(), 1U);
  EXPECT_EQ(raw.certificate->gangs[0].tasks, 3);
  EXPECT_EQ(raw.certificate->gangs[0].task.gpu_type, "A");
  EXPECT_EQ(raw.certificate->gangs[0].task.gpus, 2);
  EXPECT_EQ(raw.certificate->gangs[0].task.price, 12);
  EXPECT_EQ(raw.certificate->shapes[0].gpu_type, "A");
  EXPECT_EQ(raw.certificate->shapes[0].gpus, 2);
  EXPECT_EQ(raw.certificate->shapes[1].gpu_type, "");
  EXPECT_EQ(raw.certificate->shapes[1].needs[model::kCpu], 7);
  EXPECT_EQ(raw.certificate->multipliers[0].machine_class, "c");
  EXPECT_EQ(raw.certificate->multipliers[0].unit_price[model::kMemory], 8);
  ASSERT_EQ(raw.certificate->jobs.size(), 1U);
  EXPECT_EQ(raw.certificate->jobs[0].job, small_instance().workload.job_names[0]);
  EXPECT_EQ(raw.certificate->jobs[0].price, 9);
}

TEST(PlanFile, a_tree_comes_back) {
  Plan plan = small_plan();
  auto& nodes = plan.certificate.tree.nodes;
  nodes.push_back({.parent = -1, .split = JobId(0), .spots = {}, .changes = {}});
  nodes.push_back({.parent = 0, .split = {}, .out = true, .spots = {}, .changes = {{0, -5}}});
  nodes.push_back({.parent = 0, .split = {}, .rest = true, .spots = {}, .changes = {}});
  nodes.back().spots = {
      {.gpu_type = GpuTypeId(0), .pod = PodId(0), .rack = RackId(1), .width = model::Level::rack},
      {.gpu_type = {}, .pod = {}, .rack = {}, .width = model::Level::cluster}};
  const RawPlan raw = parse_plan(plan_text(small_instance(), plan), "plan.json");
  const auto& tree = raw.certificate->tree;
  ASSERT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree[0].split, "gang");
  EXPECT_FALSE(tree[0].parent || tree[0].out || tree[0].rest);
  EXPECT_EQ(tree[1].parent, 0);
  EXPECT_FALSE(tree[1].split.has_value());
  EXPECT_TRUE(tree[1].out);
  ASSERT_EQ(tree[1].changes.size(), 1U);
  EXPECT_EQ(tree[1].changes[0].position, 0);
  EXPECT_EQ(tree[1].changes[0].price, -5);
  EXPECT_TRUE(tree[2].rest);
  ASSERT_EQ(tree[2].spots.size(), 2U);
  EXPECT_EQ(tree[2].spots[0].gpu_type, "A");
  EXPECT_EQ(tree[2].spots[0].pod, "p");
  EXPECT_EQ(tree[2].spots[0].rack, "r1");
  EXPECT_EQ(tree[2].spots[0].width, "rack");
  EXPECT_FALSE(tree[2].spots[1].gpu_type || tree[2].spots[1].pod || tree[2].spots[1].rack);
  EXPECT_EQ(tree[2].spots[1].width, "cluster");
}

TEST(PlanFile, nics_come_back_and_are_left_out_where_no_task_uses_them) {
  Instance instance = small_instance();
  Plan plan = small_plan();
  EXPECT_EQ(plan_text(instance, plan).find("nic_mbps"), std::string::npos);
  for (model::Shape& s : instance.workload.shapes) s.needs[model::kNic] = s.gpus > 0 ? 250 : 0;
  plan.certificate.multipliers[0].unit_price[model::kNic] = 11;
  plan.certificate.pools[0].unit_price[model::kNic] = 12;
  const RawPlan raw = parse_plan(plan_text(instance, plan), "plan.json");
  EXPECT_EQ(raw.placements[0].tasks[1].needs[model::kNic], 250);
  EXPECT_EQ(raw.placements[0].tasks[2].needs[model::kNic], 0);
  EXPECT_EQ(raw.certificate->shapes[0].needs[model::kNic], 250);
  EXPECT_EQ(raw.certificate->shapes[1].needs[model::kNic], 0);
  EXPECT_EQ(raw.certificate->multipliers[0].unit_price[model::kNic], 11);
  EXPECT_EQ(raw.certificate->pools[0].unit_price[model::kNic], 12);
}

TEST(PlanFile, placements_come_back_by_name_and_device) {
  const RawPlan raw = parse_plan(plan_text(small_instance(), small_plan()), "plan.json");
  ASSERT_EQ(raw.placements.size(), 2U);
  const auto& gang = raw.placements[0];
  EXPECT_EQ(gang.job, "gang");
  ASSERT_EQ(gang.tasks.size(), 3U);
  EXPECT_EQ(gang.tasks[1].shape, "w");
  EXPECT_EQ(gang.tasks[1].machine, "m\"1\"");
  ASSERT_EQ(gang.tasks[1].gpus.size(), 2U);
  EXPECT_EQ(gang.tasks[1].gpus[0].index, 1);
  EXPECT_EQ(gang.tasks[1].gpus[1].index, 3);
  EXPECT_EQ(gang.tasks[1].gpus[1].milli, 1000);
  EXPECT_TRUE(gang.tasks[2].gpus.empty());
  EXPECT_EQ(gang.tasks[2].needs[model::kCpu], 7);
  EXPECT_EQ(gang.tasks[2].needs[model::kMemory], 9);
  EXPECT_EQ(raw.placements[1].start, 60);
  EXPECT_EQ(raw.placements[1].tasks[0].gpus[0].milli, 300);
  ASSERT_EQ(raw.waiting.size(), 1U);
  EXPECT_EQ(raw.waiting[0].job, "late");
}

TEST(PlanFile, an_empty_plan_and_a_bound_that_is_not_finite) {
  Plan plan;
  plan.figures.upper_bound = std::numeric_limits<double>::infinity();
  const RawPlan raw = parse_plan(plan_text(Instance{}, plan), "plan.json");
  EXPECT_TRUE(raw.placements.empty());
  EXPECT_EQ(raw.figures.objective, 0.0);
  EXPECT_FALSE(raw.figures.upper_bound.has_value());
}

TEST(PlanFile, is_written_as_it_reads_and_deflated_by_suffix) {
  const Folder folder;
  write_plan(folder / "p.json", small_instance(), small_plan());
  write_plan(folder / "p.json.gz", small_instance(), small_plan());
  EXPECT_EQ(folder.bytes("p.json"), plan_text(small_instance(), small_plan()));
  EXPECT_EQ(read_plan(folder / "p.json.gz").placements.size(), 2U);
}

TEST(PlanFile, nothing_is_believed_and_what_is_missing_is_known_to_be) {
  const RawPlan raw = parse_plan(
      R"({"schema":1,"later":{"x":[1]},"placements":[{"job":"ghost","start":-5,"tasks":[
          {"shape":"?","machine":"nowhere","gpus":[{"index":-7,"milli":99999}],"cpu_milli":-1,
           "memory_mib":0,"more":null}]}]})",
      "plan.json");
  EXPECT_EQ(raw.placements[0].tasks[0].gpus[0].index, -7);
  EXPECT_EQ(raw.placements[0].tasks[0].gpus[0].milli, 99999);
  EXPECT_FALSE(raw.figures.objective || raw.certificate || raw.plan_digest || raw.required_missing);
}

std::string placement(const std::string& task) {
  return R"({"schema":1,"placements":[{"job":"j","start":0,"tasks":[)" + task + "]}]}";
}
std::string device(const std::string& members) {
  return placement(R"({"shape":"w","machine":"m","gpus":[{)" + members +
                   R"(}],"cpu_milli":0,"memory_mib":0})");
}
std::string certificate(const std::string& pools) {
  return R"({"schema":1,"placements":[],"certificate":{"scale_log2":0,"level":"pod","pools":)" +
         pools + R"(,"shapes":[],"multipliers":[]}})";
}

std::string tree(const std::string& node) {
  return R"({"schema":1,"placements":[],"certificate":{"scale_log2":0,"level":"pod","pools":[],)"
         R"("shapes":[],"multipliers":[],"tree":[)" +
         node + "]}}";
}

class BadPlan : public testing::TestWithParam<Fault> {};

TEST_P(BadPlan, is_refused_by_field) {
  expect_fault<PlanFormatError>(GetParam(),
                                [](const std::string& text) { parse_plan(text, "plan.json"); });
}

const Fault kBadPlans[] = {
    {"empty", "", 0, "", "not valid JSON"},
    {"cut", R"({"schema":1,"placements":[)", 0, "", "not valid JSON"},
    {"no_object", "[]", 0, "", "expected an object"},
    {"no_schema", R"({"placements":[]})", 0, "schema", "is missing"},
    {"schema_2", R"({"schema":2,"placements":[]})", 0, "schema", "unknown schema"},
    {"no_placements", R"({"schema":1})", 0, "placements", "is missing"},
    {"placements_twice", R"({"schema":1,"placements":[],"placements":[]})", 0, "placements",
     "given twice"},
    {"no_job", R"({"schema":1,"placements":[{"start":0,"tasks":[]}]})", 0, "placements[0].job",
     "is missing"},
    {"no_machine", placement(R"({"shape":"w","gpus":[],"cpu_milli":0,"memory_mib":0})"), 0,
     "placements[0].tasks[0].machine", "is missing"},
    {"machine_number",
     placement(R"({"shape":"w","machine":3,"gpus":[],"cpu_milli":0,"memory_mib":0})"), 0,
     "placements[0].tasks[0].machine", "expected text"},
    {"no_index", device(R"("milli":1000)"), 0, "placements[0].tasks[0].gpus[0].index",
     "is missing"},
    {"index_fraction", device(R"("index":0.5,"milli":1000)"), 0,
     "placements[0].tasks[0].gpus[0].index", "whole number"},
    {"index_beyond", device(R"("index":18446744073709551615,"milli":1000)"), 0,
     "placements[0].tasks[0].gpus[0].index", "beyond 64 bits"},
    {"objective_text", R"({"schema":1,"placements":[],"objective":"big"})", 0, "objective",
     "expected a number"},
    {"total_fraction", R"({"schema":1,"placements":[],"jobs_total":0.5})", 0, "jobs_total",
     "whole number"},
    {"pool_without_price", certificate(R"([{"pod":"p","class":"a"}])"), 0,
     "certificate.pools[0].gpu_milli", "is missing"},
    {"price_fraction",
     certificate(R"([{"pod":"p","class":"a","gpu_milli":0.5,"cpu_milli":0,"memory_mib":0}])"), 0,
     "certificate.pools[0].gpu_milli", "whole number"},
    {"no_multipliers",
     R"({"schema":1,"placements":[],"certificate":{"scale_log2":0,"level":"pod","pools":[],"shapes":[]}})",
     0, "certificate.multipliers", "is missing"},
    {"tree_price_alone", tree(R"({"prices":[[3]]})"), 0, "certificate.tree[0].prices[0]",
     "not a pair"},
    {"tree_price_fraction", tree(R"({"prices":[[3,0.5]]})"), 0, "certificate.tree[0].prices[0][1]",
     "whole number"},
    {"tree_rest_text", tree(R"({"rest":"yes"})"), 0, "certificate.tree[0].rest", "expected"},
    {"tree_condition", tree(R"({"spots":[{"machine":"m"}]})"), 0,
     "certificate.tree[0].spots[0].machine", "unknown"},
    {"tree_key", tree(R"({"spot":[]})"), 0, "certificate.tree[0].spot", "unknown"},
};
INSTANTIATE_TEST_SUITE_P(Text, BadPlan, testing::ValuesIn(kBadPlans));

}  // namespace
}  // namespace berth::io
