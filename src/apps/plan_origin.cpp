// SPDX-License-Identifier: Apache-2.0
#include "plan_origin.hpp"

#include "version.hpp"

#include <iterator>
#include <string>

#include "berth/parallel/threads.hpp"

namespace berth::apps {

report::PlanOrigin plan_origin(const comm::Communicator& comm, const model::Workload& workload,
                               std::span<const JobId> jobs) {
  report::PlanOrigin origin{.program = std::string(version()),
                            .ranks = comm.size(),
                            .threads = parallel::thread_limit(),
                            .pinned = std::ssize(model::pinned_jobs(workload))};
  for (const JobId id : jobs) {
    const model::Job& job = workload.job(id);
    ++origin.jobs;
    origin.gpu_milli += workload.gpu_milli(job);
    origin.running += job.running >= 0 ? 1 : 0;
  }
  return origin;
}

}  // namespace berth::apps
