// SPDX-License-Identifier: Apache-2.0
#include "job_value.hpp"

#include "berth/model/objective.hpp"
#include "berth/model/time_rules.hpp"

namespace berth::sim {

double value_at(const model::WorkloadView& workload, JobId id, policy::Micros completion) {
  const model::Job& job = workload.job(id);
  const model::TimeRules& rules = workload.time_of(job);
  const auto second = static_cast<double>(completion) / static_cast<double>(policy::kSecond);
  if (rules.deadline != model::kNever && second > static_cast<double>(rules.deadline)) return 0.0;
  const double value = model::traits(model::Objective::value).base(workload, job);
  return value * model::factor_after(workload.tables().utilities[rules.utility],
                                     second - static_cast<double>(job.arrival));
}

}  // namespace berth::sim
