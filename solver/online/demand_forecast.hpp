// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/task_profile.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// Jobs of one demand class can take each other's place; they may differ in value.
using DemandClass = std::size_t;

/// The jobs that have arrived, as a mix that is expected to go on.
class DemandForecast {
 public:
  explicit DemandForecast(const planner_model::Valuation& valuation) : valuation_(&valuation) {}

  /// A job has arrived. Classes are numbered as they turn up.
  DemandClass observe(JobId job);

  [[nodiscard]] std::size_t classes() const { return members_.size(); }
  [[nodiscard]] std::int64_t jobs() const { return jobs_; }
  [[nodiscard]] std::int64_t milli() const { return milli_; }  ///< GPU thousandths they ask for
  [[nodiscard]] DemandClass demand_class(JobId job) const;     ///< @pre it has been seen
  [[nodiscard]] JobId first(DemandClass demand_class) const {
    return members_[demand_class].front();
  }
  [[nodiscard]] const model::Shape& shape(DemandClass demand_class) const;

  /// Jobs seen that stand for `milli` GPU thousandths of the mix and for `arrived[class]` more
  /// jobs, less `reserved[class]`, each as often as it is expected. Jobs worth nothing are left
  /// out.
  [[nodiscard]] std::vector<JobId> expected(double milli, std::span<const std::int64_t> arrived,
                                            std::span<const std::int64_t> reserved) const;

  /// An instance with these jobs alone (JobId = position in `jobs`) on the same cluster. Shapes are
  /// numbered as they turn up, so nothing depends on jobs that are yet to come.
  [[nodiscard]] model::Instance instance(std::span<const JobId> jobs) const;

 private:
  using Key = std::tuple<planner_model::TaskProfile, std::uint64_t, std::uint32_t, bool>;

  [[nodiscard]] Key key(JobId job) const;

  const planner_model::Valuation* valuation_;
  std::map<Key, DemandClass> class_of_;
  std::vector<std::vector<JobId>> members_;  ///< by demand class, in order of arrival
  std::int64_t jobs_ = 0;
  std::int64_t milli_ = 0;
};

/// The only task of a job.
const model::Shape& shape_of(const model::Workload& workload, JobId job);

}  // namespace berth::solver
