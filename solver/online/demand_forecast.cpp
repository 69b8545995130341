// SPDX-License-Identifier: Apache-2.0
#include "demand_forecast.hpp"

#include <algorithm>

namespace berth::solver {

const model::Shape& shape_of(const model::WorkloadView& workload, JobId job) {
  return workload.shape(workload.groups_of(workload.job(job)).front().shape);
}

DemandForecast::Key DemandForecast::key(JobId id) const {
  const model::WorkloadView& workload = valuation_->instance().workload;
  const model::Job& job = workload.job(id);
  return {planner_model::TaskProfile(workload, job), job.gpu_types, job.speed, job.required};
}

DemandClass DemandForecast::demand_class(JobId job) const { return class_of_.at(key(job)); }

DemandClass DemandForecast::observe(JobId id) {
  const auto [at, fresh] = class_of_.try_emplace(key(id), members_.size());
  if (fresh) members_.emplace_back();
  members_[at->second].push_back(id);
  ++jobs_;
  milli_ += shape(at->second).total_milli();
  return at->second;
}

const model::Shape& DemandForecast::shape(DemandClass demand_class) const {
  return shape_of(valuation_->instance().workload, members_[demand_class].front());
}

std::vector<JobId> DemandForecast::expected(double milli, std::span<const std::int64_t> arrived,
                                            std::span<const std::int64_t> reserved) const {
  const double more = milli_ > 0 ? std::max(milli, 0.0) / static_cast<double>(milli_) : 0.0;
  std::vector<JobId> jobs;
  double carried = 0.5;  // rounding carried over all classes: rare ones add up to their share
  for (DemandClass k = 0; k < members_.size(); ++k) {
    const std::vector<JobId>& members = members_[k];
    const bool required = valuation_->instance().workload.job(members.front()).required;
    const auto worthless = [&](JobId j) { return valuation_->best(j) <= 0.0; };
    if (!required && std::ranges::all_of(members, worthless)) continue;
    carried += more * static_cast<double>(members.size());
    const auto whole = static_cast<std::int64_t>(carried);
    carried -= static_cast<double>(whole);
    const std::int64_t n = whole + arrived[k] - reserved[k];
    const auto count = static_cast<std::int64_t>(members.size());
    for (std::int64_t i = 0; i < n; ++i) {  // evenly over the members, always with the latest one
      jobs.push_back(members[static_cast<std::size_t>(count - 1 - i * count / n)]);
    }
  }
  return jobs;
}

model::Workload DemandForecast::workload(std::span<const JobId> jobs) const {
  const model::WorkloadView& all = valuation_->instance().workload;
  model::Workload w;
  w.factors = all.tables().factors;
  w.speeds = all.tables().speeds;
  w.speed_types = all.tables().speed_types;
  w.labels = {"task"};
  std::map<model::Shape, ShapeId> known;
  for (const JobId id : jobs) {
    const auto [at, fresh] = known.try_emplace(shape_of(all, id), w.shapes.size());
    if (fresh) w.shapes.push_back(at->first);
    model::Job job = all.job(id);
    job.first_group = static_cast<std::uint32_t>(w.groups.size());
    job.groups = 1;
    job.queue = {};
    job.running = -1;
    job.priority = 0;
    job.arrival = 0;
    w.groups.push_back({.shape = at->second, .count = 1, .label = 0});
    w.jobs.push_back(job);
  }
  return w;
}

}  // namespace berth::solver
