// SPDX-License-Identifier: Apache-2.0
#include "digests.hpp"

#include "batched_gather.hpp"

#include <optional>
#include <vector>

#include "berth/model/digest.hpp"

namespace berth::pipeline {

std::string instance_digest(const comm::Communicator& comm, const model::InstanceView& instance,
                            coordinator::JobRecords& jobs) {
  std::optional<model::InstanceDigest> digest;  // on rank 0 only
  std::vector<JobId> order;
  if (comm.rank() == 0) {
    digest.emplace(instance);
    order = all_jobs(instance.workload);
  }
  for_each_batch(comm, order, [&](const std::vector<JobId>& batch) {
    const auto borrowed = jobs.borrow(batch);
    if (!digest) return;
    for (const JobId job : batch) digest->add(job);
  });
  std::string hex = digest ? digest->hex() : std::string();
  comm.broadcast_string(hex);
  return hex;
}

std::string plan_digest(const comm::Communicator& comm, const model::InstanceView& instance,
                        const model::Placement& mine) {
  std::optional<model::PlanDigest> digest;
  std::vector<JobId> order;
  if (comm.rank() == 0) {
    digest.emplace(instance);
    order = model::jobs_by_name(instance.workload);
  }
  for_each_batch(comm, order, [&](const std::vector<JobId>& batch) {
    const model::Placement placed = gather_batch(comm, batch, mine);
    if (!digest) return;
    for (const model::JobPlacement& p : placed) digest->add(p);
  });
  std::string hex = digest ? digest->hex() : std::string();
  comm.broadcast_string(hex);
  return hex;
}

}  // namespace berth::pipeline
