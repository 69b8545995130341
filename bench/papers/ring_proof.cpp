// SPDX-License-Identifier: Apache-2.0
#include "ring_proof.hpp"

#include <algorithm>

#include "berth/certify/makespan.hpp"

namespace berth::bench {

std::int64_t proved_makespan(const RingWorld& world) {
  certify::RingGangs gangs{.servers = world.batch.servers, .jobs = {}};
  for (std::size_t j = 0; j < world.batch.jobs.size(); ++j) {
    const papers::RingBatchJob& job = world.batch.jobs[j];
    certify::RingGang& gang = gangs.jobs.emplace_back();
    gang.gpus = job.gpus;
    gang.iterations = job.iterations;
    const std::size_t most =
        std::min(world.batch.servers.size(), static_cast<std::size_t>(job.gpus));
    for (std::size_t n = 1; n <= most; ++n) gang.slots.push_back(world.alone(j, n));
  }
  return certify::prove_makespan(gangs);
}

}  // namespace berth::bench
