// SPDX-License-Identifier: Apache-2.0
#include "job_classes.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::test {
namespace {

struct Drawn {
  sim::JobRow row;
  std::array<std::int64_t, 2> durations;
};

Drawn draw(std::uint64_t seed, std::uint64_t job) {
  const double seconds = 60.0 * std::pow(4000.0, random_unit({seed, job, 0}));
  const double factor = 1.2 + 1.3 * random_unit({seed, job, 1});
  const bool only_first = random_below(10, {seed, job, 2}) < 3;
  return {{.milli = std::int64_t{1000} << random_below(5, {seed, job, 3}),
           .weight = 1.0 + static_cast<double>(random_below(3, {seed, job, 4}))},
          {std::llround(seconds), only_first ? 0 : std::llround(seconds * factor)}};
}

TEST(JobClasses, few_jobs_are_kept_apart) {
  sim::JobClasses classes(2, sim::JobClasses::kMost);
  const Drawn job = draw(1, 1);
  for (std::size_t j = 0; j < sim::JobClasses::kMost; ++j) classes.add(job.row, job.durations);
  EXPECT_EQ(classes.classes().size(), sim::JobClasses::kMost);
  EXPECT_FALSE(classes.merged());
}

TEST(JobClasses, equal_jobs_are_one_class) {
  sim::JobClasses classes(2, 1000);
  const std::array<std::int64_t, 2> durations{100, 150};
  for (int j = 0; j < 1000; ++j) classes.add({.milli = 2000, .weight = 1.0}, durations);
  ASSERT_EQ(classes.classes().size(), 1U);
  const auto& one = classes.classes().front();
  EXPECT_EQ(one.count, 1000);
  EXPECT_EQ(one.sum.milli, 2'000'000);
  EXPECT_DOUBLE_EQ(classes.pools_of(0)[1].gpu_time, 2e6 * 150.0);
}

TEST(JobClasses, many_jobs_are_few_classes_with_the_same_sums) {
  for (const std::uint64_t jobs : {300, 3000, 20'000}) {
    SCOPED_TRACE(testing::Message() << jobs << " jobs");
    sim::JobClasses classes(2, jobs);
    std::int64_t milli = 0, both = 0;
    double gpu_time = 0.0, weight = 0.0;
    for (std::uint64_t j = 0; j < jobs; ++j) {
      const Drawn job = draw(7, j);
      classes.add(job.row, job.durations);
      milli += job.row.milli;
      weight += job.row.weight;
      both += job.durations[1] > 0 ? 1 : 0;
      gpu_time += static_cast<double>(job.row.milli) * static_cast<double>(job.durations[0]);
    }
    EXPECT_LE(classes.classes().size(), sim::JobClasses::kMost);
    EXPECT_GE(classes.classes().size(), sim::JobClasses::kMost / 8);
    for (std::size_t c = 0; c < classes.classes().size(); ++c) {
      const auto& of = classes.classes()[c];
      const auto uses = classes.pools_of(c);
      milli -= of.sum.milli;
      weight -= of.sum.weight;
      gpu_time -= uses[0].gpu_time;
      if (uses[1].shortest > 0) both -= of.count;  // pools are never mixed
      EXPECT_LE(static_cast<double>(uses[0].shortest * of.sum.milli),
                uses[0].gpu_time * (1.0 + 1e-12));
      EXPECT_LE(of.least.milli * of.count, of.sum.milli);
      EXPECT_GE(of.most.milli * of.count, of.sum.milli);
    }
    EXPECT_EQ(milli, 0);
    EXPECT_EQ(both, 0);
    EXPECT_EQ(weight, 0.0);  // whole numbers
    EXPECT_NEAR(gpu_time, 0.0, 1.0);
  }
}

/// Sets of allowed pools are not merged, however many there are.
TEST(JobClasses, more_sets_of_pools_than_classes) {
  sim::JobClasses classes(10, 5000);
  std::vector<std::int64_t> durations(10);
  for (std::uint64_t j = 0; j < 5000; ++j) {
    for (std::size_t p = 0; p < 10; ++p) durations[p] = ((j + 1) >> p) % 2 == 0 ? 0 : 50;
    classes.add({.milli = 1000, .weight = 1.0}, durations);
  }
  EXPECT_EQ(classes.classes().size(), 1024U);
}

}  // namespace
}  // namespace berth::test
