// SPDX-License-Identifier: Apache-2.0
#include "ones_proof.hpp"

#include "berth/certify/flow.hpp"

namespace berth::bench {

double proved_mean(const OnesWorld& world) {
  const model::Workload& workload = world.instance.workload;
  std::int32_t gpus = 0;
  for (std::size_t m = 0; m < world.instance.cluster.machines(); ++m)
    gpus += world.instance.cluster.class_of(MachineId(m)).gpus;
  std::vector<certify::MalleableJob> jobs;
  for (std::size_t j = 0; j < workload.size(); ++j) {
    const model::Job& job = workload.job(JobId(j));
    jobs.push_back({.release = static_cast<double>(job.arrival),
                    .work = static_cast<double>(workload.time_of(job).duration),
                    .rate = world.most_rates(j)});
  }
  return certify::prove_total_flow(jobs, gpus) / static_cast<double>(jobs.size());
}

}  // namespace berth::bench
