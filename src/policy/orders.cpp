// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <tuple>

#include "berth/policy/backfill.hpp"

namespace berth::policy {
namespace {

std::vector<JobId> all_jobs(const horizon::Problem& problem) {
  std::vector<JobId> order;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) order.emplace_back(j);
  return order;
}

horizon::Seconds shortest_duration(const horizon::Problem& problem, JobId id) {
  horizon::Seconds shortest = horizon::kNever;
  for (const auto& option : problem.options_of(problem.jobs[id.index()])) {
    shortest = std::min(shortest, option.duration);
  }
  return shortest;
}

}  // namespace

std::vector<JobId> arrival_order(const horizon::Problem& problem) {
  std::vector<JobId> order = all_jobs(problem);
  std::ranges::stable_sort(order, {}, [&](JobId job) { return problem.jobs[job.index()].release; });
  return order;
}

std::vector<JobId> shortest_first(const horizon::Problem& problem) {
  std::vector<JobId> order = all_jobs(problem);
  std::ranges::stable_sort(order, {}, [&](JobId job) {
    return std::tuple(shortest_duration(problem, job), problem.jobs[job.index()].release);
  });
  return order;
}

std::vector<JobId> weighted_shortest_first(const horizon::Problem& problem,
                                           horizon::Seconds delay) {
  std::vector<double> density;
  for (const auto& job : problem.jobs) {
    double largest = 0.0;
    for (const auto& option : problem.options_of(job)) {
      const auto cost = problem.cost_of(option);
      const horizon::Seconds end = job.release + option.duration;
      const double work = gpus_of(option) * static_cast<double>(option.duration);
      largest = std::max(largest, (cost_at(cost, end + delay) - cost_at(cost, end)) / work);
    }
    density.push_back(largest);
  }
  std::vector<JobId> order = all_jobs(problem);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](JobId job) { return density[job.index()]; });
  return order;
}

}  // namespace berth::policy
