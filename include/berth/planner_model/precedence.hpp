// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::planner_model {

/// The order in which jobs are served wherever a search's own key (size, regret, start) ties:
/// required jobs first, then by value density, priority, arrival, id. Ascending: a job that
/// compares less is placed first and evicted last. A strict total order, since ids are unique and
/// densities are numbers. Trivially copyable.
struct Precedence {
  bool required = false;
  double density = 0.0;  ///< value per unit of cost, see `value_density`; never NaN
  std::int32_t priority = 0;
  std::int64_t arrival = 0;  ///< seconds
  JobId job;

  friend std::partial_ordering operator<=>(const Precedence& a, const Precedence& b) {
    return std::tuple(b.required, b.density, b.priority, a.arrival, a.job) <=>
           std::tuple(a.required, a.density, a.priority, b.arrival, b.job);
  }
  bool operator==(const Precedence&) const = default;
};

/// Value per GPU thousandth of all tasks; for a job without GPUs per CPU thousandth; the value
/// itself for a job with neither. O(task groups)
double value_density(const model::WorkloadView& workload, const model::Job& job, double value);

/// Precedence of a job with a density by the caller's measure of value and cost.
/// @param density  not NaN
Precedence precedence(const model::WorkloadView& workload, JobId job, double density);
/// Precedence by the job's best value anywhere in the cluster. O(GPU types + task groups)
Precedence precedence(const Valuation& valuation, JobId job);

/// By position in `jobs`: the number of jobs with higher precedence. Loops compare these integers
/// instead of keys. O(jobs log jobs)
std::vector<std::uint32_t> precedence_ranks(const Valuation& valuation,
                                            std::span<const JobId> jobs);

/// Sorts by precedence. O(jobs log jobs)
void sort_by_precedence(const Valuation& valuation, std::vector<JobId>& jobs);

}  // namespace berth::planner_model
