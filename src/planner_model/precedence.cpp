// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/precedence.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace berth::planner_model {

double value_density(const model::WorkloadView& workload, const model::Job& job, double value) {
  std::int64_t gpu = 0, cpu = 0;
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    gpu += g.count * workload.shape(g.shape).total_milli();
    cpu += g.count * workload.shape(g.shape).needs[model::kCpu];
  }
  return value / static_cast<double>(std::max<std::int64_t>(1, gpu > 0 ? gpu : cpu));
}

Precedence precedence(const model::WorkloadView& workload, JobId id, double density) {
  const model::Job& job = workload.job(id);
  return {.required = job.required,
          .density = density,
          .priority = job.priority,
          .arrival = job.arrival,
          .job = id};
}

Precedence precedence(const Valuation& valuation, JobId id) {
  const model::WorkloadView& workload = valuation.instance().workload;
  return precedence(workload, id, value_density(workload, workload.job(id), valuation.best(id)));
}

std::vector<std::uint32_t> precedence_ranks(const Valuation& valuation,
                                            std::span<const JobId> jobs) {
  std::vector<std::pair<Precedence, std::uint32_t>> order;
  order.reserve(jobs.size());
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    order.emplace_back(precedence(valuation, jobs[i]), i);
  }
  std::ranges::sort(order, std::less<>{});
  std::vector<std::uint32_t> ranks(jobs.size());
  for (std::uint32_t r = 0; r < order.size(); ++r) ranks[order[r].second] = r;
  return ranks;
}

void sort_by_precedence(const Valuation& valuation, std::vector<JobId>& jobs) {
  std::vector<Precedence> order;
  order.reserve(jobs.size());
  for (const JobId job : jobs) order.push_back(precedence(valuation, job));
  std::ranges::sort(order, std::less<>{});
  std::ranges::transform(order, jobs.begin(), &Precedence::job);
}

}  // namespace berth::planner_model
