// SPDX-License-Identifier: Apache-2.0
#include "online.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/model/workload.hpp"
#include "berth/planner_model/coupling_limits.hpp"
#include "berth/planner_model/precedence.hpp"

namespace berth::pipeline {
namespace {

[[noreturn]] void refuse(const std::string& problem, const char* hint) {
  throw InputError({.file = "", .line = 0, .field = "--online-order"}, problem, hint);
}

}  // namespace

void expect_single_tasks(const planner_model::Valuation& valuation) {
  const model::InstanceView& instance = valuation.instance();
  const planner_model::CouplingLimits limits(instance, valuation.objective());
  if (limits.of_queues() > 0) {
    const QueueId queue = limits[0].scope.queue;
    refuse(fmt::format("queue \"{}\" has a quota", instance.cluster.queues[queue.index()].name),
           "jobs are placed in order of arrival without quotas only");
  }
  for (const JobId id : model::planned_jobs(instance.workload)) {
    const std::string_view name = instance.workload.tables().job_names[id.index()];
    const std::int64_t tasks = instance.workload.tasks(instance.workload.job(id));
    if (tasks != 1) {
      refuse(fmt::format("job \"{}\" has {} tasks", name, tasks),
             "only jobs of one task are placed in order of arrival");
    }
    if (instance.workload.rules_of(instance.workload.job(id)).concern_others) {
      refuse(fmt::format("job \"{}\" shares machines only with some jobs", name),
             "jobs with \"exclusive\" or \"not_with\" are not placed in order of arrival");
    }
    if (!valuation.place_independent(id)) {
      refuse(fmt::format("job \"{}\" is worth more in its home", name),
             "only jobs that look at the GPU type alone are placed in order of arrival");
    }
  }
}

model::Placement place_in_order(const planner_model::Valuation& valuation,
                                const solver::OnlineOptions& options,
                                const planner_model::CouplingLimits& limits,
                                const StopToken& stop) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::vector<JobId> jobs = model::planned_jobs(workload);
  model::Placement kept;
  for (const model::Running& r : workload.tables().running) {
    if (r.pinned) continue;
    model::JobPlacement present = planner_model::current_placement(workload, r);
    if (!planner_model::may_stay(valuation.instance().cluster, present)) continue;
    kept.push_back(std::move(present));
  }
  std::erase_if(jobs, [&](JobId j) {
    return std::ranges::binary_search(kept, j, {}, &model::JobPlacement::job);
  });
  planner_model::sort_by_precedence(valuation, jobs);
  std::ranges::stable_sort(jobs, {}, [&](JobId j) { return workload.job(j).arrival; });
  return solver::place_online(valuation, jobs, std::move(kept), options, &limits, stop).placed;
}

GlobalPlacement place_online(const PlanningContext& context, coordinator::JobRecords& records) {
  GlobalPlacement placed;
  context.stages.run("online", [&] {
    records.gather_to_root();
    context.comm.agreed_on_root([&] {
      placed.placement =
          place_in_order(context.unpriced, context.options.online, context.limits, context.stop);
    });
  });
  return placed;
}

}  // namespace berth::pipeline
