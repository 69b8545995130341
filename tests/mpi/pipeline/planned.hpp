// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "quick.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/parallel/threads.hpp"

namespace berth::pipeline::test {

inline model::Plan plan_on(const comm::Communicator& comm, const model::Instance& instance,
                           int shards, int threads,
                           model::Objective objective = model::Objective::value) {
  const parallel::ThreadLimit limit(threads);
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  PlanOptions options = quick_options();
  options.objective = objective;
  options.partition.shards = shards;
  return plan_cluster(comm, instance, options, silent);
}

/// The same with all jobs on rank 0 alone.
inline model::Plan plan_distributed_on(const comm::Communicator& comm,
                                       const model::Instance& instance, int shards, int threads,
                                       model::Objective objective) {
  const parallel::ThreadLimit limit(threads);
  PlanOptions options = quick_options();
  options.objective = objective;
  options.partition.shards = shards;
  return plan_as_program(comm, instance, options);
}

/// Everything in the parts of the gap, to the last bit.
inline std::vector<double> numbers(const model::GapParts& parts) {
  std::vector<double> all{static_cast<double>(parts.basis), parts.leaves, parts.rounding};
  all.insert(all.end(), parts.limits.begin(), parts.limits.end());
  for (const auto& r : parts.regret) {
    all.insert(all.end(), {static_cast<double>(r.gpus), static_cast<double>(r.jobs), r.amount});
  }
  for (const auto& i : parts.idle) all.push_back(i.amount);
  return all;
}

inline void expect_same(const model::Plan& plan, const model::Plan& oracle) {
  EXPECT_EQ(plan.plan_digest, oracle.plan_digest);
  EXPECT_EQ(plan.proof_digest, oracle.proof_digest);
  EXPECT_EQ(numbers(plan.gap_parts), numbers(oracle.gap_parts));
  const auto why = [](const model::UnplacedJob& w) { return std::pair(w.job, w.reason); };
  EXPECT_TRUE(std::ranges::equal(plan.waiting, oracle.waiting, {}, why, why));
}

/// Plans on all ranks, with one thread from whole instances, with two from parts, and, on rank 0,
/// alone: one plan. Returns it on rank 0, nothing elsewhere.
inline model::Plan same_on_any_ranks(const model::Instance& instance, int shards,
                                     model::Objective objective = model::Objective::value) {
  const auto world = comm::Communicator::world();
  const auto together = plan_on(world, instance, shards, 1, objective);
  const auto in_parts = plan_distributed_on(world, instance, shards, 2, objective);
  if (world.rank() != 0) return {};
  auto alone = plan_on(comm::Communicator::serial(), instance, shards, 1, objective);
  expect_same(together, alone);
  expect_same(in_parts, alone);
  return alone;
}

}  // namespace berth::pipeline::test
