// SPDX-License-Identifier: Apache-2.0
#include "batched_gather.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "berth/comm/messages.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

constexpr std::size_t kBatchJobs = std::size_t{1} << 13;  ///< jobs per batch: decision 19
/// Messages in which a placement is sent, so that memory holds a sixteenth of it twice:
/// decision 10.
constexpr std::size_t kParts = 16;

}  // namespace

void for_each_batch(const Communicator& comm, std::span<const JobId> order,
                    const std::function<void(const std::vector<JobId>&)>& see) {
  std::uint64_t jobs = order.size();
  comm.broadcast_value(jobs);
  for (std::size_t first = 0; first < jobs; first += kBatchJobs) {
    std::vector<JobId> batch;
    if (comm.rank() == 0) {
      const auto now = order.subspan(first, std::min(kBatchJobs, order.size() - first));
      batch.assign(now.begin(), now.end());
    }
    comm.broadcast_vector(batch);
    see(batch);
  }
}

std::vector<JobId> all_jobs(const model::WorkloadView& workload) {
  std::vector<JobId> jobs;
  jobs.reserve(workload.size());
  for (std::size_t j = 0; j < workload.size(); ++j) jobs.emplace_back(j);
  return jobs;
}

model::Placement gather_batch(const Communicator& comm, std::span<const JobId> batch,
                              const model::Placement& mine) {
  model::Placement here;
  for (const JobId job : batch) {
    const auto at = std::ranges::lower_bound(mine, job, {}, &model::JobPlacement::job);
    if (at != mine.end() && at->job == job) here.push_back(*at);
  }
  model::Placement all = comm::gather<model::JobPlacement>(comm, here);
  std::vector<std::pair<JobId, std::size_t>> places;
  for (std::size_t i = 0; i < batch.size() && !all.empty(); ++i) places.emplace_back(batch[i], i);
  std::ranges::sort(places);
  std::ranges::sort(all, {}, [&](const model::JobPlacement& placed) {
    return std::ranges::lower_bound(places, std::pair(placed.job, std::size_t{0}))->second;
  });
  return all;
}

std::vector<model::UnplacedJob> gather_batch(const Communicator& comm, std::span<const JobId> batch,
                                             std::span<const model::UnplacedJob> mine) {
  const auto first = std::ranges::lower_bound(mine, batch.front(), {}, &model::UnplacedJob::job);
  const auto last = std::ranges::upper_bound(mine, batch.back(), {}, &model::UnplacedJob::job);
  return gather_waiting(comm, std::span(first, last));
}

model::Placement gather_placement(const Communicator& comm, model::Placement mine) {
  if (comm.size() == 1) return mine;
  model::Placement all;
  for (std::size_t slice = 0; slice < kParts; ++slice) {
    const std::size_t begin = mine.size() * slice / kParts;
    const std::size_t end = mine.size() * (slice + 1) / kParts;
    const model::Placement part(std::make_move_iterator(mine.begin() + std::ptrdiff_t(begin)),
                                std::make_move_iterator(mine.begin() + std::ptrdiff_t(end)));
    std::ranges::move(comm::gather<model::JobPlacement>(comm, part), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &model::JobPlacement::job);
  return all;
}

model::Placement to_homes(const Communicator& comm, const coordinator::JobRecords& records,
                          const model::Placement& mine) {
  std::vector<ByteWriter> by_home(static_cast<std::size_t>(comm.size()));
  for (const model::JobPlacement& placed : mine) {
    by_home[static_cast<std::size_t>(records.home(placed.job))](placed);
  }
  auto here = comm::exchange<model::JobPlacement>(comm, std::move(by_home));
  std::ranges::sort(here, {}, &model::JobPlacement::job);
  return here;
}

std::vector<model::UnplacedJob> gather_waiting(const Communicator& comm,
                                               std::span<const model::UnplacedJob> mine) {
  auto all = comm::gather<model::UnplacedJob>(comm, mine);
  std::ranges::sort(all, {}, &model::UnplacedJob::job);
  return all;
}

}  // namespace berth::pipeline
