// SPDX-License-Identifier: Apache-2.0
#include "slurm_imports.hpp"

#include <string>
#include <utility>
#include <vector>

namespace berth::io {
namespace {

class SlurmImportPriorities : public SlurmImportTest {};
INSTANTIATE_TEST_SUITE_P(BothGenerations, SlurmImportPriorities, both_generations(),
                         generation_name);

TEST_P(SlurmImportPriorities, priority_weight_arrival_spread_and_switches) {
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

TEST_P(SlurmImportPriorities, priority_classes_are_pairs_of_tier_and_qos_or_quantiles) {
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

}  // namespace
}  // namespace berth::io
