// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/papers/quality_bound.hpp"

/// Small jobs of whole steps on one machine, and what the best of all orders has.
namespace berth::papers::testing {

inline constexpr double kCores = 4.0;

/// Two to three jobs of whole steps: a step is all cores for a second.
inline std::vector<FluidJob> draw_fluid(std::uint64_t seed) {
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

struct BestOrder {
  double unearned = std::numeric_limits<double>::infinity();
  double flow = std::numeric_limits<double>::infinity();
};

/// All orders of whole steps.
class ExhaustiveOrders {
 public:
  explicit ExhaustiveOrders(const std::vector<FluidJob>& jobs) : jobs_(jobs), at_(jobs.size(), 0) {
    search(0.0, 0.0, 0.0);
  }
  [[nodiscard]] const BestOrder& best() const { return best_; }

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
  BestOrder best_;
};

}  // namespace berth::papers::testing
