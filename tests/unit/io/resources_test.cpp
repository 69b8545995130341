// SPDX-License-Identifier: Apache-2.0
// Every row of model::kResourceTable in the files: read, written, in the digest where it is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/model/digest.hpp"

namespace berth::io {
namespace {

using model::Instance;
using model::kResourceTable;

class Resource : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static std::string key() { return std::string(kResourceTable[GetParam()].key); }
  /// `: 7` for YAML and JSON, behind a comma; nothing for 0.
  [[nodiscard]] static std::string given(std::int64_t amount, const std::string& quote) {
    return amount == 0 ? "" : ", " + quote + key() + quote + ": " + std::to_string(amount);
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, Resource, testing::Range<std::size_t>(0, model::kResources),
                         [](const auto& row) {
                           return std::string(kResourceTable[row.param].key);
                         });

/// A machine m of a class that has `has` of the resource, of which `used` is used; a task that
/// asks for `needs`. 0: not told.
Instance instance_of(const std::string& has, const std::string& used, const std::string& needs) {
  const std::string cluster =
      "{schema: 1, classes: {c: {gpu_type: A, gpus: 2" + has + "}},\n" +
      "pods: [{id: p, racks: [{id: r, machines: [{ids: m, class: c}]}]}],\n" +
      "machine_states: [{ids: m, used: {gpus: [{index: 1}]" + used + "}}]}";
  Instance instance{.cluster = parse_cluster(cluster, "c.yaml"), .workload = {}};
  instance.workload = parse_jobs("{\"id\":\"a\",\"tasks\":[{\"gpus\":1" + needs + "}]}", "j.jsonl",
                                 instance.cluster);
  return instance;
}

TEST_P(Resource, files_give_it_back) {
  const std::size_t r = GetParam();
  const Instance instance = instance_of(given(9, ""), given(4, ""), given(5, "\""));
  EXPECT_EQ(instance.cluster.classes[0].capacity[r], 9);
  EXPECT_EQ(instance.workload.shapes[0].needs[r], 5);
  Instance again{.cluster = parse_cluster(cluster_text(instance.cluster), "again.yaml"),
                 .workload = {}};
  again.workload = parse_jobs(jobs_text(instance), "again.jsonl", again.cluster);
  EXPECT_EQ(again.cluster.classes[0].capacity, instance.cluster.classes[0].capacity);
  EXPECT_EQ(again.workload.shapes[0].needs, instance.workload.shapes[0].needs);
  EXPECT_EQ(model::instance_digest(again), model::instance_digest(instance));
}

TEST_P(Resource, the_digest_has_it_where_it_is_given) {
  const auto digest = [](std::int64_t has, std::int64_t used, std::int64_t needs) {
    return model::instance_digest(instance_of(given(has, ""), given(used, ""), given(needs, "\"")));
  };
  EXPECT_NE(digest(9, 0, 0), digest(0, 0, 0));
  EXPECT_NE(digest(9, 0, 0), digest(8, 0, 0));
  EXPECT_NE(digest(9, 4, 0), digest(9, 0, 0));
  EXPECT_NE(digest(9, 0, 5), digest(9, 0, 0));
  EXPECT_NE(digest(9, 0, 5), digest(9, 5, 0));
}

TEST_P(Resource, plans_tell_what_tasks_take_and_what_it_costs) {
  const std::size_t r = GetParam();
  const Instance instance = instance_of(given(9, ""), "", given(5, "\""));
  model::Plan plan;
  plan.placements = {{.job = JobId(0), .tasks = {{MachineId(0), 0, 1, 1000}}}};
  plan.certificate.pools = {{PodId(0), {}, ClassId(0), 0, {}}};
  plan.certificate.pools[0].unit_price[r] = 3;
  plan.certificate.shapes = {{ShapeId(0), GpuTypeId(0), 1}};
  plan.certificate.multipliers = {{ClassId(0), {}}};
  plan.certificate.multipliers[0].unit_price[r] = 2;
  const std::string text = plan_text(instance, plan);
  const model::RawPlan raw = parse_plan(text, "plan.json");
  EXPECT_EQ(raw.placements[0].tasks[0].needs, instance.workload.shapes[0].needs);
  EXPECT_EQ(raw.certificate->pools[0].unit_price, plan.certificate.pools[0].unit_price);
  EXPECT_EQ(raw.certificate->shapes[0].needs, instance.workload.shapes[0].needs);
  EXPECT_EQ(raw.certificate->multipliers[0].unit_price, plan.certificate.multipliers[0].unit_price);
  for (std::size_t other = model::kRequiredResources; other < model::kResources; ++other) {
    if (other == r) continue;
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(kResourceTable[other].key)));
  }
}

TEST(ResourceUnits, mean_the_same_as_plain_integers) {
  const Instance units = instance_of(R"(, cpu: 64, memory: 1.5TiB)", ", cpu: 0.25, memory: 512 MiB",
                                     R"(, "cpu": 1.5, "memory": "2.25GiB")");
  const Instance plain = instance_of(", cpu_milli: 64000, memory_mib: 1572864",
                                     ", cpu_milli: 250, memory_mib: 512",
                                     R"(, "cpu_milli": 1500, "memory_mib": 2304)");
  EXPECT_EQ(model::instance_digest(units), model::instance_digest(plain));
}

}  // namespace
}  // namespace berth::io
