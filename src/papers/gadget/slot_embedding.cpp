// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/gadget/slot_embedding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "berth/base/assert.hpp"

namespace berth::papers::gadget {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// A larger ring of a job.
struct Step {
  double log_density = kNone;  ///< logarithm of utility per GPU
  std::size_t job = 0;
  std::int32_t to = 0;  ///< workers

  bool operator<(const Step& other) const {
    return std::tuple(log_density, other.job) < std::tuple(other.log_density, job);
  }
};

/// The best step from so many workers to at most that many.
Step best_step(const SlotJob& job, std::size_t position, std::int32_t has, std::int32_t most) {
  Step best{.job = position, .to = has};
  for (std::int32_t to = has + 1; to <= most; ++to) {
    const double log_density =
        job.job->log_gain(job.done + has, to - has) - std::log(static_cast<double>(to - has));
    if (log_density > best.log_density) best = {log_density, position, to};
  }
  return best;
}

}  // namespace

std::int32_t SlotJob::most() const {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(job->budget - done, 0, std::int64_t{job->most}));
}

bool SlotEmbedding::set(std::size_t job, std::int32_t workers) {
  const double bandwidth = jobs_[job].job->bandwidth;
  network_.release(rings_[job], bandwidth);
  Ring ring = network_.embed(workers, bandwidth);
  const bool fitted = !ring.empty();
  if (fitted) rings_[job] = std::move(ring);
  network_.take(rings_[job], bandwidth);
  return fitted;
}

void SlotEmbedding::grow() {
  std::priority_queue<Step> steps;
  const auto push = [&](std::size_t j, std::int32_t most) {
    if (const Step step = best_step(jobs_[j], j, workers(j), most); step.log_density > kNone)
      steps.push(step);
  };
  std::vector<std::int32_t> most;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    most.push_back(jobs_[j].most());
    push(j, most[j]);
  }
  while (!steps.empty() && free_gpus() > 0) {
    const Step step = steps.top();
    steps.pop();
    if (!set(step.job, step.to)) most[step.job] = step.to - 1;
    push(step.job, most[step.job]);
  }
}

std::vector<Ring> slot_greedy(const RingCluster& cluster, std::span<const SlotJob> jobs) {
  SlotEmbedding slot(cluster, jobs);
  slot.grow();
  return slot.take_rings();
}

double slot_optimum(std::span<const SlotJob> jobs, std::int64_t gpus) {
  BERTH_EXPECT(gpus >= 0);
  std::vector<double> best(static_cast<std::size_t>(gpus) + 1, 0.0);
  for (const SlotJob& job : jobs) {
    std::vector<double> gain;
    for (std::int32_t k = 0; k <= job.most(); ++k) gain.push_back(job.gain(k));
    for (std::size_t room = best.size(); room-- > 0;) {
      for (std::size_t k = 1; k < gain.size() && k <= room; ++k)
        best[room] = std::max(best[room], best[room - k] + gain[k]);
    }
  }
  return best.back();
}

double slot_gain(std::span<const SlotJob> jobs, std::span<const Ring> rings) {
  double sum = 0.0;
  for (std::size_t j = 0; j < jobs.size(); ++j) sum += jobs[j].gain(workers_of(rings[j]));
  return sum;
}

}  // namespace berth::papers::gadget
