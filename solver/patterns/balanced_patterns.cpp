// SPDX-License-Identifier: Apache-2.0
#include "balanced_patterns.hpp"

#include "partial_fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::solver {
namespace {

constexpr std::size_t kAmounts = model::kResources + 1;  ///< resources, then GPUs
using Amounts = std::array<double, kAmounts>;            ///< by resource, then GPUs

Amounts room_of(const BinType& bin) {
  Amounts room{};
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (bin.room[r] != model::kNoLimit) room[r] = static_cast<double>(bin.room[r]);
  }
  room.back() = static_cast<double>(bin.milli());
  return room;
}

Amounts needs_of(const model::Shape& shape) {
  Amounts needs{};
  for (std::size_t r = 0; r < model::kResources; ++r) {
    needs[r] = static_cast<double>(shape.needs[r]);
  }
  needs.back() = static_cast<double>(shape.total_milli());
  return needs;
}

/// Of all machines with supply.
Amounts amounts_of(const PackingProblem& problem, const ResidualProblem& residual) {
  Amounts sum{};
  for (std::size_t s = 0; s < problem.bins.size(); ++s) {
    const Amounts room = room_of(problem.bins[s]);
    for (std::size_t r = 0; r < kAmounts; ++r) {
      sum[r] += room[r] * static_cast<double>(residual.supply[s]);
    }
  }
  return sum;
}

class BalancedPacking {
 public:
  BalancedPacking(const PackingProblem& problem, ResidualProblem residual)
      : problem_(problem), residual_(std::move(residual)) {
    const Amounts supplied = amounts_of(problem, residual_);
    Amounts asked{};
    for (std::size_t t = 0; t < problem.types.size(); ++t) {
      needs_.push_back(needs_of(problem.types[t].shape));
      for (std::size_t r = 0; r < kAmounts; ++r) {
        asked[r] += needs_.back()[r] * static_cast<double>(residual_.demand[t]);
      }
    }
    for (std::size_t r = 0; r < kAmounts; ++r) {
      weight_[r] = supplied[r] > 0.0 ? asked[r] / supplied[r] : 0.0;
    }
  }

  Usage run() {
    Usage usage;
    for (std::size_t s = 0; s < problem_.bins.size(); ++s) {
      open_.clear();
      for (std::size_t t = 0; t < problem_.types.size(); ++t) {
        if (fits(problem_.types[t], problem_.bins[s])) open_.push_back(t);
      }
      while (residual_.supply[s] > 0) {
        MachinePattern p = filled(s);
        if (p.tasks.empty()) break;
        const std::int64_t copies = copies_within(residual_, p);
        take(residual_, p, copies);
        usage.push_back({std::move(p), copies});
      }
    }
    return usage;
  }

 private:
  /// Squared length of the unused room after a task.
  [[nodiscard]] double unused(const Amounts& room, const Amounts& empty, std::size_t type) const {
    double sum = 0.0;
    for (std::size_t r = 0; r < kAmounts; ++r) {
      if (empty[r] <= 0.0) continue;
      const double left = (room[r] - needs_[type][r]) / empty[r];
      sum += weight_[r] * left * left;
    }
    return sum;
  }

  MachinePattern filled(std::size_t bin) {
    const Amounts empty = room_of(problem_.bins[bin]);
    Amounts room = empty;
    PartialFill machine(problem_.bins[bin]);
    std::vector<TypeCount> tasks;
    std::erase_if(open_, [&](std::size_t t) { return residual_.demand[t] <= 0; });
    while (const std::optional<std::size_t> best = next_task(machine, tasks, room, empty)) {
      machine.put(static_cast<std::int32_t>(*best), problem_.types[*best].shape);
      for (std::size_t r = 0; r < kAmounts; ++r) room[r] -= needs_[*best][r];
      const auto same =
          std::ranges::find(tasks, static_cast<std::int32_t>(*best), &TypeCount::type);
      if (same == tasks.end()) {
        tasks.push_back({static_cast<std::int32_t>(*best), 1});
      } else {
        ++same->count;
      }
    }
    return std::move(machine).pattern(bin, std::move(tasks));
  }

  /// The open job type of which one more task fits and leaves the shortest vector; ties: the first.
  [[nodiscard]] std::optional<std::size_t> next_task(const PartialFill& machine,
                                                     std::span<const TypeCount> tasks,
                                                     const Amounts& room,
                                                     const Amounts& empty) const {
    std::optional<std::size_t> best;
    double least = 0.0;
    for (const std::size_t t : open_) {
      if (!machine.admits(problem_.types[t].shape)) continue;
      const auto same = std::ranges::find(tasks, static_cast<std::int32_t>(t), &TypeCount::type);
      if (same != tasks.end() && same->count >= residual_.demand[t]) continue;
      const double left = unused(room, empty, t);
      if (best && left >= least) continue;
      best = t;
      least = left;
    }
    return best;
  }

  const PackingProblem& problem_;
  ResidualProblem residual_;
  std::vector<Amounts> needs_;  ///< by job type
  Amounts weight_{};
  std::vector<std::size_t> open_;  ///< job types with demand that fit the current bin type
};

/// Admits required tasks, then those of largest value for their `part` of the amounts of all
/// machines, as many as no amount forbids. Returns their value too, scaled.
template <class Part>
std::pair<ResidualProblem, double> admitted(const PackingProblem& problem, ResidualProblem residual,
                                            Part&& part) {
  Amounts left = amounts_of(problem, residual);
  const Amounts all = left;
  std::vector<std::tuple<bool, double, std::size_t>> order;
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    const JobType& type = problem.types[t];
    Amounts parts = needs_of(type.shape);
    for (std::size_t r = 0; r < kAmounts; ++r) parts[r] = all[r] > 0.0 ? parts[r] / all[r] : 0.0;
    const double value = *std::ranges::max_element(type.value) - type.reward;
    const double of_all = part(parts);
    order.emplace_back(type.reward <= 0.0, of_all > 0.0 ? -value / of_all : -kInfinity, t);
  }
  std::ranges::sort(order);
  double worth = 0.0;
  for (const auto& [optional, density, t] : order) {
    const JobType& type = problem.types[t];
    const Amounts needs = needs_of(type.shape);
    auto most = static_cast<double>(residual.demand[t]);
    for (std::size_t r = 0; r < kAmounts; ++r) {
      if (all[r] <= 0.0 || needs[r] <= 0.0) continue;
      most = std::min(most, std::max(0.0, std::floor(left[r] / needs[r])));
    }
    residual.demand[t] = static_cast<std::int64_t>(most);
    worth += most * *std::ranges::max_element(type.value);
    for (std::size_t r = 0; r < kAmounts; ++r) left[r] -= most * needs[r];
  }
  return {std::move(residual), worth};
}

}  // namespace

Usage balanced_patterns(const PackingProblem& problem, ResidualProblem residual) {
  return BalancedPacking(problem, std::move(residual)).run();
}

ResidualProblem most_valuable(const PackingProblem& problem, const ResidualProblem& residual) {
  const auto part_of_gpus = [](const Amounts& part) { return part.back(); };
  const auto largest_part = [](const Amounts& part) { return *std::ranges::max_element(part); };
  auto [by_gpus, worth] = admitted(problem, residual, part_of_gpus);
  auto [by_part, other] = admitted(problem, residual, largest_part);
  return std::move(worth >= other ? by_gpus : by_part);
}

}  // namespace berth::solver
