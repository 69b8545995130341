// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/job_bests.hpp"

#include "options.hpp"
#include "pricing.hpp"
#include "task_sets.hpp"

#include <algorithm>
#include <cstdint>

#include "berth/base/assert.hpp"
#include "berth/certify/bound.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {

JobBests job_bests(const model::Instance& instance, model::Objective objective,
                   const model::Certificate& certificate, std::span<const JobId> jobs) {
  BERTH_EXPECT(unusable(instance, objective, certificate).empty());
  const Pricing pricing(instance, objective, certificate);
  const model::Workload& workload = instance.workload;
  const TaskSets sets(workload, jobs, pricing.tariff.links().matter());
  JobBests found{.best = std::vector<JobBest>(jobs.size())};
  std::vector<std::uint8_t> integral(sets.pieces());
  parallel::run_tasks(sets.pieces(), [&](std::size_t p) {
    const TaskSets::Members members = sets.piece(p);
    Options options(pricing, workload.job(jobs[members.front()]));
    for (const std::uint32_t i : members) found.best[i] = options.best(workload.job(jobs[i]));
    integral[p] = options.integral() ? 1 : 0;
  });
  found.integral = std::ranges::all_of(integral, [](std::uint8_t whole) { return whole != 0; });
  return found;
}

}  // namespace berth::certify
