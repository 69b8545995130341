// SPDX-License-Identifier: Apache-2.0
// Which shards are asked to bid on an offer.
#include "bidder_selection.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::coordinator {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Two types; a job of 4 GPUs worth 4 on each of them, and one of half a GPU for G2 alone.
class Asked : public testing::Test {
 protected:
  static solver::EvictionCost eviction_cost(int shard, int type, double per_gpu) {
    solver::EvictionCost q{.shard = ShardId(shard), .type = GpuTypeId(type)};
    for (std::size_t k = 0; k < q.least.size(); ++k) {
      q.least[k] = per_gpu * static_cast<double>(1 << k);
    }
    return q;
  }

  [[nodiscard]] std::vector<int> shards(std::span<const solver::EvictionCost> eviction_costs,
                                        int job, std::size_t most, int round = 1,
                                        const TabuPairs& tabu = {}) const {
    std::vector<int> result;
    for (const BidRequest& ask : BidderSelection(valuation, eviction_costs)
                                     .of({JobId(job), ShardId(0), 1.0}, tabu, most, round, 7)) {
      result.push_back(ask.shard.value());
    }
    std::ranges::sort(result);
    return result;
  }

  const model::Instance instance = [] {
    model::Instance i;
    i.cluster = io::parse_cluster(R"(schema: 1
classes: {a: {gpu_type: G1, gpus: 8}, b: {gpu_type: G2, gpus: 8}}
pods: [{id: p, racks: [{id: r, machines: [{ids: m0, class: a}, {ids: m1, class: b}]}]}]
)",
                                  "cluster.yaml");
    i.workload = io::parse_jobs(
        R"({"id":"gang","tasks":[{"shape":"s","count":4,"gpus":1}]}
{"id":"share","gpu_types":["G2"],"tasks":[{"shape":"s","count":1,"gpu_milli":500}]}
)",
        "jobs.jsonl", i.cluster);
    return i;
  }();
  const planner_model::Valuation valuation{instance, model::Objective::value};
};

TEST_F(Asked, those_whose_room_costs_less_than_the_job_is_worth) {
  const std::vector<solver::EvictionCost> eviction_costs{
      eviction_cost(1, 0, 0.9), eviction_cost(2, 0, 1.1), eviction_cost(3, 0, kNever),
      eviction_cost(4, 0, 5.0), eviction_cost(4, 1, 0.5), eviction_cost(0, 0, 0.0)};
  EXPECT_EQ(shards(eviction_costs, 0, 9), (std::vector<int>{1, 4}));  // 0 is the source
  EXPECT_EQ(shards(eviction_costs, 1, 9), (std::vector<int>{4}));     // the others have no G2
}

TEST_F(Asked, not_those_that_refused_the_job_lately) {
  const std::vector<solver::EvictionCost> eviction_costs{eviction_cost(1, 0, 0.1),
                                                         eviction_cost(2, 0, 0.1)};
  EXPECT_EQ(shards(eviction_costs, 0, 9, 1, {{JobId(0), ShardId(1)}}), (std::vector<int>{2}));
}

TEST_F(Asked, others_in_another_round_and_the_same_in_any_order) {
  std::vector<solver::EvictionCost> eviction_costs;
  for (int s = 1; s <= 40; ++s) eviction_costs.push_back(eviction_cost(s, 0, 0.01 * s));
  const auto first = shards(eviction_costs, 0, 4);
  EXPECT_EQ(first.size(), 4U);
  EXPECT_NE(shards(eviction_costs, 0, 4, 2), first);
  std::ranges::reverse(eviction_costs);
  EXPECT_EQ(shards(eviction_costs, 0, 4), first);
}

/// With thousands of shards an offer looks at 256 of them: 1,000 equal ones, all may bid.
TEST_F(Asked, among_256_of_many_shards_and_all_of_them_in_the_course_of_rounds) {
  std::vector<solver::EvictionCost> eviction_costs;
  for (int s = 0; s < 1000; ++s) eviction_costs.push_back(eviction_cost(s, 0, 0.1));
  std::set<int> seen;
  for (int round = 0; round < 60; ++round) {
    const auto now = shards(eviction_costs, 0, 1000, round);
    EXPECT_LE(now.size(), 256U);
    EXPECT_GE(now.size(), 255U);  // the source may be among them
    seen.insert(now.begin(), now.end());
  }
  EXPECT_EQ(seen.size(), 999U);
}

}  // namespace
}  // namespace berth::coordinator
