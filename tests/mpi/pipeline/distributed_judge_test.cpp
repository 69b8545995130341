// SPDX-License-Identifier: Apache-2.0
// Each rank has the records of its own jobs and of no others but the pinned ones; rank 0's word is
// that of a rank with all jobs, to the last bit.
#include "distributed_judge.hpp"

#include "best_fit.hpp"
#include "in_parts.hpp"
#include "prove.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/generate/generate.hpp"
#include "berth/planner_model/pools.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;
using model::Objective;

class JudgedTogether : public testing::TestWithParam<std::pair<generate::Preset, Objective>> {
 protected:
  JudgedTogether()
      : kind_(GetParam().second),
        whole_(generate::generate(GetParam().first, {.gpus = 256, .seed = 3, .load = 1.5})) {
    whole_.cluster.queues = {{.name = "all", .gpu_quota = 100, .over_quota_penalty = 0.25}};
    auto& jobs = whole_.workload.jobs;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      jobs[j].required = j % 5 == 0;
      jobs[j].queue = j % 2 == 0 ? QueueId(0) : QueueId{};
    }
    placement_ = test::best_fit(whole_, planner_model::Valuation(whole_, kind_));
    deal();
  }

  /// By what they ask for, so that no rank knows all tasks.
  void deal() {
    for (const JobId j : model::planned_jobs(whole_.workload)) {
      const auto groups = whole_.workload.groups_of(whole_.workload.job(j));
      const auto shape = static_cast<int>(groups.front().shape.index());
      if (shape % world_.size() == world_.rank()) jobs_.push_back(j);
    }
    part_ = test::part_of(whole_, jobs_);
    for (const model::JobPlacement& placed : placement_) {
      if (part_.workload.has(placed.job)) mine_.push_back(placed);
    }
  }

  /// Of GPUs, and of some kinds of tasks, none of them on rank 0 where there are others. Rank 0
  /// alone has the right ones.
  [[nodiscard]] model::Certificate prices(double gpu) const {
    const auto pools = planner_model::make_pools(whole_.cluster, model::Level::pod);
    const double unit = kind_ == Objective::value ? 1.0 : 1000.0;
    const double told = world_.rank() == 0 ? gpu : 7.0;
    auto prices = from_pools(pools, std::vector<double>(pools.size(), told * unit));
    for (std::size_t s = 1; s < whole_.workload.shapes.size(); s += 6) {
      if (!whole_.workload.shapes[s].uses_gpu()) continue;
      const auto price = static_cast<std::int64_t>(s) << (prices.scale_log2 - 8);
      prices.shapes.push_back({ShapeId(s), GpuTypeId(0), price});
    }
    return prices;
  }

  Communicator world_ = Communicator::world();
  Objective kind_;
  model::Instance whole_, part_;
  model::Placement placement_, mine_;
  std::vector<JobId> jobs_;
};

TEST_P(JudgedTogether, is_judged_as_by_one_who_has_all) {
  const DistributedJudge judge(world_, part_, kind_, jobs_);
  const Assessment word = judge.judge(prices(0.7), mine_);
  const certify::Bound bound = judge.bound(prices(0.7), mine_);
  const double objective = judge.objective(mine_);
  if (world_.rank() != 0) {
    EXPECT_TRUE(word.required_missing.empty());
    EXPECT_EQ(objective, certify::objective(whole_, kind_, placement_).value);
    return;
  }
  const model::Certificate certificate = prices(0.7);
  const test::InParts alone(whole_, kind_, certificate, placement_);
  test::Judgement whole = alone.judge_whole();
  EXPECT_FALSE(whole.required_missing.empty());
  EXPECT_EQ(objective, whole.figures.objective);
  EXPECT_EQ(word.figures.upper_bound, whole.figures.upper_bound);
  whole.figures.gap = certify::gap(whole.figures.upper_bound, whole.figures.objective);
  EXPECT_EQ(word.figures.gap, whole.figures.gap);
  test::expect_same({whole.facts, bound, word.figures, word.gap_parts, word.required_missing},
                    whole);
}

TEST_P(JudgedTogether, finds_the_tightest_prices) {
  std::vector<model::Certificate> candidates;
  for (const double gpu : {4.0, 0.9, 0.6, 0.3}) {
    if (world_.rank() == 0) candidates.push_back(prices(gpu));
  }
  const DistributedJudge judge(world_, part_, kind_, jobs_);
  const Proof found = tightest(judge, candidates);
  const Proof alone = tightest(whole_, kind_, {prices(4.0), prices(0.9), prices(0.6), prices(0.3)});
  if (world_.rank() == 0) {
    EXPECT_EQ(found.upper_bound, alone.upper_bound);
    EXPECT_EQ(found.certificate.pools.front().gpu_milli, alone.certificate.pools.front().gpu_milli);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, JudgedTogether,
                         testing::Values(std::pair(generate::Preset::hetero, Objective::value),
                                         std::pair(generate::Preset::hetero, Objective::allocate),
                                         std::pair(generate::Preset::openb_like,
                                                   Objective::value)));

}  // namespace
}  // namespace berth::pipeline
