// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "berth/model/workload.hpp"

namespace berth::model {

/// The quantity that a plan maximises: the sum of the values of placed jobs, less the costs of
/// stopping running jobs. Values are positions in `kObjectives`.
enum class Objective : std::uint8_t {
  value,     ///< values of the jobs file
  allocate,  ///< GPU thousandths placed
};

/// Properties of an objective, except the base value, which the judge computes itself.
struct ObjectiveTraits {
  std::string_view name;       ///< `--objective`, and `objective_kind` of plan files
  std::string_view maximises;  ///< description for --help
  /// The planner's value of a job before factors; not negative.
  double (*base)(const WorkloadView& workload, const Job& job);
  bool factors;    ///< speed, home and width multiply the base; otherwise the base is the value
  bool costs;      ///< costs of moves and stops and penalties of soft quotas count
  bool gpu_milli;  ///< measured in GPU thousandths: the cluster's total is an upper bound
};

inline constexpr std::array kObjectives = {
    ObjectiveTraits{.name = "value",
                    .maximises = "the value of the jobs placed",
                    .base =
                        [](const WorkloadView& workload, const Job& job) {
                          if (!std::isnan(job.value)) return job.value;
                          return job.weight * static_cast<double>(workload.gpu_milli(job)) / 1000.0;
                        },
                    .factors = true,
                    .costs = true,
                    .gpu_milli = false},
    ObjectiveTraits{
        .name = "allocate",
        .maximises = "GPUs in use",
        .base = [](const WorkloadView& workload,
                   const Job& job) { return static_cast<double>(workload.gpu_milli(job)); },
        .factors = false,
        .costs = false,
        .gpu_milli = true},
};

/// The names of all objectives, in the order of the table.
inline constexpr auto kObjectiveNames = [] {
  std::array<std::string_view, kObjectives.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kObjectives[i].name;
  return names;
}();

constexpr const ObjectiveTraits& traits(Objective objective) {
  return kObjectives[static_cast<std::size_t>(objective)];
}

constexpr std::string_view to_string(Objective objective) { return traits(objective).name; }

/// The objective of this name, or empty.
constexpr std::optional<Objective> parse_objective(std::string_view name) {
  for (std::size_t i = 0; i < kObjectives.size(); ++i) {
    if (kObjectives[i].name == name) return static_cast<Objective>(i);
  }
  return std::nullopt;
}

}  // namespace berth::model
