// SPDX-License-Identifier: Apache-2.0
// Each parallel loop against its serial twin, on 1 to 4 threads.
#include "berth/parallel/loops.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::parallel {
namespace {

namespace serial {
template <class F>
void run(std::size_t count, F f) {
  for (std::size_t i = 0; i < count; ++i) f(i);
}
template <class F>
void sweep_blocks(std::size_t count, std::size_t size, F f) {
  std::size_t block = 0;
  for (std::size_t begin = 0; begin < count; begin += size) {
    f(block++, begin, std::min(count, begin + size));
  }
}
}  // namespace serial

class Loops : public testing::TestWithParam<int> {
 protected:
  ThreadLimit limit_{GetParam()};
};

TEST_P(Loops, run_tasks_and_sweep_visit_every_index_once) {
  for (const std::size_t count : {0, 1, 2, 511, 512, 513, 5000}) {
    std::vector<int> expected(count, 0), tasks(count, 0), swept(count, 0);
    serial::run(count, [&](std::size_t i) { expected[i] += static_cast<int>(3 * i); });
    run_tasks(count, [&](std::size_t i) { tasks[i] += static_cast<int>(3 * i); });
    sweep(count, [&](std::size_t i) { swept[i] += static_cast<int>(3 * i); });
    EXPECT_EQ(tasks, expected);
    EXPECT_EQ(swept, expected);
  }
}

TEST_P(Loops, sweep_blocks_cuts_where_the_serial_loop_cuts) {
  for (const std::size_t count : {0, 1, 255, 256, 257, 1000}) {
    struct Block {
      std::size_t begin = 0, end = 0;
      bool operator==(const Block&) const = default;
    };
    std::vector<Block> expected((count + 255) / 256), swept(expected);
    serial::sweep_blocks(count, 256, [&](std::size_t b, std::size_t begin, std::size_t end) {
      expected[b] = {begin, end};
    });
    sweep_blocks(count, 256, [&](std::size_t b, std::size_t begin, std::size_t end) {
      swept[b] = {begin, end};
    });
    EXPECT_EQ(swept, expected);
  }
  EXPECT_THROW(sweep_blocks(1, 0, [](std::size_t, std::size_t, std::size_t) {}), BrokenContract);
}

template <class Loop>
std::string first_error(Loop loop) {
  try {
    loop([](std::size_t i) {
      if (i % 1000 == 999) throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST_P(Loops, the_lowest_failing_index_is_rethrown) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(first_error([](auto body) { run_tasks(8000, body); }), "999");
    EXPECT_EQ(first_error([](auto body) { sweep(8000, body); }), "999");
  }
}

TEST_P(Loops, loops_inside_loops_are_correct) {
  std::vector<std::vector<int>> tasks(20, std::vector<int>(2000)), swept = tasks;
  std::vector<std::atomic<int>> others(20);
  run_tasks(20, [&](std::size_t t) {
    const auto here = std::this_thread::get_id();
    sweep(2000, [&](std::size_t i) {
      tasks[t][i] = static_cast<int>(t * i);
      if (std::this_thread::get_id() != here) ++others[t];
    });
  });
  sweep_blocks(20, 1, [&](std::size_t t, std::size_t, std::size_t) {
    run_tasks(2000, [&](std::size_t i) { swept[t][i] = static_cast<int>(t * i); });
  });
  for (std::size_t t = 0; t < 20; ++t) {
    EXPECT_EQ(others[t], 0) << "a sweep inside a task took more threads";
    for (std::size_t i = 0; i < 2000; ++i) ASSERT_EQ(tasks[t][i], static_cast<int>(t * i));
  }
  EXPECT_EQ(swept, tasks);
}

INSTANTIATE_TEST_SUITE_P(Threads, Loops, testing::Values(1, 2, 4));

}  // namespace
}  // namespace berth::parallel
