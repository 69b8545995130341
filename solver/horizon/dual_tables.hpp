// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon/smoothed_dual.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/horizon/problem.hpp"

namespace berth::solver::horizon_plan {

/// What the sums over some classes of a dual need: jobs, options and costs, no machines.
struct DualTables {
  berth::horizon::Problem problem;  ///< a job is a class
  PriceGrid grid;
  std::vector<std::int64_t> counts;  ///< by class
  std::vector<double> ranges;        ///< by class
  DualScale scale;
};

/// The tables of these classes. O(options + pieces of cost).
DualTables tables_of(const berth::horizon::Problem& problem, const PriceGrid& grid,
                     std::span<const NearlyEqualJobs> classes, std::span<const double> ranges,
                     const DualScale& scale);

std::string bytes_of(const DualTables& tables);
DualTables tables_from(std::string_view bytes);

}  // namespace berth::solver::horizon_plan
