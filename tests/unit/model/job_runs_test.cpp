// SPDX-License-Identifier: Apache-2.0
#include "berth/model/job_runs.hpp"

#include "random_tiny.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace berth::model {
namespace {

JobRun random_run(test::Dice& dice, std::int64_t from) {
  constexpr std::int64_t most = std::int64_t{1} << 50;
  JobRun run{.start = from + dice.below(most),
             .end = 0,
             .overhead = dice.chance(50) ? 0 : dice.below(most),
             .work = dice.below(most),
             .speed = dice.chance(50) ? 1.0 : 1.0 / static_cast<double>(1 + dice.below(1000)),
             .milli = dice.below(1 << 20),
             .batch = dice.chance(80) ? 0 : dice.below(4096),
             .configuration = static_cast<std::int32_t>(dice.below(4)) - 1,
             .ended = static_cast<RunEnd>(dice.below(3))};
  run.end = run.start + dice.below(most);
  for (std::int64_t i = dice.chance(70) ? 0 : dice.below(5); i > 0; --i) {
    run.rates.push_back({run.start + dice.below(most), 0.25 * static_cast<double>(i)});
  }
  for (std::int64_t i = dice.below(6); i > 0; --i) {
    run.tasks.push_back({MachineId(static_cast<std::int32_t>(dice.below(1 << 20))),
                         static_cast<std::uint32_t>(dice.below(9)),
                         ~std::uint64_t{0} >> dice.below(64),
                         static_cast<std::int32_t>(dice.below(1001))});
  }
  return run;
}

TEST(JobRuns, are_the_same_when_packed) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::Dice dice(seed);
    JobRuns runs;
    std::vector<JobRun> expected;
    std::int64_t from = 0;
    for (std::int64_t i = dice.below(8); i > 0; --i) {
      expected.push_back(random_run(dice, from));
      runs.push_back(expected.back());
      from = expected.back().end;
    }
    for (const bool packed : {false, true}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (packed ? ", packed" : ""));
      if (packed) runs.pack();
      ASSERT_EQ(runs.size(), expected.size());
      ASSERT_EQ(runs.empty(), expected.empty());
      std::size_t next = 0;
      for (const JobRun& run : runs) EXPECT_EQ(run, expected[next++]);
      EXPECT_EQ(next, expected.size());
      if (expected.empty()) continue;
      EXPECT_EQ(runs.front(), expected.front());
      EXPECT_EQ(runs.back(), expected.back());
    }
  }
}

TEST(JobRuns, are_read_from_a_checkpoint_open_or_packed) {
  test::Dice dice(1);
  JobRuns runs;
  runs.push_back(random_run(dice, 0));
  for (const bool packed : {false, true}) {
    if (packed) runs.pack();
    const std::string bytes = to_bytes(runs);
    JobRuns read;
    ByteReader reader(bytes);
    reader(read);
    EXPECT_TRUE(reader.done());
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0], runs[0]);
  }
}

/// What the memory of simulations rests on: a run of a few hours on some GPUs of one machine.
TEST(JobRuns, take_few_bytes_when_packed) {
  constexpr std::int64_t hours = 5 * 3'600'000'000;
  JobRuns runs;
  for (std::int64_t i = 0; i < 100; ++i) {
    runs.push_back({.start = i * hours,
                    .end = (i + 1) * hours,
                    .overhead = 60'000'000,
                    .work = hours,
                    .milli = 4000,
                    .ended = RunEnd::stopped,
                    .tasks = {{MachineId(300), 0, 0xF0, 1000}}});
  }
  runs.pack();
  EXPECT_LT(to_bytes(runs).size(), 100 * 44);
}

}  // namespace
}  // namespace berth::model
