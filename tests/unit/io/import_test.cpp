// SPDX-License-Identifier: Apache-2.0
#include "berth/io/import.hpp"

#include "faults.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {
namespace {

using model::Instance;
using model::Shape;

constexpr const char* kMachines =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n0,96000,393216,8,G2\n"
    "n1,32000,1000,0,\n"
    "n2,500,1024,1,T4\n"
    "n3,96000,393216,8,G2\n";
constexpr const char* kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
    "p0,100,10,1,460,T4|G2|T4,LS\r\n"
    "p1,100,10,2,1000,,LS\n"
    "p2,100,10,0,0,,BE\n"
    "p3,100,10,1,1000,H9,LS\n";

Instance openb(const std::string& machines, const std::string& pods,
               const ImportOptions& options = {}) {
  const Folder folder;
  folder.put("machines.csv", machines);
  folder.put("pods.csv", pods);
  return import_openb(folder / "machines.csv", folder / "pods.csv", options);
}

TEST(ImportOpenb, one_rack_per_class_in_order_of_first_appearance) {
  const Instance instance = openb(kMachines, kPods);
  const auto& c = instance.cluster;
  ASSERT_EQ(c.classes.size(), 3U);
  EXPECT_EQ(c.classes[0].name, "G2-8g-96c-384g");
  EXPECT_EQ(c.classes[1].name, "cpu-32c-1000mi");
  EXPECT_EQ(c.classes[2].name, "T4-1g-500m-1g");
  ASSERT_EQ(c.pods.size(), 1U);
  ASSERT_EQ(c.racks.size(), 3U);
  EXPECT_EQ(c.racks[0].name, "rack-G2-8g-96c-384g");
  ASSERT_EQ(c.machines(), 4U);
  EXPECT_EQ(c.machine_names[0], "n0");
  EXPECT_EQ(c.machine_names[1], "n3");
  EXPECT_EQ(c.machine_names[3], "n2");
  EXPECT_EQ(c.machine_rack[1], RackId(0));
  EXPECT_EQ(c.gpu_types, (std::vector<std::string>{"G2", "T4", "H9"}));
}

TEST(ImportOpenb, shares_whole_gpus_and_cpu_only_pods) {
  const auto w = openb(kMachines, kPods).workload;
  ASSERT_EQ(w.jobs.size(), 4U);
  const auto shape = [&](std::size_t j) { return w.shape(w.groups_of(w.jobs[j])[0].shape); };
  EXPECT_EQ(shape(0), (Shape{.needs = {100, 10}, .gpu_milli = 460}));
  EXPECT_EQ(shape(1), (Shape{.needs = {100, 10}, .gpus = 2}));
  EXPECT_EQ(shape(2), (Shape{.needs = {100, 10}}));
  EXPECT_EQ(shape(3), (Shape{.needs = {100, 10}, .gpus = 1}));
  EXPECT_EQ(w.jobs[0].gpu_types, 0b011U);
  EXPECT_EQ(w.jobs[1].gpu_types, ~std::uint64_t{0});
  EXPECT_EQ(w.jobs[3].gpu_types, 0b100U);
  EXPECT_EQ(w.jobs[3].arrival, 3);
}

TEST(ImportOpenb, five_columns_are_enough_and_nothing_is_an_instance) {
  const Instance instance = openb("sn,cpu_milli,memory_mib,gpu,model\n",
                                  "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,5\n");
  EXPECT_EQ(instance.cluster.machines(), 0U);
  EXPECT_EQ(instance.workload.jobs.size(), 1U);
  EXPECT_EQ(instance.workload.jobs[0].gpu_types, ~std::uint64_t{0});
}

class BadMachines : public testing::TestWithParam<Fault> {};
TEST_P(BadMachines, are_refused_with_line_and_column) {
  expect_fault(GetParam(), [](const std::string& text) { openb(text, kPods); });
}
const Fault kBadMachines[] = {
    {"empty", "", 0, "", "is empty"},
    {"no_column", "sn,cpu_mill,memory_mib,gpu,model\n", 1, "cpu_milli", "no such column",
     "did you mean \"cpu_mill\"?"},
    {"short", "sn,cpu_milli,memory_mib,gpu,model\n\na,1,1\n", 3, "gpu", "too short"},
    {"long", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T,x\n", 2, "", "has 6 cells"},
    {"negative", "sn,cpu_milli,memory_mib,gpu,model\na,-1,1,1,T\n", 2, "cpu_milli", "negative"},
    {"word", "sn,cpu_milli,memory_mib,gpu,model\na,1,x,1,T\n", 2, "memory_mib", "whole number"},
    {"many_gpus", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,65,T\n", 2, "gpu", "at most 64"},
    {"no_model", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,\n", 2, "model", "empty"},
    {"twice", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T\na,1,1,1,T\n", 3, "sn", "given twice",
     "first on line 2"},
    {"brackets", "sn,cpu_milli,memory_mib,gpu,model\na[1],1,1,1,T\n", 2, "sn", "brackets"},
    {"quote", "sn,cpu_milli,memory_mib,gpu,model\n\"a,1,1,1,T\n", 2, "", "not closed"},
};
INSTANTIATE_TEST_SUITE_P(Csv, BadMachines, testing::ValuesIn(kBadMachines));

class BadPods : public testing::TestWithParam<Fault> {};
TEST_P(BadPods, are_refused_with_line_and_column) {
  expect_fault(GetParam(), [](const std::string& text) { openb(kMachines, text); });
}
std::string pod(const std::string& row) {
  return "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\n" + row + "\n";
}
const Fault kBadPods[] = {
    {"several_shares", pod("q,1,1,2,500"), 3, "gpu_milli", "2 GPUs and a share of 500"},
    {"share_0", pod("q,1,1,1,0"), 3, "gpu_milli", "1 to 1000"},
    {"share_1001", pod("q,1,1,1,1001"), 3, "gpu_milli", "at most 1000"},
    {"twice", pod("p,1,1,1,1000"), 3, "name", "given twice", "first on line 2"},
};
INSTANTIATE_TEST_SUITE_P(Csv, BadPods, testing::ValuesIn(kBadPods));

std::vector<std::string> names(const NameTable& table) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < table.size(); ++i) result.emplace_back(table[i]);
  return result;
}

std::vector<std::string> required_of(const model::Workload& w) {
  std::vector<std::string> result;
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    if (w.jobs[j].required) result.emplace_back(w.job_names[j]);
  }
  return result;
}

/// Three CPU-only pods among those with GPUs; the machines have 17 GPUs. Asked for so far, in GPUs:
/// a 8, b 8, c 8.5, d 8.5, e 10.5, f 18.5, g 19.5, h 19.5.
constexpr const char* kArrivals =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
    "a,1,1,8,1000\nb,1,1,0,0\nc,1,1,1,500\nd,1,1,0,0\ne,1,1,2,1000\nf,1,1,8,1000\n"
    "g,1,1,1,1000\nh,1,1,0,0\n";

using Names = std::vector<std::string>;

TEST(ImportOpenb, requires_the_first_cpu_only_pods_to_arrive) {
  EXPECT_EQ(required_of(openb(kMachines, kArrivals).workload), Names());
  EXPECT_EQ(required_of(openb(kMachines, kArrivals, {.require_cpu_only = 2}).workload),
            (Names{"b", "d"}));
  EXPECT_EQ(
      required_of(openb(kMachines, kArrivals, {.require_cpu_only = ImportOptions::kAll}).workload),
      (Names{"b", "d", "h"}));
}

TEST(ImportOpenb, a_prefix_ends_before_the_first_pod_that_would_pass_it) {
  const auto taken = [](double percent) {
    return names(openb(kMachines, kArrivals, {.prefix_percent = percent}).workload.job_names);
  };
  EXPECT_EQ(taken(100.0 * 8.0 / 17.0), (Names{"a", "b"}));  // met to the last thousandth
  EXPECT_EQ(taken(50.0), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(taken(100.0), (Names{"a", "b", "c", "d", "e"}));  // g would fit, but arrives too late
  EXPECT_EQ(taken(1.0), Names());
  EXPECT_EQ(taken(200.0).size(), 8U);
}

TEST(ImportOpenb, copies_arrive_together_and_have_names_of_their_own) {
  const Instance instance =
      openb(kMachines, kArrivals,
            {.require_cpu_only = 3, .prefix_percent = 100.0 * 25.0 / 34.0, .replicate = 2});
  const auto& c = instance.cluster;
  EXPECT_EQ(c.gpus(), 34);
  EXPECT_EQ(c.racks.size(), 3U);
  EXPECT_EQ(names(c.machine_names),
            (Names{"n0.0", "n3.0", "n0.1", "n3.1", "n1.0", "n1.1", "n2.0", "n2.1"}));
  EXPECT_TRUE(std::ranges::is_sorted(c.machine_rack));
  const auto& w = instance.workload;
  EXPECT_EQ(names(w.job_names),
            (Names{"a.0", "a.1", "b.0", "b.1", "c.0", "c.1", "d.0", "d.1", "e.0", "e.1"}));
  EXPECT_EQ(required_of(w), (Names{"b.0", "b.1", "d.0"}));
  EXPECT_EQ(w.jobs.back().arrival, static_cast<std::int64_t>(w.jobs.size()) - 1);
}

TEST(ImportOpenb, refuses_options_that_cannot_be_met) {
  const auto fault = [](const char* field, const char* problem, const ImportOptions& options) {
    expect_fault({field, "", 0, field, problem},
                 [&](const std::string&) { openb(kMachines, kArrivals, options); });
  };
  fault("require-cpu-only", "must be 0 or more", {.require_cpu_only = -1});
  fault("require-cpu-only", "there are only 3", {.require_cpu_only = 4});
  fault("require-cpu-only", "there are only 2", {.require_cpu_only = 3, .prefix_percent = 60.0});
  fault("prefix-percent", "above 0", {.prefix_percent = 0.0});
  fault("prefix-percent", "above 0", {.prefix_percent = std::nan("")});
  fault("replicate", "1 .. 1000", {.replicate = 0});
  fault("replicate", "1 .. 1000", {.replicate = 1001});
}

TEST(ImportOpenb, refuses_a_name_that_is_too_long_for_its_copies) {
  const std::string longest(255, 'n');
  const std::string table = "sn,cpu_milli,memory_mib,gpu,model\n" + longest + ",1,1,0,\n";
  EXPECT_EQ(openb(table, kPods).cluster.machines(), 1U);
  expect_fault({"long", table, 2, "sn", "255"},
               [](const std::string& text) { openb(text, kPods, {.replicate = 2}); });
}

TEST(ImportOpenb, the_published_cluster_and_workloads) {
  const auto traces = test::traces();
  const auto bench = test::bench();
  if (!traces || !bench) GTEST_SKIP() << "skipped: no BERTH_TRACES or BERTH_BENCH";
  const std::string machines = *traces / "openb/openb_node_list_gpu_node.csv";
  const Instance instance = import_openb(machines, *bench / "openb_130/default_seed42.csv.gz");
  EXPECT_EQ(instance.cluster.machines(), 1213U);
  EXPECT_EQ(instance.cluster.gpus(), 6212);
  EXPECT_EQ(instance.workload.jobs.size(), 10866U);
  const auto cpu_only = std::ranges::count_if(instance.workload.jobs, [&](const model::Job& job) {
    return instance.workload.gpu_milli(job) == 0;
  });
  EXPECT_EQ(cpu_only, 1428);
}

TEST(ImportOpenb, survives_the_native_files) {
  const auto traces = test::traces();
  if (!traces) GTEST_SKIP() << "skipped: no BERTH_TRACES";
  const std::string machines = *traces / "openb/openb_node_list_all_node.csv";
  const Folder folder;
  for (const char* pods : {"gpuspec10", "multigpu20"}) {
    const Instance instance = import_openb(
        machines, *traces / "openb" / ("openb_pod_list_" + std::string(pods) + ".csv"));
    EXPECT_EQ(instance.cluster.machines(), 1523U);
    write_cluster(folder / "c.yaml", instance.cluster);
    write_jobs(folder / "j.jsonl.gz", instance);
    EXPECT_EQ(instance_digest(read_instance(folder / "c.yaml", folder / "j.jsonl.gz")),
              instance_digest(instance));
  }
}

Instance rack_placement(const std::string& jobs, const std::string& racks) {
  const Folder folder;
  folder.put("jobs.csv", jobs);
  folder.put("racks.csv", racks);
  return import_rack_placement(folder / "jobs.csv", folder / "racks.csv");
}
constexpr const char* kRacks = "rack,pod,gpu_type,gpus\n0,0,t1,64\n1,1,t0,32\n2,0,t1,64\n";
constexpr const char* kRackJobs =
    "job,gpus,weight,home_rack,speed_t0,speed_t1\n7,4,1.5,1,0.5,2\n9,8,1,2,1,1\n";

TEST(ImportRackPlacement, a_rack_is_a_machine) {
  const Instance instance = rack_placement(kRackJobs, kRacks);
  const auto& c = instance.cluster;
  ASSERT_EQ(c.machines(), 3U);
  EXPECT_EQ(c.machine_names[1], "rack-2");  // numbered pod by pod
  EXPECT_EQ(c.racks[1].name, "rack-2");
  EXPECT_EQ(c.pods[1].name, "pod-1");
  EXPECT_EQ(c.pod_of(MachineId(2)), PodId(1));
  EXPECT_EQ(c.class_of(MachineId(2)).gpus, 32);
  const auto& w = instance.workload;
  const model::Job& job = w.jobs[0];
  EXPECT_EQ(w.job_names[0], "7");
  EXPECT_EQ(job.weight, 1.5);
  EXPECT_EQ(job.home_rack, RackId(2));
  EXPECT_EQ(w.factors[job.home_factor], (model::Factors{1, 1, 0.9, 0.75}));
  EXPECT_EQ(w.speed(job, GpuTypeId(0)), 2.0);  // t1 comes first among the racks
  EXPECT_EQ(w.speed(job, GpuTypeId(1)), 0.5);
  EXPECT_EQ(w.shape(w.groups_of(job)[0].shape), (Shape{.gpus = 4}));
  EXPECT_EQ(w.jobs[1].speed, 0U);
}

TEST(ImportRackPlacement, bad_rows_are_refused_with_line_and_column) {
  const auto jobs = [](const std::string& text) { rack_placement(text, kRacks); };
  const auto racks = [](const std::string& text) { rack_placement(kRackJobs, text); };
  expect_fault({"home", "job,gpus,weight,home_rack\n0,4,1,9\n", 2, "home.rack",
                "unknown rack \"rack-9\"", "did you mean"},
               jobs);
  expect_fault(
      {"speed", "job,gpus,weight,home_rack,speed_t0\n0,4,1,0,nan\n", 2, "speed_t0", "finite"},
      jobs);
  expect_fault({"weight", "job,gpus,weight,home_rack\n0,4,-1,0\n", 2, "weight", "negative"}, jobs);
  expect_fault({"gpus", "rack,pod,gpu_type,gpus\n0,0,t0,65\n", 2, "gpus", "at most 64"}, racks);
  expect_fault({"twice", "rack,pod,gpu_type,gpus\n0,0,t0,6\n0,1,t0,6\n", 3, "rack", "given twice"},
               racks);
  expect_fault({"column", "rack,pod,gpus\n", 1, "gpu_type", "no such column"}, racks);
}

TEST(ImportRackPlacement, the_reference_instances) {
  const auto bench = test::bench();
  if (!bench) GTEST_SKIP() << "skipped: no BERTH_BENCH";
  const auto folder = *bench / "rack_placement/r4000x256";
  const Instance instance = import_rack_placement(folder / "jobs.csv", folder / "racks.csv");
  EXPECT_EQ(instance.cluster.machines(), 256U);
  EXPECT_EQ(instance.cluster.gpus(), 256 * 64);
  EXPECT_EQ(instance.workload.jobs.size(), 4000U);
  EXPECT_EQ(instance.cluster.gpu_types.size(), 4U);
}

}  // namespace
}  // namespace berth::io
