// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"
#include "berth/base/random.hpp"
#include "berth/papers/ones_schedule.hpp"

namespace berth::papers {
namespace {

/// Stages of draws.
enum EvolutionStage : std::uint64_t { kPick, kSwap, kDrop };

const OnesView& view_of(const OnesJobs& jobs, std::int32_t job) {
  return jobs.views[static_cast<std::size_t>(job)];
}

/// Frees the last GPUs of jobs that have more than their limit.
void cut(OnesSchedule& schedule, const OnesJobs& jobs) {
  std::vector<std::int32_t> held(jobs.views.size());
  for (std::int32_t& job : schedule) {
    if (job == kFreeGpu) continue;
    std::int32_t& gpus = held[static_cast<std::size_t>(job)];
    if (gpus == view_of(jobs, job).limit) {
      job = kFreeGpu;
    } else {
      ++gpus;
    }
  }
}

/// Gives free GPUs to jobs, from the first one on.
class FreeGpus {
 public:
  FreeGpus(OnesSchedule& schedule, std::size_t jobs)
      : schedule_(schedule), held_(gpus_by_job(schedule, jobs)) {}

  [[nodiscard]] std::int32_t held(std::int32_t job) const {
    return held_[static_cast<std::size_t>(job)];
  }
  void raise(std::int32_t job, std::int32_t to) {
    for (; next_ < schedule_.size() && held(job) < to; ++next_) {
      if (schedule_[next_] != kFreeGpu) continue;
      schedule_[next_] = job;
      ++held_[static_cast<std::size_t>(job)];
    }
  }

 private:
  OnesSchedule& schedule_;
  std::vector<std::int32_t> held_;
  std::size_t next_ = 0;
};

/// Seconds left on one GPU; jobs without score come last.
double seconds_alone(const OnesView& view) {
  if (!view.predicted) return std::numeric_limits<double>::infinity();
  return view.remaining / view.throughput[1];
}

}  // namespace

std::vector<std::int32_t> gpus_by_job(const OnesSchedule& schedule, std::size_t jobs) {
  std::vector<std::int32_t> gpus(jobs);
  for (const std::int32_t job : schedule) {
    if (job != kFreeGpu) ++gpus[static_cast<std::size_t>(job)];
  }
  return gpus;
}

void refresh(OnesSchedule& schedule, const OnesJobs& jobs) { cut(schedule, jobs); }

void cross(OnesSchedule& a, OnesSchedule& b, const OnesJobs& jobs, double probability,
           const OnesKey& key) {
  BERTH_EXPECT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (random_unit({key.seed, kSwap, key.generation, key.member, i}) < probability)
      std::swap(a[i], b[i]);
  }
  cut(a, jobs);
  cut(b, jobs);
}

void mutate(OnesSchedule& schedule, const OnesJobs& jobs, double probability, const OnesKey& key) {
  const auto dropped = [&](std::int32_t job) {
    return job != kFreeGpu && view_of(jobs, job).predicted &&
           random_unit({key.seed, kDrop, key.generation, key.member,
                        static_cast<std::uint64_t>(job)}) < probability;
  };
  std::ranges::replace_if(schedule, dropped, kFreeGpu);
}

void pad(OnesSchedule& schedule, const OnesJobs& jobs) {
  FreeGpus free(schedule, jobs.views.size());
  for (const std::int32_t job : jobs.active) {
    if (!view_of(jobs, job).predicted) free.raise(job, std::min(1, view_of(jobs, job).limit));
  }
  std::vector<std::int32_t> order(jobs.active.begin(), jobs.active.end());
  std::ranges::stable_sort(order, {},
                           [&](std::int32_t job) { return seconds_alone(view_of(jobs, job)); });
  for (const std::int32_t job : order) free.raise(job, view_of(jobs, job).offered);
  for (const std::int32_t job : order) free.raise(job, view_of(jobs, job).limit);
}

double score(const OnesSchedule& schedule, const OnesJobs& jobs) {
  const auto gpus = gpus_by_job(schedule, jobs.views.size());
  double sum = 0.0;
  for (const std::int32_t job : jobs.active) {
    const std::int32_t held = gpus[static_cast<std::size_t>(job)];
    const OnesView& view = view_of(jobs, job);
    if (held == 0 || !view.predicted) continue;
    sum += held * view.remaining / view.throughput[static_cast<std::size_t>(held)];
  }
  return sum;
}

namespace {

/// Refreshed parents, then their children, then their mutants.
std::vector<OnesSchedule> candidates_of(std::vector<OnesSchedule> population, const OnesJobs& jobs,
                                        const OnesEvolution& options, OnesKey key) {
  const std::size_t size = population.size();
  for (OnesSchedule& schedule : population) refresh(schedule, jobs);
  std::vector<OnesSchedule> all = population;
  all.reserve(3 * size);
  for (key.member = 0; all.size() < 2 * size; ++key.member) {
    const auto pick = [&](std::uint64_t which) {
      return random_below(size, {key.seed, kPick, key.generation, key.member, which});
    };
    OnesSchedule a = population[pick(0)], b = population[pick(1)];
    cross(a, b, jobs, options.crossover, key);
    all.push_back(std::move(a));
    if (all.size() < 2 * size) all.push_back(std::move(b));
  }
  for (key.member = 0; key.member < size; ++key.member) {
    all.push_back(population[key.member]);
    mutate(all.back(), jobs, options.mutation, key);
  }
  for (OnesSchedule& schedule : all) pad(schedule, jobs);
  return all;
}

}  // namespace

void check(const OnesEvolution& options) {
  expect_option("ones: population", static_cast<double>(options.population), at_least(1.0));
  expect_option("ones: crossover", options.crossover, {.least = 0.0, .most = 1.0});
  expect_option("ones: mutation", options.mutation, {.least = 0.0, .most = 1.0});
}

void evolve(std::vector<OnesSchedule>& population, const OnesJobs& jobs,
            const OnesSchedule& current, const OnesEvolution& options, const OnesKey& key) {
  check(options);
  population.resize(options.population, OnesSchedule(current.size(), kFreeGpu));
  std::vector<OnesSchedule> all = candidates_of(std::move(population), jobs, options, key);
  std::vector<double> scores;
  for (const OnesSchedule& schedule : all) scores.push_back(score(schedule, jobs));
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scores[i]; });
  // the score depends on the numbers of GPUs alone, so only what stays need be ordered
  population.clear();
  for (std::size_t i = 0; i < options.population; ++i)
    population.push_back(reorder(all[order[i]], current));
}

}  // namespace berth::papers
