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

/// Jobs of one demand class may use each other's reservations; their values may differ.
using DemandClass = std::size_t;

/// The jobs that have arrived, as a mix that is expected to continue.
class DemandForecast {
 public:
  explicit DemandForecast(const planner_model::Valuation& valuation) : valuation_(&valuation) {}

  /// Adds an arrived job. Classes are numbered in order of first arrival.
  DemandClass observe(JobId job);

  [[nodiscard]] std::size_t classes() const { return members_.size(); }
  [[nodiscard]] std::int64_t jobs() const { return jobs_; }
  [[nodiscard]] std::int64_t milli() const { return milli_; }  ///< GPU thousandths of these jobs
  [[nodiscard]] DemandClass demand_class(JobId job) const;     ///< @pre the job was observed
  [[nodiscard]] JobId first(DemandClass demand_class) const {
    return members_[demand_class].front();
  }
  [[nodiscard]] const model::Shape& shape(DemandClass demand_class) const;

  /// Representatives of the expected jobs, each as often as it is expected: `milli` GPU thousandths
  /// of the mix, plus `arrived[class]` jobs, less `reserved[class]` jobs. Without jobs of value 0.
  [[nodiscard]] std::vector<JobId> expected(double milli, std::span<const std::int64_t> arrived,
                                            std::span<const std::int64_t> reserved) const;

  /// A workload of these jobs only (JobId = position in `jobs`). Shapes are numbered in order of
  /// first use, so nothing depends on later jobs.
  [[nodiscard]] model::Workload workload(std::span<const JobId> jobs) const;

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
const model::Shape& shape_of(const model::WorkloadView& workload, JobId job);

}  // namespace berth::solver
