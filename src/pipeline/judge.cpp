// SPDX-License-Identifier: Apache-2.0
#include "judge.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::pipeline {
namespace {

using model::Certificate;

/// Rank 0's; prices of single jobs stay there, nobody else looks at them.
Certificate shared(const comm::Communicator& comm, Certificate prices) {
  comm.broadcast_value(prices.scale_log2);
  comm.broadcast_value(prices.level);
  comm.broadcast_vector(prices.pools);
  comm.broadcast_vector(prices.shapes);
  comm.broadcast_vector(prices.multipliers);
  comm.broadcast_vector(prices.queues);
  comm.broadcast_vector(prices.links);
  return prices;
}

/// What this rank is asked for, rank 0 apart: the jobs it has, or as many as the others.
std::vector<JobId> own_jobs(const comm::Communicator& comm, const model::Workload& workload) {
  if (comm.rank() == 0) return {};
  std::vector<JobId> jobs = model::planned_jobs(workload);
  if (workload.in_parts()) return jobs;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank = static_cast<std::size_t>(comm.rank());
  const std::size_t begin = jobs.size() * rank / ranks, end = jobs.size() * (rank + 1) / ranks;
  return {jobs.begin() + static_cast<std::ptrdiff_t>(begin),
          jobs.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// All but these and the pinned ones.
std::vector<JobId> others(const model::Workload& workload, std::span<const JobId> taken) {
  std::vector<bool> is_taken(workload.size(), false);
  for (const JobId job : taken) is_taken[job.index()] = true;
  std::vector<JobId> rest;
  for (const JobId job : model::planned_jobs(workload)) {
    if (!is_taken[job.index()]) rest.push_back(job);
  }
  return rest;
}

/// In the order of model::planned_jobs.
std::vector<certify::JobBest> in_order(const model::Workload& workload, std::span<const JobId> jobs,
                                       std::span<const certify::JobBest> bests) {
  std::vector<std::uint32_t> place(workload.size(), 0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    place[jobs[i].index()] = static_cast<std::uint32_t>(i);
  }
  std::vector<certify::JobBest> all;
  for (const JobId job : model::planned_jobs(workload)) all.push_back(bests[place[job.index()]]);
  return all;
}

}  // namespace

certify::JobBests job_bests(const comm::Communicator& comm, const model::Instance& instance,
                            model::Objective objective, const Certificate& certificate) {
  const Certificate prices = shared(comm, certificate);
  std::vector<JobId> mine = own_jobs(comm, instance.workload);
  std::vector<JobId> jobs = comm.gather_varying<JobId>(mine);  // some may be told twice
  if (comm.rank() == 0) {
    mine = others(instance.workload, jobs);
    jobs.insert(jobs.begin(), mine.begin(), mine.end());
  }
  const auto own =
      comm.agreed([&] { return certify::job_bests(instance, objective, prices, mine); });
  const auto told = comm.gather_varying<certify::JobBest>(own.best);
  certify::JobBests all{.best = {}, .integral = comm.min(own.integral ? 1 : 0) == 1};
  if (comm.rank() == 0) all.best = in_order(instance.workload, jobs, told);
  return all;
}

}  // namespace berth::pipeline
