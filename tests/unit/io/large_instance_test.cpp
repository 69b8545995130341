// SPDX-License-Identifier: Apache-2.0
// 100,000 machines and 100,000 jobs: the target is 2 s and 300 MB on an idle core; the limits here
// leave room for busy machines. A twentieth of that under a sanitizer.
#include "faults.hpp"

#include <chrono>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::io {
namespace {

#if defined(BERTH_SANITIZED)
constexpr int kShrink = 20;
#else
constexpr int kShrink = 1;
#endif
constexpr int kMachinesPerRack = 16;
constexpr int kMachines = 100'000 / kShrink / kMachinesPerRack * kMachinesPerRack;
constexpr int kRacks = kMachines / kMachinesPerRack;
constexpr int kJobs = 100'000 / kShrink;

std::string cluster_yaml() {
  std::string text = "schema: 1\nclasses: {a: {gpu_type: A, gpus: 8}, b: {gpu_type: B, gpus: 4}}\n";
  text += "pods:\n";
  for (int r = 0; r < kRacks; ++r) {
    if (r % 25 == 0) text += "  - id: pod-" + std::to_string(r / 25) + "\n    racks:\n";
    text += "      - {id: rack-" + std::to_string(r) + ", machines: [{ids: \"r" +
            std::to_string(r) + "-m[00-" + std::to_string(kMachinesPerRack - 1) +
            "]\", class: " + (r % 2 == 0 ? "a" : "b") + "}]}\n";
  }
  return text;
}

std::string jobs_jsonl() {
  std::string text;
  for (int j = 0; j < kJobs; ++j) {
    text += R"({"id":"job-)" + std::to_string(j) + R"(","arrival":)" + std::to_string(j) +
            R"(,"weight":1.5,"tasks":[{"shape":"worker","count":)" + std::to_string(1 + j % 4) +
            R"(,"gpus":)" + std::to_string(1 + j % 8) + R"(,"cpu_milli":)" +
            std::to_string(1000 * (1 + j % 37)) +
            R"(,"memory_mib":65536}],"gpu_types":["A","B"],"speed":{"A":1.)" +
            std::to_string(100 + j % 900) + R"(},"home":{"rack":"rack-)" +
            std::to_string(j % kRacks) +
            R"(","factor":{"rack":1,"pod":0.9,"cluster":0.75}}})"
            "\n";
  }
  return text;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// Every job on machine number j, whether it fits or not: only the file matters here.
model::Plan wide_plan(const model::Instance& instance) {
  model::Plan plan;
  for (std::size_t j = 0; j < instance.workload.jobs.size(); ++j) {
    model::JobPlacement placed{.job = JobId(j)};
    const model::TaskGroup group = instance.workload.groups_of(instance.workload.jobs[j])[0];
    placed.tasks.assign(static_cast<std::size_t>(group.count),
                        {.machine = MachineId(j % instance.cluster.machines()),
                         .group = 0,
                         .devices = 0b1111,
                         .milli = 1000});
    plan.placements.push_back(placed);
  }
  return plan;
}

TEST(LargeInstance, loads_and_its_plan_is_written_in_seconds) {
  const Folder folder;
  folder.put("c.yaml", cluster_yaml());
  folder.put("j.jsonl", jobs_jsonl());
  const long before = peak_mebibytes();
  const auto start = std::chrono::steady_clock::now();
  const model::Instance instance = read_instance(folder / "c.yaml", folder / "j.jsonl");
  const double load = seconds_since(start);
  const long grown = peak_mebibytes() - before;
  EXPECT_EQ(instance.cluster.machines(), std::size_t{kMachines});
  EXPECT_EQ(instance.workload.jobs.size(), std::size_t{kJobs});
  EXPECT_LT(load, 6.0);
  EXPECT_LT(grown, 300);

  const auto written = std::chrono::steady_clock::now();
  write_plan(folder / "plan.json", instance, wide_plan(instance));
  const double write = seconds_since(written);
  EXPECT_LT(write, 5.0);
  EXPECT_EQ(read_plan(folder / "plan.json").placements.size(), std::size_t{kJobs});
  std::printf("load %.2f s, %ld MiB more at the peak; plan written in %.2f s\n", load, grown,
              write);
}

TEST(LargeInstance, names_without_any_pattern_load_too) {
  std::string text = "schema: 1\nclasses: {a: {gpu_type: A, gpus: 8}}\n";
  text += "pods: [{id: p, racks: [{id: r, machines: [{class: a, ids: [\n";
  for (int m = 0; m < kMachines; ++m) text += "h" + std::to_string(m * 7919L) + "x,\n";
  text += "]}]}]}]\n";
  const auto start = std::chrono::steady_clock::now();
  const model::Cluster cluster = parse_cluster(text, "c.yaml");
  EXPECT_EQ(cluster.machines(), std::size_t{kMachines});
  EXPECT_LT(seconds_since(start), 10.0);
  std::printf("%d listed names: %.2f s\n", kMachines, seconds_since(start));
  const std::string again = cluster_text(cluster);
  EXPECT_EQ(parse_cluster(again, "again").machines(), std::size_t{kMachines});
}

}  // namespace
}  // namespace berth::io
