// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/workload.hpp"

/// Bounds of plans by priority. Class k has the value
///
///   v_k = sum over its placed jobs of value less move cost, less the stop cost of its stopped
///   jobs,
///         less the penalties of soft limits (quotas, spare GPUs) that its GPUs add to those of the
///         classes above
///
/// (required jobs use soft limits before all classes). A plan with values V keeps V_i of each class
/// i above k. For any weights w_i > 0, every plan P with v_i(P) >= V_i for i < k has
///
///   v_k(P) <= v_k(P) + sum_{i<k} w_i (v_i(P) - V_i) <= UB(v_k + sum_{i<k} w_i v_i) - sum w_i V_i
///
/// where UB is the bound of bound.hpp on the weighted values, the classes below at weight 0
/// (Lagrangian relaxation of the constraints: Geoffrion 1974). Weights are powers of two, so that
/// weighted values are exact; where there are soft limits they are at least 1, because the bound
/// counts penalties once.
namespace berth::certify {

inline constexpr std::size_t kMostPriorityClasses = 16;
inline constexpr std::int32_t kMostWeightLog2 = 40;  ///< of both signs; a guard

/// Sums over the jobs of one class.
struct ClassSums {
  PlacementSums placed = {};    ///< its placed jobs, less the stop costs of all, without required
  PlacementSums required = {};  ///< its placed required jobs
  std::int64_t jobs_total = 0;

  ClassSums& operator+=(const ClassSums& others);
  [[nodiscard]] std::int64_t jobs_placed() const { return placed.jobs + required.jobs; }
};

template <class Archive>
void describe(Archive& archive, ClassSums& s) {
  for (PlacementSums* sums : {&s.placed, &s.required}) {
    archive(sums->gain, sums->gpu_milli, sums->jobs, sums->quotas, sums->spare);
  }
  archive(s.jobs_total);
}

/// By priority, highest first.
using ClassTable = std::map<std::int32_t, ClassSums, std::greater<>>;

/// Add the sums of all, of some jobs (stop costs; pinned jobs are in no class), and of placements.
void add(const ClassTable& others, ClassTable& table);
void add_jobs(const model::InstanceView& instance, model::Objective kind,
              std::span<const JobId> jobs, ClassTable& table);
void add_placed(const model::InstanceView& instance, model::Objective kind,
                const model::Placement& placement, ClassTable& table);

/// The keys of the table, descending.
std::vector<std::int32_t> priorities_of(const ClassTable& table);

/// v_k of each class from sums over all jobs. @param instance  may lack their records
std::vector<ObjectiveValue> class_values(const model::InstanceView& instance, model::Objective kind,
                                         const ClassTable& table);

/// Weights of all classes in the bound of class `weights_log2.size()`.
std::vector<model::PriorityWeight> class_weights(std::span<const std::int32_t> priorities,
                                                 std::span<const std::int32_t> weights_log2);

/// Why these weights prove nothing; empty when they are usable.
std::string unusable_weights(const model::InstanceView& instance, model::Objective kind,
                             std::span<const std::int32_t> weights_log2);

/// Those of the jobs that count in the bound of the class of this priority: jobs of the class and
/// above, and required jobs. Ascending.
std::vector<JobId> jobs_of_class(const model::WorkloadView& workload, std::span<const JobId> jobs,
                                 std::int32_t priority);

/// UB_k, rounded up.
/// @param weighted  the bound of bound.hpp of jobs_of_class at class_weights
/// @param values    of all classes
double class_bound(const Bound& weighted, std::span<const ObjectiveValue> values,
                   std::span<const std::int32_t> weights_log2);

}  // namespace berth::certify
