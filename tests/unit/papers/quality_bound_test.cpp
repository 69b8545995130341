// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/quality_bound.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"

namespace berth::papers {
namespace {

constexpr double kCores = 4.0;

/// Two to three jobs of whole steps: a step is all cores for a second.
std::vector<FluidJob> draw(std::uint64_t seed) {
  std::vector<FluidJob> jobs;
  double release = 0.0;
  for (std::uint64_t j = 0; j < 2 + seed % 2; ++j) {
    FluidJob job{.release = release, .pieces = {}};
    const std::uint64_t n = 1 + random_below(4, {7, seed, j});
    for (std::uint64_t p = 0; p < n; ++p)
      job.pieces.push_back({kCores, 1.0 + static_cast<double>(random_below(9, {8, seed, j, p}))});
    jobs.push_back(job);
    release += static_cast<double>(random_below(3, {9, seed, j}));
  }
  return jobs;
}

struct Best {
  double unearned = std::numeric_limits<double>::infinity();
  double flow = std::numeric_limits<double>::infinity();
};

/// All orders of whole steps.
class Exhaustive {
 public:
  explicit Exhaustive(const std::vector<FluidJob>& jobs) : jobs_(jobs), at_(jobs.size(), 0) {
    search(0.0, 0.0, 0.0);
  }
  [[nodiscard]] const Best& best() const { return best_; }

 private:
  [[nodiscard]] double left(std::size_t j) const {
    double sum = 0.0;
    for (std::size_t p = at_[j]; p < jobs_[j].pieces.size(); ++p) sum += jobs_[j].pieces[p].value;
    return sum;
  }

  void search(double now, double unearned, double flow) {
    bool any = false, ready = false;
    double waits = 0.0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      any = any || at_[j] < jobs_[j].pieces.size();
      ready = ready || (jobs_[j].release <= now && at_[j] < jobs_[j].pieces.size());
      if (jobs_[j].release <= now) waits += left(j);
    }
    if (!any) {
      best_.unearned = std::min(best_.unearned, unearned);
      best_.flow = std::min(best_.flow, flow);
    }
    if (any && !ready) search(now + 1.0, unearned + waits, flow);
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].release > now || at_[j] == jobs_[j].pieces.size()) continue;
      const double earned = jobs_[j].pieces[at_[j]++].value;
      const bool ends = at_[j] == jobs_[j].pieces.size();
      search(now + 1.0, unearned + waits - 0.5 * earned,
             flow + (ends ? now + 1.0 - jobs_[j].release : 0.0));
      --at_[j];
    }
  }

  const std::vector<FluidJob>& jobs_;
  std::vector<std::size_t> at_;
  Best best_;
};

TEST(QualityBound, NoOrderOfStepsIsBetter) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<FluidJob> jobs = draw(seed);
    const Best best = Exhaustive(jobs).best();
    const double unearned = least_unearned(jobs, kCores);
    EXPECT_LE(unearned, best.unearned + 1e-9);
    EXPECT_NEAR(least_flow(jobs, kCores, kCores), best.flow, 1e-9);
    tight += unearned > best.unearned - 1e-9;
  }
  EXPECT_GE(tight, 5);  // where all pieces come in falling density
}

TEST(QualityBound, FallingDensitiesAreExact) {
  const std::vector<FluidJob> jobs = {{0.0, {{4.0, 8.0}, {4.0, 2.0}}}, {1.0, {{4.0, 5.0}}}};
  // 8 in the first second, 5 in the second, 2 in the third.
  EXPECT_DOUBLE_EQ(least_unearned(jobs, kCores), (10.0 - 4.0) + (2.0 + 2.5) + 1.0);
}

TEST(QualityBound, CoresOfAJobAreLimited) {
  const std::vector<FluidJob> jobs = {{0.0, {{8.0, 1.0}}}, {100.0, {{4.0, 1.0}}}};
  EXPECT_DOUBLE_EQ(least_flow(jobs, kCores, kCores), 3.0);
  EXPECT_DOUBLE_EQ(least_flow(jobs, kCores, 1.0), 12.0);
}

}  // namespace
}  // namespace berth::papers
