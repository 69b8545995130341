// SPDX-License-Identifier: Apache-2.0
// The plan of a shard needs memory, and with it time, for its own machines and jobs, not for those
// of the cluster: else all shards together need quadratic time.
#include "petsc_environment.hpp"
#include "shard_builder.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "berth/solver/shard_planning.hpp"

namespace {
std::atomic<std::size_t> allocated = 0;  // bytes
}  // namespace

#ifndef BERTH_SANITIZED  // which has these operators itself
// Not inline: else the compiler sees malloc and free beside new and delete, and warns.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocated += bytes;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace berth::solver {
namespace {

/// Bytes that the plan of the first pod of a cluster allocates.
std::size_t bytes_of_first_shard(int pods) {
  test::InstanceBuilder plan({"A"});
  for (int p = 0; p < pods; ++p) plan.rack(plan.pod()), plan.add_machines(4, 0, 8);
  std::vector<JobId> own;
  for (int j = 0; j < 8 * pods; ++j) {  // those of the shard have ids all over the cluster
    const JobId job = plan.job({.tasks = 2, .gpus = 2 + j % 3, .weight = 1.0 + j % 7});
    if (j % pods == 0) own.push_back(job);
  }
  const auto value = plan.value();
  const auto pools = plan.pools();
  const std::vector<double> prices(pools.size(), 0.5);
  Shard shard(ShardId(0), value, pools, {plan.machines.begin(), plan.machines.begin() + 4}, {});
  const std::size_t before = allocated;
  solver::plan(shard, own, prices);
  EXPECT_GT(shard.value(), 0.0);
  return allocated - before;
}

/// What is left of the cluster's size are lists of 4 bytes by pool and by pod.
TEST(ShardMemory, does_not_grow_with_the_cluster) {
#ifdef BERTH_SANITIZED
  GTEST_SKIP() << "the sanitizer's own operators do not count";
#endif
  const int few = 512, many = 4096;  // pods
  const std::size_t by_pod = 8 * sizeof(std::int32_t);
  EXPECT_LT(bytes_of_first_shard(many), bytes_of_first_shard(few) + (many - few) * by_pod);
}

}  // namespace
}  // namespace berth::solver
