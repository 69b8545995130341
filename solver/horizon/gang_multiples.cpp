// SPDX-License-Identifier: Apache-2.0
#include "horizon/gang_multiples.hpp"

#include "horizon/gang_sizes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CapacityStep;
using berth::horizon::CurveId;
using berth::horizon::Gpus;
using berth::horizon::in_multiples;
using berth::horizon::MultipleLimit;
using berth::horizon::MultipleOfGpus;
using berth::horizon::Option;
using berth::horizon::Pool;
using berth::horizon::Problem;
using berth::horizon::Seconds;
using berth::horizon::SizeFactor;

/// GPUs of the pools of the curve in whole multiples, at every time at which one of them changes.
std::vector<CapacityStep> steps_of(const Problem& problem, std::size_t curve, Gpus unit) {
  std::map<Seconds, Gpus> changes;
  for (const Pool& pool : problem.pools) {
    if (pool.curve.index() != curve) continue;
    Gpus before = 0;
    for (const CapacityStep& step : free_gpus(pool)) {
      const Gpus now = in_multiples(step.gpus, unit);
      changes[step.from] += now - before;
      before = now;
    }
  }
  std::vector<CapacityStep> steps;
  Gpus gpus = 0;
  for (const auto& [time, change] : changes) steps.push_back({time, gpus += change});
  return steps;
}

/// GPU-seconds of all options by size.
using WorkBySize = std::map<Gpus, double>;

/// The work that a cut by `unit` counts, over what it leaves of a pool: above 1 it says more than
/// the capacity if all sizes ran at all times.
double strength(const WorkBySize& work, Gpus unit, Gpus pool) {
  double all = 0.0, counted = 0.0;
  for (const auto& [gpus, seconds] : work) {
    all += seconds;
    counted += seconds * static_cast<double>(in_multiples(gpus, unit)) / static_cast<double>(gpus);
  }
  return counted / all * static_cast<double>(pool) / static_cast<double>(in_multiples(pool, unit));
}

std::vector<Gpus> best_units(const WorkBySize& work, Gpus pool) {
  constexpr std::size_t kMost = 3;      // each is a curve of prices
  constexpr double kLeastPart = 0.002;  // of the pool that is left unused
  std::vector<std::pair<double, Gpus>> units;
  for (const auto& [gpus, seconds] : work) {
    if (gpus > pool) continue;
    const double unused = static_cast<double>(pool - in_multiples(pool, gpus));
    if (unused < kLeastPart * static_cast<double>(pool)) continue;
    units.emplace_back(-strength(work, gpus, pool), gpus);
  }
  std::ranges::sort(units);
  std::vector<Gpus> best;
  for (std::size_t i = 0; i < std::min(kMost, units.size()); ++i) best.push_back(units[i].second);
  return best;
}

}  // namespace

std::vector<MultipleOfGpus> multiples_of_gangs(const Problem& problem) {
  if (!has_few_large_gangs(problem) || !pays_for_gpus(problem)) return {};
  const std::vector<Gpus> largest = largest_pools(problem);
  std::vector<WorkBySize> work(problem.curves);
  for (const auto& job : problem.jobs) {
    for (const Option& option : problem.options_of(job)) {
      if (problem.pools_of(option).empty() || option.gpus == 0) continue;
      work[curve_of(problem, option)][option.gpus] +=
          static_cast<double>(option.gpus) * static_cast<double>(option.duration);
    }
  }
  std::vector<MultipleOfGpus> multiples;
  for (std::size_t c = 0; c < problem.curves; ++c) {
    for (const Gpus unit : best_units(work[c], largest[c])) multiples.push_back({c, unit});
  }
  return multiples;
}

Problem with_multiples(Problem problem, std::span<const MultipleOfGpus> multiples) {
  for (const MultipleOfGpus& of : multiples) {
    problem.multiples.push_back({.curve = CurveId(of.curve),
                                 .gpus = of.gpus,
                                 .capacity = steps_of(problem, of.curve, of.gpus)});
  }
  return problem;
}

Problem with_rents(const Problem& problem, std::span<const SizeFactor> sizes,
                   std::span<const MultipleOfGpus> multiples) {
  return with_gang_sizes(with_multiples(problem, multiples), sizes);
}

}  // namespace berth::solver::horizon_plan
