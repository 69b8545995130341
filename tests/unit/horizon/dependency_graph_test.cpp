// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/dependency_graph.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::horizon {
namespace {

std::vector<JobId> ids(std::initializer_list<int> numbers) {
  std::vector<JobId> result;
  for (const int number : numbers) result.emplace_back(number);
  return result;
}

TEST(DependencyGraph, puts_jobs_directly_after_those_they_wait_for) {
  // 0 waits for 3 and 1, 1 for 4; 2 for nothing
  const std::vector<model::Dependency> pairs{
      {JobId(0), JobId(1)}, {JobId(0), JobId(3)}, {JobId(1), JobId(4)}};
  const DependencyGraph graph(5, pairs);
  EXPECT_EQ(graph.ordered(ids({2, 0, 1, 3, 4})), ids({2, 4, 1, 3, 0}));
  EXPECT_EQ(graph.ordered(ids({4, 3, 2, 1, 0})), ids({4, 3, 2, 1, 0}));
  EXPECT_EQ(graph.ordered(ids({0, 4})), ids({0, 4}));  // what is not listed is not added
  EXPECT_TRUE(std::ranges::equal(graph.before(JobId(0)), ids({1, 3})));
  EXPECT_TRUE(std::ranges::equal(graph.after(JobId(4)), ids({1})));
  EXPECT_TRUE(graph.after(JobId(0)).empty());
  EXPECT_TRUE(DependencyGraph(3, {}).empty());
}

TEST(DependencyGraph, keeps_every_order_of_drawn_graphs) {
  constexpr std::uint64_t kJobs = 60;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<model::Dependency> pairs;
    std::vector<JobId> list;
    for (std::uint64_t j = 0; j < kJobs; ++j) {
      list.emplace_back(std::size_t{j});
      for (std::uint64_t before = 0; before < j; ++before) {
        if (random_below(20, {seed, j, before}) == 0) {
          pairs.push_back({JobId(std::size_t{j}), JobId(std::size_t{before})});
        }
      }
    }
    std::ranges::sort(list, {}, [&](JobId job) { return random_below(1000, {seed, job.index()}); });
    const auto order = DependencyGraph(kJobs, pairs).ordered(list);
    ASSERT_EQ(order.size(), kJobs);
    const auto place = [&](JobId job) { return std::ranges::find(order, job) - order.begin(); };
    for (const auto& pair : pairs) EXPECT_LT(place(pair.after), place(pair.job));
  }
}

/// a of 5 s, b of 7 s after it, c after both; d after e, which no machine can run.
TEST(ProblemBuilder, releases_jobs_no_earlier_than_those_they_wait_for_can_end) {
  ProblemBuilder builder(100);
  const auto pools = builder.add_pool_set(std::array{builder.add_pool(CurveId(0), 1, 4)});
  for (const Seconds duration : {5, 7, 1, 1, 0}) {
    (void)builder.add_job(100);
    const IndexRange cost = builder.add_cost(std::array{flow_cost(100, 1.0)});
    if (duration > 0) builder.add_option(pools, duration, std::array{TaskGroup{1, 1}}, cost);
  }
  builder.add_dependency(JobId(2), JobId(1));
  builder.add_dependency(JobId(2), JobId(0));
  builder.add_dependency(JobId(1), JobId(0));
  builder.add_dependency(JobId(3), JobId(4));
  const Problem problem = builder.build();
  EXPECT_EQ(problem.jobs[1].release, 105);
  EXPECT_EQ(problem.jobs[2].release, 112);
  EXPECT_EQ(problem.jobs[3].options.size(), 0U);
}

}  // namespace
}  // namespace berth::horizon
