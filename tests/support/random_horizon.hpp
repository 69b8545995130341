// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/horizon/problem_builder.hpp"

namespace berth::test {

/// Small random problems in time.
struct RandomHorizon {
  std::uint64_t seed = 1;
  std::size_t jobs = 4;
  horizon::Seconds longest = 6;  ///< duration
  horizon::Seconds span = 12;    ///< releases before half of it; costs change within it
  std::int32_t machines = 2;     ///< of each pool
  std::int32_t gpus = 2;         ///< of a machine
  bool dependencies = false;     ///< most jobs wait for an earlier one
};

enum class HorizonCost : std::uint8_t { flow, table };

class RandomHorizonBuilder {
 public:
  explicit RandomHorizonBuilder(const RandomHorizon& options) : options_(options) {}

  /// Two pools with prices of their own, one outage each; jobs with one or two options.
  horizon::Problem build(HorizonCost kind) {
    horizon::ProblemBuilder builder;
    std::vector<horizon::PoolSetId> sets;
    std::vector<PoolId> pools;
    for (std::int32_t p = 0; p < 2; ++p) {
      pools.push_back(builder.add_pool(horizon::CurveId(p), options_.machines, options_.gpus));
      const horizon::Seconds from = below(options_.span);
      builder.add_outage(MachineId(p * options_.machines), from, from + 1 + below(options_.span));
      sets.push_back(builder.add_pool_set(std::array{pools.back()}));
    }
    sets.push_back(builder.add_pool_set(pools));
    for (std::size_t j = 0; j < options_.jobs; ++j) {
      add_job(builder, sets, kind);
      if (!options_.dependencies || j == 0 || below(4) == 0) continue;
      builder.add_dependency(JobId(j),
                             JobId(static_cast<std::size_t>(below(static_cast<std::int64_t>(j)))));
    }
    return builder.build();
  }

 private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(
        random_below(static_cast<std::uint64_t>(bound), {options_.seed, draws_++}));
  }

  horizon::IndexRange add_cost(horizon::ProblemBuilder& builder, horizon::Seconds release,
                               HorizonCost kind) {
    if (kind == HorizonCost::flow) {
      return builder.add_cost(
          std::array{horizon::flow_cost(release, static_cast<double>(1 + below(4)))});
    }
    // rises to 0: linear, a jump, flat
    const horizon::Seconds first = release + 1 + below(options_.span);
    const horizon::Seconds last = first + 1 + below(options_.span);
    const double worth = static_cast<double>(2 + below(8));
    const double slope = worth / 4.0 / static_cast<double>(first - release);
    return builder.add_cost(std::array{horizon::CostPiece{release, -worth, slope},
                                       horizon::CostPiece{first, -worth / 2.0, 0.0},
                                       horizon::CostPiece{last, 0.0, 0.0}});
  }

  void add_job(horizon::ProblemBuilder& builder, const std::vector<horizon::PoolSetId>& sets,
               HorizonCost kind) {
    const horizon::Seconds release = below(1 + options_.span / 2);
    const bool deadline = below(5) == 0;
    (void)builder.add_job(release, kind == HorizonCost::flow,
                          deadline ? release + 4 * options_.span : horizon::kNever);
    const auto cost = add_cost(builder, release, kind);
    const std::int64_t options = 1 + below(2);
    for (std::int64_t k = 0; k < options; ++k) {
      const auto tasks = static_cast<std::int32_t>(1 + below(options_.machines));
      const auto gpus = static_cast<std::int32_t>(1 + below(options_.gpus));
      builder.add_option(sets[static_cast<std::size_t>(below(3))], 1 + below(options_.longest),
                         std::array{horizon::TaskGroup{tasks, gpus}}, cost);
    }
  }

  RandomHorizon options_;
  std::uint64_t draws_ = 0;
};

inline horizon::Problem random_horizon(const RandomHorizon& options, HorizonCost kind) {
  return RandomHorizonBuilder(options).build(kind);
}

/// Capacity of a pool at a time, from its steps.
inline horizon::Gpus capacity_at(const horizon::Pool& pool, horizon::Seconds t) {
  horizon::Gpus gpus = 0;
  for (const auto& step : pool.capacity) {
    if (step.from <= t) gpus = step.gpus;
  }
  return gpus;
}

/// The least cost of any plan over pools, by enumeration of options, pools and whole-second starts
/// before `latest`. Jobs wait for earlier ones only. O((options x latest)^jobs).
class ExhaustiveHorizon {
 public:
  ExhaustiveHorizon(const horizon::Problem& problem, horizon::Seconds latest)
      : problem_(problem), latest_(latest), ends_(problem.jobs.size(), horizon::kNever) {
    for (const auto& pool : problem.pools) {
      std::vector<horizon::Gpus>& free = free_.emplace_back();
      for (horizon::Seconds t = 0; t < 3 * latest; ++t) free.push_back(capacity_at(pool, t));
    }
  }

  double least_cost() {
    least_ = 1e300;
    place(0, 0.0);
    return least_;
  }

 private:
  void place(std::size_t j, double cost) {
    if (j == problem_.jobs.size()) {
      least_ = std::min(least_, cost);
      return;
    }
    const horizon::Job& job = problem_.jobs[j];
    ends_[j] = horizon::kNever;
    if (!job.required) place(j + 1, cost);
    const horizon::Seconds release = released(JobId(j));
    for (const auto& option : problem_.options_of(job)) {
      for (const PoolId pool : problem_.pools_of(option)) {
        for (horizon::Seconds t = release; t < latest_; ++t) {
          if (t + option.duration > job.deadline || !fits(option, pool, t)) continue;
          take(option, pool, t, option.gpus);
          ends_[j] = t + option.duration;
          place(j + 1, cost + cost_at(problem_.cost_of(option), t + option.duration));
          take(option, pool, t, -option.gpus);
        }
      }
    }
  }
  [[nodiscard]] horizon::Seconds released(JobId job) const {
    horizon::Seconds from = problem_.jobs[job.index()].release;
    for (const auto& pair : problem_.dependencies) {
      if (pair.job == job) from = std::max(from, ends_[pair.after.index()]);
    }
    return from;
  }
  [[nodiscard]] bool fits(const horizon::Option& option, PoolId pool, horizon::Seconds t) const {
    for (horizon::Seconds s = t; s < t + option.duration; ++s) {
      if (free_[pool.index()][static_cast<std::size_t>(s)] < option.gpus) return false;
    }
    return true;
  }
  void take(const horizon::Option& option, PoolId pool, horizon::Seconds t, horizon::Gpus gpus) {
    for (horizon::Seconds s = t; s < t + option.duration; ++s) {
      free_[pool.index()][static_cast<std::size_t>(s)] -= gpus;
    }
  }

  const horizon::Problem& problem_;
  horizon::Seconds latest_;
  std::vector<horizon::Seconds> ends_;            ///< by job
  std::vector<std::vector<horizon::Gpus>> free_;  ///< by pool and second
  double least_ = 0.0;
};

}  // namespace berth::test
