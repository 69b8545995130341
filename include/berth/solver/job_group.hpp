// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/job.hpp"
#include "berth/planner_model/limit_groups.hpp"
#include "berth/planner_model/task_profile.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Tasks that are placed on one machine together: one task, or all tasks of a gang that must be on
/// one machine and takes whole GPUs or none.
struct TaskBundle {
  planner_model::TaskProfile tasks;  ///< ascending shape, each once
  model::Shape total;                ///< what all these tasks take together

  bool operator==(const TaskBundle&) const = default;
};

template <class Archive>
void describe(Archive& archive, TaskBundle& bundle) {
  archive(bundle.tasks, bundle.total);
}

/// Jobs that a relaxation counts instead of distinguishing: equal tasks and equal values. The key
/// without the count; ascending in the member order below.
struct JobGroup {
  struct Option {
    GpuTypeId type;      ///< invalid: a job without GPUs, on any machine that its tasks may use
    double value = 0.0;  ///< largest value of the job there; > 0 unless required
    /// Least use of limits: position of its price in LimitGroups, ascending, and amount > 0.
    std::vector<std::pair<std::uint32_t, double>> loads = {};
    auto operator<=>(const Option&) const = default;
  };
  planner_model::TaskProfile tasks;  ///< of one job; ascending shape, each once
  bool together = false;             ///< its tasks are one TaskBundle
  bool required = false;
  std::vector<Option> options;  ///< ascending type; not empty

  std::partial_ordering operator<=>(const JobGroup&) const = default;
  bool operator==(const JobGroup&) const = default;
};

template <class Archive>
void describe(Archive& archive, JobGroup::Option& option) {
  archive(option.type, option.value, option.loads);
}

template <class Archive>
void describe(Archive& archive, JobGroup& group) {
  archive(group.tasks, group.together, group.required, group.options);
}

/// Finds the group of a job. Reads the records of the jobs it is asked for and nothing else, so
/// every rank finds equal groups. Holds references.
class JobGrouping {
 public:
  /// O(machines)
  /// @param limits  whose use options list; null: none
  /// @param value_bits  leading binary digits of values that distinguish jobs, 1 .. 53; the others
  ///                    are cut off. 53: exact
  JobGrouping(const planner_model::Valuation& valuation, int value_bits = 53,
              const planner_model::LimitGroups* limits = nullptr);

  /// The group of a planned job. Without options when it has no value anywhere or no GPU type of
  /// its list holds it. O(task groups x GPU types).
  [[nodiscard]] JobGroup operator()(JobId job) const;

  [[nodiscard]] int value_bits() const { return value_bits_; }

 private:
  [[nodiscard]] std::optional<double> value_on(JobId job, GpuTypeId type, model::Level width) const;
  [[nodiscard]] model::Level narrowest(JobId job, GpuTypeId type) const;
  [[nodiscard]] std::vector<std::pair<std::uint32_t, double>> loads_on(JobId job, GpuTypeId type,
                                                                       model::Level width) const;

  const planner_model::Valuation& valuation_;
  int value_bits_;
  const planner_model::LimitGroups* limits_;  ///< null: none
  /// By slot and level: most free GPU thousandths of one domain of that level.
  std::vector<std::array<std::int64_t, model::kLevels>> largest_domain_;
};

/// `group` with its values cut to fewer leading binary digits.
JobGroup rounded(JobGroup group, int value_bits);

/// Job groups with their numbers of jobs, ascending group, each once.
using JobCounts = std::vector<std::pair<JobGroup, std::int64_t>>;
/// Sorts and merges equal groups. O(groups log groups)
void merge_equal(JobCounts& counts);

}  // namespace berth::solver
