// SPDX-License-Identifier: Apache-2.0
// Limits of racks and pods: their prices are in the certificate, and the plan keeps them.
#include "planned.hpp"
#include "with_petsc.hpp"

#include <string>

#include "berth/certify/bound.hpp"
#include "berth/certify/check.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {
namespace {

/// Two pods of three racks of 16 GPUs with this limit each, and in each pod a rack of `others`.
model::Cluster six_racks(const std::string& limit, const std::string& others = "") {
  std::string pods;
  for (int p = 0; p < 2; ++p) {
    const std::string pod = "p" + std::to_string(p);
    pods += "  - id: " + pod + "\n    racks:\n";
    for (int r = 0; r < 3; ++r) {
      const std::string rack = pod + "r" + std::to_string(r);
      pods += "      - {id: " + rack + ", " + limit + ", machines: [{ids: \"" + rack +
              "m[0-1]\", class: g}]}\n";
    }
    if (others.empty()) continue;
    pods += "      - {id: " + pod + "rc, machines: [{ids: \"" + pod + others + "}]}\n";
  }
  return io::parse_cluster(
      "schema: 1\nclasses:\n  g: {gpu_type: A, gpus: 8, cpu_milli: 64000, memory_mib: 64000}\n"
      "  c: {cpu_milli: 64000, memory_mib: 1600000}\npods:\n" +
          pods,
      "c.yaml");
}

/// Six racks of 16 GPUs, a rack of machines with memory in each of two pods. Sixty rings of a
/// trainer (one GPU, worth 0.70 to 1.29) and its loader (memory only those machines have) send 5
/// Gbit/s out of the trainer's rack, which carries 12: two rings a rack, 2.4 by the LP. The rest of
/// the GPUs goes to single tasks worth 0.1.
model::Instance loaders() {
  model::Instance instance;
  instance.cluster = six_racks("uplink_gbps: 12", "c[0-3]\", class: c");
  std::string jobs;
  for (int j = 0; j < 60; ++j) {
    jobs += R"({"id":"ring)" + std::to_string(j) + R"(","weight":)" +
            std::to_string(0.7 + 0.01 * j) +
            R"(,"tasks":[{"shape":"t","gpus":1,"cpu_milli":1000},)"
            R"({"shape":"l","cpu_milli":1000,"memory_mib":100000}],)"
            R"("communication":{"pattern":"ring","gbps":5}})"
            "\n";
  }
  for (int j = 0; j < 120; ++j) {
    jobs += R"({"id":"one)" + std::to_string(j) + R"(","weight":0.1,"tasks":[{"gpus":1}]})" + "\n";
  }
  instance.workload = io::parse_jobs(jobs, "j.jsonl", instance.cluster);
  return instance;
}

/// Two pods of three racks of 16 GPUs with power for 70 % of them. Jobs of 1 to 8 GPUs, every third
/// with two such tasks, that draw 500 to 700 W for each GPU and are worth 0.5 to 1.5 for each.
model::Instance budgets() {
  model::Instance instance;
  instance.cluster = six_racks("power_w: 7840");
  std::string jobs;
  for (int j = 0; j < 60; ++j) {
    const int gpus = 1 << (j % 4);
    jobs += R"({"id":"j)" + std::to_string(j) + R"(","weight":)" +
            std::to_string(0.5 + 0.01 * (j * 37 % 100)) + R"(,"tasks":[{"count":)" +
            std::to_string(j % 3 == 0 ? 2 : 1) + R"(,"gpus":)" + std::to_string(gpus) +
            R"(,"power_w":)" + std::to_string(gpus * (500 + 100 * (j % 3))) + "}]}\n";
  }
  instance.workload = io::parse_jobs(jobs, "j.jsonl", instance.cluster);
  return instance;
}

std::string fault_of(const model::Instance& instance, const model::Plan& plan) {
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  return checked.faults.empty() ? "" : checked.faults[0].text;
}

class PlaceLimits : public berth::test::WithPetsc<> {};

TEST_F(PlaceLimits, uplinks_have_prices_that_prove_what_they_allow) {
  const model::Instance instance = loaders();
  const model::Plan plan = test::same_on_any_ranks(instance, 2);
  if (comm::Communicator::world().rank() != 0) return;
  EXPECT_EQ(fault_of(instance, plan), "");
  // 14.4 rings: 1.29 + 1.28 + .. + 1.16, and 0.4 x 1.15
  EXPECT_NEAR(plan.figures.upper_bound, 17.15 + 0.46 + 8.16, 0.05);
  EXPECT_EQ(plan.certificate.limits.size(), 6U);
  EXPECT_GT(plan.gap_parts.limits[index_of(model::LimitKind::uplink)],
            0.1);  // 2 of 12 Gbit/s are left in each rack
  auto without = plan.certificate;
  without.limits.clear();
  EXPECT_GT(certify::upper_bound(instance, model::Objective::value, without, {}).value, 60.0);
}

TEST_F(PlaceLimits, power_budgets_have_prices_that_prove_what_they_allow) {
  const model::Instance instance = budgets();
  const model::Plan plan = test::same_on_any_ranks(instance, 2);
  if (comm::Communicator::world().rank() != 0) return;
  EXPECT_EQ(fault_of(instance, plan), "");
  EXPECT_EQ(plan.certificate.limits.size(), 6U);
  EXPECT_GT(plan.figures.objective, 0.9 * plan.figures.upper_bound);
  auto without = plan.certificate;
  without.limits.clear();
  EXPECT_GT(certify::upper_bound(instance, model::Objective::value, without, {}).value,
            1.2 * plan.figures.upper_bound);
}

}  // namespace
}  // namespace berth::pipeline
