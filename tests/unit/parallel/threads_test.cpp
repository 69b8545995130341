// SPDX-License-Identifier: Apache-2.0
#include "berth/parallel/threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::parallel {
namespace {

std::size_t threads_of_a_sweep() {
  std::set<std::thread::id> seen;
  std::mutex mutex;
  sweep_blocks(400, 1, [&](std::size_t, std::size_t, std::size_t) {
    std::this_thread::yield();
    const std::scoped_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen.size();
}

TEST(ThreadLimit, holds_while_it_lives) {
  const ThreadLimit outer(2);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(thread_limit(), 1);
    EXPECT_EQ(threads_of_a_sweep(), 1U);
  }
  EXPECT_EQ(thread_limit(), 2);
  EXPECT_LE(threads_of_a_sweep(), 2U);
  EXPECT_THROW(ThreadLimit(0), BrokenContract);
}

TEST(BoundCores, are_ascending_and_exist) {
  const auto cores = bound_cores();
  EXPECT_TRUE(std::is_sorted(cores.begin(), cores.end()));
  EXPECT_LE(cores.size(), std::thread::hardware_concurrency());
}

class DefaultThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* const set = std::getenv("OMP_NUM_THREADS")) before_ = set;
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("OMP_NUM_THREADS");
    } else {
      setenv("OMP_NUM_THREADS", before_.c_str(), 1);
    }
  }
  std::string before_;
};

TEST_F(DefaultThreads, follow_the_environment_first) {
  setenv("OMP_NUM_THREADS", "7", 1);
  EXPECT_EQ(default_threads(1), 7);
  EXPECT_EQ(default_threads(64), 7);
  setenv("OMP_NUM_THREADS", "3,2", 1);
  EXPECT_EQ(default_threads(1), 3);
}

TEST_F(DefaultThreads, else_share_the_bound_cores) {
  for (const char* const useless : {"", "none", "0", "-2"}) {
    setenv("OMP_NUM_THREADS", useless, 1);
    EXPECT_EQ(default_threads(1 << 20), 1);  // at least one
  }
  unsetenv("OMP_NUM_THREADS");
  const int cores = static_cast<int>(bound_cores().size());
  if (cores == 0) GTEST_SKIP() << "skipped: the system does not tell the bound cores";
  for (int ranks = 1; ranks <= 5; ++ranks) {
    EXPECT_EQ(default_threads(ranks), std::max(1, cores / ranks));
  }
}

}  // namespace
}  // namespace berth::parallel
