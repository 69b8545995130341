// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/job_facts.hpp"

#include "exact.hpp"
#include "job_value.hpp"
#include "task_bundles.hpp"

#include <algorithm>
#include <cmath>

namespace berth::certify {
namespace {

using model::Level;

/// The amount rounded up to an integer, within the limits of JobFacts.
Int128 whole_up(double amount) {
  constexpr double kMost = 0x1p90;  // beyond the guard against overflow: decision 20
  return fixed_up(amount < kMost ? amount : kMost, 0);  // kMost also for NaN
}

}  // namespace

JobFacts& JobFacts::operator+=(const JobFacts& others) {
  totals.value += others.totals.value;
  totals.milli += others.totals.milli;
  totals.tasks += others.totals.tasks;
  totals.broken += others.totals.broken;
  totals.mbps = std::max(totals.mbps, others.totals.mbps);
  tasks = merged(tasks, others.tasks);
  return *this;
}

JobFacts job_facts(const model::InstanceView& instance, model::Objective objective,
                   std::span<const JobId> jobs) {
  const model::WorkloadView& workload = instance.workload;
  double fastest = 1.0;
  for (const double speed : workload.tables().speeds) fastest = std::max(fastest, std::abs(speed));
  const std::int64_t most = model::kGpuMilli * instance.cluster.gpus();
  JobFacts facts{.tasks = bundles_of(workload, jobs)};
  for (const JobId id : jobs) {
    const model::Job& job = workload.job(id);
    const std::int64_t milli = milli_of(workload, job);
    const JobValue worth(instance, objective, job, milli);
    if (milli <= most) {
      const double best = std::abs(worth.at(GpuTypeId{}, Level::machine, Level::machine));
      facts.totals.value += whole_up(best * fastest + worth.stop_cost() + worth.move_cost());
    }
    facts.totals.milli += milli;
    facts.totals.tasks += workload.tasks(job);
    facts.totals.broken += milli % model::kGpuMilli == 0 ? 0 : 1;
    facts.totals.mbps = std::max(facts.totals.mbps, job.communication.mbps);
  }
  return facts;
}

}  // namespace berth::certify
