// SPDX-License-Identifier: Apache-2.0
#include "read_placement.hpp"

#include "plan_cache.hpp"

#include <cstddef>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/certify/check.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::apps {

ReadPlan read_plan_alone(const std::string& path) {
  ReadPlan plan;
  std::string text = io::read_file(path);
  if (io::has_horizon(text, path)) {
    plan.in_time = io::parse_horizon_plan(text, path);
    plan.file = plan.in_time->plan;
    std::erase_if(plan.file.placements, [&](const model::RawPlacement& placed) {
      return placed.start > plan.in_time->now;
    });
  } else {
    plan.file = io::parse_plan(std::move(text), path);
  }
  return plan;
}

void look_up(const model::Instance& instance, const std::string& path, ReadPlan& plan) {
  if (plan.file.instance_digest != model::instance_digest(instance)) {
    throw InputError({.file = path, .line = 0, .field = "instance_digest"},
                     "the plan was made for other files",
                     "give the cluster and the jobs that it was made for");
  }
  certify::PlanCheck check(instance, plan.file, certify::PlanCheck::Order::any);
  check.add_records(model::planned_jobs(instance.workload));
  plan.placement = check.add(plan.file.placements);
  if (plan.placement.size() != plan.file.placements.size()) {
    throw InputError({.file = path, .line = 0, .field = "placements"},
                     "jobs are placed where the instance does not allow it",
                     "berth check names the faults");
  }
  plan.objective = model::parse_objective(plan.file.objective_kind.value_or(""))
                       .value_or(model::Objective::value);
  if (plan.file.certificate) {
    check.end_records();
    check.add(plan.file.waiting);
    plan.certificate = check.prices(
        certify::job_facts(instance, plan.objective, model::planned_jobs(instance.workload)));
  }
}

ReadPlan read_placement(const model::Instance& instance, const std::string& path) {
  ReadPlan plan = read_plan_alone(path);
  look_up(instance, path, plan);
  return plan;
}

PlannedInstance read_planned(const pipeline::Input& input, const std::string& path,
                             const CacheFlags& flags, Heap heap) {
  PlanCache cache(flags, {input.cluster, input.jobs, path});
  if (auto kept = cache.find(heap)) return *std::move(kept);
  PlannedInstance read;
  parallel::run_tasks(2, [&](std::size_t file) {
    if (file == 0) read.instance = io::read_instance(input.cluster, input.jobs);
    if (file == 1) read.plan = read_plan_alone(path);
  });
  look_up(read.instance, path, read.plan);
  model::RawPlan waiting_alone;
  waiting_alone.waiting = std::move(read.plan.file.waiting);
  read.plan.file = std::move(waiting_alone);
  cache.keep(read);
  return read;
}

}  // namespace berth::apps
