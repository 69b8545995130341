// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/budgets.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"

namespace berth::horizon {

/// Free capacity of all pools over time: what planners and policies search and reserve.
class Timeline {
 public:
  Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  virtual ~Timeline() = default;

  /// Earliest t >= from at which the option can run in the pool; kNever when there is none.
  [[nodiscard]] Seconds earliest_start(const Option& option, PoolId pool, Seconds from) {
    return earliest_until(option, pool, from, kNever);
  }
  /// The same when a start after `until` is of no use: kNever then.
  [[nodiscard]] virtual Seconds earliest_until(const Option& option, PoolId pool, Seconds from,
                                               Seconds until) = 0;

  /// A start in start .. latest on a machine whose other jobs end when this one ends, if there is
  /// such a choice, so that machines become free as a whole. @pre start from earliest_until
  /// @param delay_weight  seconds between the ends that a second of delay counts as
  [[nodiscard]] virtual Seconds suited_start(const Option&, PoolId, Seconds start,
                                             Seconds /*latest*/, double /*delay_weight*/) {
    return start;
  }

  /// GPUs of the pool that are free at `time`: no option with more can start then. O(log).
  [[nodiscard]] virtual Gpus free_at(PoolId pool, Seconds time) const = 0;

  /// True when `retake` of these shares would take free capacity only.
  [[nodiscard]] virtual bool fits(const Option& option, PoolId pool, Seconds start,
                                  const std::vector<TaskShare>& shares) const = 0;

  /// Reserves the option's GPUs from `start` on and appends its shares, if the timeline knows
  /// machines (without devices: `assign_devices` adds them). @pre start from earliest_start
  virtual void reserve(const Option& option, PoolId pool, Seconds start,
                       std::vector<TaskShare>& shares) = 0;

  /// Returns what `reserve` took.
  virtual void release(const Option& option, PoolId pool, Seconds start,
                       const std::vector<TaskShare>& shares) = 0;

  /// Reserves again exactly what was released.
  virtual void retake(const Option& option, PoolId pool, Seconds start,
                      const std::vector<TaskShare>& shares) = 0;
};

/// A job that was taken out of a plan, so that it can be put back where it was.
struct RemovedJob {
  JobId job;
  JobStart start;
  std::vector<TaskShare> shares;
};

/// A plan under construction together with the capacity that it leaves.
class PlanBuilder {
 public:
  PlanBuilder(const Problem& problem, Timeline& timeline)
      : problem_(problem),
        timeline_(timeline),
        budgets_(problem),
        starts_(problem.jobs.size()),
        shares_(problem.jobs.size()) {}

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] Timeline& timeline() const { return timeline_; }
  [[nodiscard]] const BudgetsLeft& budgets() const { return budgets_; }
  [[nodiscard]] const JobStart& start_of(JobId job) const { return starts_[job.index()]; }
  [[nodiscard]] Seconds end_of(JobId job) const;
  [[nodiscard]] double cost_of(JobId job) const;  ///< of its completion; 0 while it waits

  /// @pre the job waits; start.start from the timeline's earliest_start; budgets allow it
  void place(JobId job, const JobStart& start);
  RemovedJob remove(JobId job);      ///< @pre the job is placed
  void restore(RemovedJob removed);  ///< @pre its GPUs are free again
  /// Places the waiting job with these shares, if its capacity is free.
  bool restore_if_free(RemovedJob job);

  [[nodiscard]] Plan plan() const;  ///< O(jobs + shares)

 private:
  [[nodiscard]] const Option& option_of(JobId job) const;

  const Problem& problem_;
  Timeline& timeline_;
  BudgetsLeft budgets_;
  std::vector<JobStart> starts_;
  std::vector<std::vector<TaskShare>> shares_;  ///< by JobId
};

}  // namespace berth::horizon
