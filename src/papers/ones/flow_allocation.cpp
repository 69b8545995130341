// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/flow_allocation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "berth/base/assert.hpp"

namespace berth::papers {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Weights v_k / rate(1), by job.
std::vector<double> rank_weights(std::span<const FlowJob> jobs, double q) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::size_t j) { return jobs[j].remaining / jobs[j].rates[1]; });
  std::vector<double> weights(jobs.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto k = static_cast<double>(i + 1);
    const double v = std::isinf(q) ? k : k * std::pow(1.0 - std::pow(1.0 - 1.0 / k, q), 1.0 / q);
    weights[order[i]] = v / jobs[order[i]].rates[1];
  }
  return weights;
}

struct Step {
  double slope = 0.0;     ///< rate gained by a GPU
  std::int32_t gpus = 0;  ///< of the step
};

/// The steepest step up from `held`, of at most `most` GPUs; ties: the longest.
Step next_step(const FlowJob& job, std::int32_t held, std::int32_t most) {
  Step best;
  const auto largest = static_cast<std::int32_t>(job.rates.size()) - 1;
  const double now = job.rates[static_cast<std::size_t>(held)];
  for (std::int32_t more = 1; more <= std::min(most, largest - held); ++more) {
    const double slope = (job.rates[static_cast<std::size_t>(held + more)] - now) / more;
    if (slope > 0.0 && slope >= best.slope) best = {slope, more};
  }
  return best;
}

/// Gives free GPUs beyond what `held` has.
void give_free(std::span<const FlowJob> jobs, std::int32_t free, double q,
               std::vector<std::int32_t>& held) {
  const std::vector<double> weights = rank_weights(jobs, q);
  std::vector<Step> steps(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) steps[j] = next_step(jobs[j], held[j], free);
  while (free > 0) {
    std::size_t best = jobs.size();
    double gain = 0.0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (steps[j].gpus > free) steps[j] = next_step(jobs[j], held[j], free);
      if (weights[j] * steps[j].slope <= gain) continue;
      gain = weights[j] * steps[j].slope;
      best = j;
    }
    if (best == jobs.size()) return;
    held[best] += steps[best].gpus;
    free -= steps[best].gpus;
    steps[best] = next_step(jobs[best], held[best], free);
  }
}

/// Jobs that run on given GPUs until the first of them ends.
class Rollout {
 public:
  explicit Rollout(std::span<const FlowJob> jobs) : jobs_(jobs.begin(), jobs.end()) {
    paused_.resize(jobs_.size());
  }
  [[nodiscard]] const std::vector<FlowJob>& jobs() const { return jobs_; }

  void give(std::span<const std::int32_t> gpus) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (gpus[j] == jobs_[j].held) continue;
      if (gpus[j] > 0) paused_[j] = jobs_[j].pause;
      jobs_[j].held = gpus[j];
    }
  }
  /// Runs to the next completion and drops the job. Returns the seconds.
  double run() {
    double first = kInfinite;
    std::size_t ending = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (rate(j) <= 0.0) continue;
      const double end = paused_[j] + jobs_[j].remaining / rate(j);
      if (end < first) {
        first = end;
        ending = j;
      }
    }
    if (std::isinf(first)) return first;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const double pause = std::min(paused_[j], first);
      paused_[j] -= pause;
      jobs_[j].remaining = std::max(1e-9, jobs_[j].remaining - rate(j) * (first - pause));
    }
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(ending));
    paused_.erase(paused_.begin() + static_cast<std::ptrdiff_t>(ending));
    return first;
  }

 private:
  [[nodiscard]] double rate(std::size_t j) const {
    return jobs_[j].rates[static_cast<std::size_t>(jobs_[j].held)];
  }
  std::vector<FlowJob> jobs_;
  std::vector<double> paused_;  ///< seconds left without progress
};

}  // namespace

std::vector<std::int32_t> allocate_by_rank(std::span<const FlowJob> jobs, std::int32_t gpus,
                                           double q) {
  BERTH_EXPECT(q >= 1.0);
  std::vector<std::int32_t> held(jobs.size());
  give_free(jobs, gpus, q, held);
  return held;
}

std::vector<std::int32_t> allocate_by_gain(std::span<const FlowJob> jobs, std::int32_t gpus) {
  std::vector<std::int32_t> held(jobs.size());
  for (std::size_t j = 0; j < jobs.size() && gpus > 0; ++j, --gpus) held[j] = 1;
  const auto gain = [&](std::size_t j) {
    const auto now = static_cast<std::size_t>(held[j]);
    if (now == 0 || now + 1 >= jobs[j].rates.size()) return 0.0;
    return jobs[j].remaining / jobs[j].rates[now] - jobs[j].remaining / jobs[j].rates[now + 1];
  };
  for (; gpus > 0; --gpus) {
    std::size_t best = jobs.size();
    double most = 0.0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (gain(j) <= most) continue;
      most = gain(j);
      best = j;
    }
    if (best == jobs.size()) break;
    ++held[best];
  }
  return held;
}

double total_flow(std::span<const FlowJob> jobs, std::int32_t gpus,
                  std::span<const std::int32_t> first, double q) {
  Rollout rollout(jobs);
  rollout.give(first);
  double total = 0.0;
  while (!rollout.jobs().empty()) {
    const auto present = static_cast<double>(rollout.jobs().size());
    const double seconds = rollout.run();
    total += present * seconds;
    if (std::isinf(total)) return total;
    rollout.give(allocate_by_rank(rollout.jobs(), gpus, q));
  }
  return total;
}

std::vector<std::int32_t> choose_gpus(std::span<const FlowJob> jobs, std::int32_t gpus) {
  constexpr std::array kPowers = {1.0, 2.0, 3.0, 5.0, 10.0, kInfinite};
  std::vector<std::int32_t> held;
  std::int32_t free = gpus;
  for (const FlowJob& job : jobs) {
    held.push_back(job.held);
    free -= job.held;
  }
  BERTH_EXPECT(free >= 0);
  std::vector<std::int32_t> best = held;
  double least = kInfinite;
  const auto offer = [&](const std::vector<std::int32_t>& allocation, double q) {
    const double total = total_flow(jobs, gpus, allocation, q);
    if (total >= least) return;
    least = total;
    best = allocation;
  };
  for (const double q : kPowers) {
    std::vector<std::int32_t> filled = held;
    give_free(jobs, free, q, filled);
    offer(held, q);
    offer(filled, q);
  }
  for (const double q : kPowers) offer(allocate_by_rank(jobs, gpus, q), q);
  return best;
}

}  // namespace berth::papers
