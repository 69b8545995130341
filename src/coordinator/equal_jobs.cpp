// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/equal_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "berth/comm/lists.hpp"
#include "berth/comm/messages.hpp"
#include "berth/planner_model/equal_jobs.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;
using planner_model::EqualJob;
using planner_model::Handover;

auto find(Placement& here, JobId job) {
  return std::ranges::lower_bound(here, job, {}, &JobPlacement::job);
}

/// Sends the unplaced and the newly placed jobs at home here to the rank of their class.
std::vector<EqualJob> meet(const comm::Communicator& comm,
                           const planner_model::Valuation& valuation, const JobRecords& records,
                           Placement& here) {
  const model::WorkloadView& workload = valuation.instance().workload;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<EqualJob>> by_class(ranks);
  for (const JobId id : records.home_jobs()) {
    const model::Job& job = workload.job(id);
    if (job.running >= 0) continue;
    EqualJob own{.of = planner_model::job_class(workload, job),
                 .precedence = planner_model::precedence(valuation, id)};
    const auto placed = find(here, id);
    own.placed = placed != here.end() && placed->job == id;
    if (own.placed) own.value = valuation.placed(*placed);
    by_class[own.of.high % ranks].push_back(own);
  }
  return comm::exchange_lists(comm, std::move(by_class)).values;
}

/// Sends each exchange to the home of the job that gives its placement.
std::vector<Handover> tell(const comm::Communicator& comm, const JobRecords& records,
                           std::span<const Handover> all) {
  std::vector<std::vector<Handover>> by_home(static_cast<std::size_t>(comm.size()));
  for (const Handover& h : all) {
    by_home[static_cast<std::size_t>(records.home(h.from))].push_back(h);
  }
  return comm::exchange_lists(comm, std::move(by_home)).values;
}

}  // namespace

void serve_equal_jobs(const comm::Communicator& comm, const planner_model::Valuation& valuation,
                      const JobRecords& records, Placement& here) {
  const std::vector<Handover> all =
      comm.agreed([&] { return planner_model::handovers(meet(comm, valuation, records, here)); });
  std::vector<ByteWriter> by_home(static_cast<std::size_t>(comm.size()));
  for (const Handover& h : tell(comm, records, all)) {
    const auto given = find(here, h.from);
    by_home[static_cast<std::size_t>(records.home(h.to))](
        JobPlacement{.job = h.to, .start = given->start, .tasks = std::exchange(given->tasks, {})});
  }
  std::erase_if(here, [](const JobPlacement& p) { return p.tasks.empty(); });
  std::ranges::move(comm::exchange<JobPlacement>(comm, std::move(by_home)),
                    std::back_inserter(here));
  std::ranges::sort(here, {}, &JobPlacement::job);
}

}  // namespace berth::coordinator
