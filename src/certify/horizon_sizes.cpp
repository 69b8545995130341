// SPDX-License-Identifier: Apache-2.0
#include "horizon_sizes.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "berth/base/error.hpp"

namespace berth::certify {
namespace {

using horizon::CapacityStep;
using horizon::Gpus;
using horizon::Problem;
using horizon::SizeFactor;

constexpr std::int64_t kLargestSizeFactor = GangSizes::kMostGpus * horizon::kRentUnit;
constexpr std::int64_t kMostCells = std::int64_t{1} << 28;  ///< sizes x GPUs of a pool

void expect_size(bool holds, const char* why) {
  if (!holds) throw InputError({}, std::string("sizes of the horizon: ") + why);
}

/// Of a worth in 1 / kRentUnit of a GPU, rounded up.
Gpus whole_gpus(std::int64_t worth) {
  return (worth + horizon::kRentUnit - 1) / horizon::kRentUnit;
}

Gpus gpus_of_pool(const Problem& problem, const horizon::Pool& pool) {
  Gpus gpus = 0;
  for (const horizon::Machine& machine : pool.machines.of(problem.machines)) gpus += machine.gpus;
  return gpus;
}

/// Of one pool of the curve.
Gpus most_gpus(const Problem& problem, std::size_t curve) {
  Gpus most = 0;
  for (const horizon::Pool& pool : problem.pools) {
    if (pool.curve.index() != curve) continue;
    most = std::max(most, gpus_of_pool(problem, pool));
    for (const CapacityStep& step : pool.worth) most = std::max(most, whole_gpus(step.gpus));
  }
  return most;
}

}  // namespace

bool pay_for_gpus(const Problem& problem) {
  return std::ranges::all_of(problem.options, [](const horizon::Option& option) {
    return option.rent == horizon::rent_of_gpus(option.gpus, option.share_milli);
  });
}

GangSizes::GangSizes(const Problem& problem, std::span<const SizeFactor> sizes)
    : sizes_(problem.curves), worth_(problem.curves) {
  for (const SizeFactor& size : sizes) {
    expect_size(size.curve < problem.curves, "one of no price curve");
    expect_size(size.gpus > 0, "one has no GPUs");
    expect_size(size.factor >= 0 && (size.factor - 1) / kLargestSizeFactor < size.gpus,
                "a factor is below 0, or beyond 1024 times its GPUs");
    const bool twice = std::ranges::any_of(
        sizes_[size.curve], [&](const SizeFactor& other) { return other.gpus == size.gpus; });
    expect_size(!twice, "one is given twice");
    sizes_[size.curve].push_back(size);
  }
  expect_size(sizes.empty() || pay_for_gpus(problem), "given beside factors of shapes");
  for (std::size_t c = 0; c < sizes_.size(); ++c) {
    if (given(c)) fill(c, most_gpus(problem, c));
  }
}

void GangSizes::fill(std::size_t curve, Gpus gpus) {
  expect_size(std::ssize(sizes_[curve]) <= kMostCells / std::max<Gpus>(1, gpus), "too many");
  std::vector<std::int64_t>& worth = worth_[curve];
  worth.assign(static_cast<std::size_t>(gpus) + 1, 0);
  for (std::size_t n = 1; n < worth.size(); ++n) {
    worth[n] = worth[n - 1];
    for (const SizeFactor& size : sizes_[curve]) {
      const auto taken = static_cast<std::size_t>(size.gpus);
      if (taken <= n) worth[n] = std::max(worth[n], worth[n - taken] + size.factor);
    }
  }
}

std::int64_t GangSizes::rent(std::size_t curve, Gpus gpus) const {
  std::int64_t rent = 0;
  for (const SizeFactor& size : sizes_[curve]) {
    rent = std::max(rent, gpus / size.gpus * size.factor);
  }
  return rent;
}

std::int64_t GangSizes::worth(std::size_t curve, Gpus gpus) const {
  return worth_[curve][static_cast<std::size_t>(std::max<Gpus>(0, gpus))];
}

std::vector<CapacityStep> free_gpus(const Problem& problem, PoolId id) {
  const horizon::Pool& pool = problem.pools[id.index()];
  std::vector<CapacityStep> steps = pool.worth;
  for (CapacityStep& step : steps) step.gpus = whole_gpus(step.gpus);
  if (!steps.empty()) return steps;
  std::map<MachineId, std::vector<const horizon::Outage*>> by_machine;
  for (const horizon::Outage& outage : problem.outages) {
    const bool here = problem.machines[outage.machine.index()].pool == id;
    if (here && outage.to > problem.now) by_machine[outage.machine].push_back(&outage);
  }
  std::map<horizon::Seconds, Gpus> changes{{problem.now, gpus_of_pool(problem, pool)}};
  for (const auto& [machine, outages] : by_machine) {
    std::map<horizon::Seconds, Gpus> closed;
    for (const auto* o : outages) closed[std::max(problem.now, o->from)] = closed[o->to] = 0;
    Gpus before = 0;
    for (auto& [time, gpus] : closed) {
      std::uint64_t devices = 0;
      for (const auto* o : outages) {
        if (o->from <= time && time < o->to) devices |= o->devices;
      }
      gpus = std::popcount(devices);
      changes[time] -= gpus - before;
      before = gpus;
    }
  }
  Gpus free = 0;
  for (const auto& [time, change] : changes) steps.push_back({time, free += change});
  return steps;
}

}  // namespace berth::certify
