// SPDX-License-Identifier: Apache-2.0
#include "fill_free_room.hpp"

#include "batched_gather.hpp"
#include "free_room.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "berth/comm/messages.hpp"
#include "berth/coordinator/limit_allocation.hpp"
#include "berth/planner_model/gpu_types.hpp"
#include "berth/solver/free_room_fill.hpp"

namespace berth::pipeline {
namespace {

using model::JobPlacement;
using model::Placement;

/// What a placement leaves free, and which waiting jobs may fit into it.
class FreeRoomFill {
 public:
  /// Collective.
  FreeRoomFill(const PlanningContext& context, const Placement& placement)
      : context_(context),
        instance_(context.unpriced.instance()),
        free_(context.comm, instance_, placement),
        use_(coordinator::limit_use(context.comm, instance_, context.limits, placement)) {}

  /// The unplaced ones of these jobs that may fit: free amounts per machine are upper bounds.
  std::vector<JobId> candidates(std::span<const JobId> jobs, const Placement& placement) {
    std::vector<JobId> found;
    for (const JobId job : jobs) {
      if (std::ranges::binary_search(placement, job, {}, &JobPlacement::job)) continue;
      if (has_quota(job) && has_room(job)) found.push_back(job);
    }
    return found;
  }

  /// The machines with free room for a task of some candidate of any rank. Collective.
  [[nodiscard]] std::vector<MachineId> open_machines(std::span<const JobId> candidates) const {
    const model::WorkloadView& workload = instance_.workload;
    std::vector<std::int64_t> asked(workload.tables().shapes.size(), 0);
    for (const JobId job : candidates) {
      for (const model::TaskGroup& group : workload.groups_of(workload.job(job))) {
        asked[group.shape.index()] = 1;
      }
    }
    context_.comm.sum(asked);
    std::vector<const model::Shape*> shapes;
    for (std::size_t s = 0; s < asked.size(); ++s) {
      if (asked[s] > 0) shapes.push_back(&workload.tables().shapes[s]);
    }
    std::vector<MachineId> open;
    for (std::size_t m = 0; m < instance_.cluster.machines(); ++m) {
      const MachineId machine(m);
      const auto holds_one = [&](const model::Shape* s) { return free_.tasks_on(machine, *s) > 0; };
      if (std::ranges::any_of(shapes, holds_one)) open.push_back(machine);
    }
    return open;
  }

  /// New placements, on rank 0. Collective. @param placement  of the jobs at home on this rank
  Placement place(coordinator::JobRecords& records, std::span<const JobId> candidates,
                  const Placement& placement) const {
    const comm::Communicator& comm = context_.comm;
    const std::vector<MachineId> machines = open_machines(candidates);
    const Placement here = on(machines, placement);
    const std::vector<JobId> jobs = comm.all_gather_varying<JobId>(candidates);
    const std::vector<JobId> present = comm.all_gather_varying<JobId>(coordinator::jobs_of(here));
    std::vector<JobId> both = jobs;
    both.insert(both.end(), present.begin(), present.end());
    std::ranges::sort(both);
    const auto borrowed = records.borrow(both);
    const Placement beside = comm::gather<JobPlacement>(comm, here);
    Placement found;
    comm.agreed_on_root([&] {
      found = solver::fill_free_room(
          context_.unpriced,
          {machines, beside, context_.limits.empty() ? nullptr : &context_.limits, use_}, jobs,
          context_.stop.patient());
    });
    return found;
  }

 private:
  [[nodiscard]] bool has_quota(JobId id) const {
    const model::Job& job = instance_.workload.job(id);
    const std::int64_t milli = instance_.workload.gpu_milli(job);
    return std::ranges::all_of(context_.limits.of(job.queue), [&](std::uint32_t l) {
      const std::int64_t all = context_.limits.capacity(l);
      return milli == 0 || context_.limits.soft(l) || all == model::kNoLimit ||
             use_[l] + milli <= all;
    });
  }

  bool has_room(JobId id) {
    const model::WorkloadView& workload = instance_.workload;
    const model::Job& job = workload.job(id);
    const model::Level level = workload.tasks(job) == 1 ? model::Level::machine : job.domain;
    const auto on_type = [&](GpuTypeId type) {
      return std::ranges::all_of(workload.groups_of(job), [&](const model::TaskGroup& group) {
        const bool on_gpus = workload.shape(group.shape).uses_gpu();
        return free_.best(group.shape, on_gpus ? type : GpuTypeId{}, level).tasks >= group.count;
      });
    };
    if (workload.gpu_milli(job) == 0) return on_type({});
    const planner_model::GpuTypes types(job, instance_.cluster.gpu_types.size());
    return std::any_of(types.begin(), types.end(), on_type);
  }

  /// The tasks of a placement on these machines.
  static Placement on(std::span<const MachineId> machines, const Placement& placement) {
    Placement parts;
    for (const JobPlacement& placed : placement) {
      JobPlacement part{.job = placed.job, .start = placed.start, .tasks = {}};
      std::ranges::copy_if(placed.tasks, std::back_inserter(part.tasks), [&](const auto& task) {
        return std::ranges::binary_search(machines, task.machine);
      });
      if (!part.tasks.empty()) parts.push_back(std::move(part));
    }
    return parts;
  }

  const PlanningContext& context_;
  model::InstanceView instance_;
  FreeRoom free_;
  std::vector<std::int64_t> use_;  ///< by limit
};

}  // namespace

void fill_free_room(const PlanningContext& context, coordinator::JobRecords& records,
                    Placement& placement) {
  const std::vector<JobId> home = records.home_jobs();
  if (context.comm.sum(std::ssize(home) - std::ssize(placement)) == 0) return;
  FreeRoomFill fill(context, placement);
  const std::vector<JobId> candidates = fill.candidates(home, placement);
  if (context.comm.sum(std::ssize(candidates)) == 0) return;
  Placement found = to_homes(context.comm, records, fill.place(records, candidates, placement));
  std::ranges::move(found, std::back_inserter(placement));
  std::ranges::sort(placement, {}, &JobPlacement::job);
}

}  // namespace berth::pipeline
