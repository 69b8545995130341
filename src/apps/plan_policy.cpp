// SPDX-License-Identifier: Apache-2.0
#include "plan_policy.hpp"

#include "plan_origin.hpp"
#include "replay.hpp"
#include "simulate_world.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/io/jobs_file.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/pipeline/given_plan.hpp"
#include "berth/pipeline/option_table.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/pipeline/plan_horizon.hpp"
#include "berth/pipeline/write_plan.hpp"
#include "berth/policy/policy.hpp"
#include "berth/report/horizon_summary.hpp"
#include "berth/report/summary.hpp"
#include "berth/sim/policy_placement.hpp"

namespace berth::apps {
namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& hint) {
  throw InputError({.file = "", .line = 0, .field = "policy"}, problem, hint);
}

/// A policy that makes plans.
struct PlanningPolicy {
  bool estimates = true;
  std::unique_ptr<policy::Policy> (*classic)(const policy::PolicyOptions&) = nullptr;
  const papers::PaperPolicyRow* paper = nullptr;
};

PlanningPolicy planning_policy(const PlanFlags& flags) {
  const std::string& name = flags.policy;
  const bool in_time = flags.horizon.length > 0;
  SimulateFlags named;
  named.policy = name;
  expect_policy(named);
  if (name == kBerth) refuse("berth is what plans without --policy", "leave --policy out");
  if (const papers::PaperPolicyRow* row = papers::find_paper_policy(name)) {
    if (!row->no_plan.empty()) {
      refuse(fmt::format("{} makes no plan: {}", name, row->no_plan), "simulate it");
    }
    if (in_time) {
      refuse(name + " has the speeds of profiles, which a plan with --horizon does not know",
             "plan without --horizon, or simulate it");
    }
    return {.paper = row};
  }
  for (const policy::PolicyRow& row : policy::policy_table()) {
    if (row.name != name) continue;
    if (in_time && row.preemptive) {
      refuse(name + " stops jobs, and a plan with --horizon has one run a job",
             "plan without --horizon, or simulate it");
    }
    return {.estimates = row.estimates || in_time, .classic = row.make};
  }
  refuse(name + " shares time among jobs, and a plan has one run a job", "simulate it");
}

void expect_durations(const model::Instance& instance, const std::string& policy) {
  constexpr std::size_t kMost = 5;
  std::size_t missing = 0;
  std::string names;
  for (const JobId id : model::planned_jobs(instance.workload)) {
    if (instance.workload.time_of(instance.workload.job(id)).seconds() != model::kNotGiven)
      continue;
    if (++missing > kMost) continue;
    names += (missing > 1 ? ", " : "") + std::string(instance.workload.job_names[id.index()]);
  }
  if (missing == 0) return;
  if (missing > kMost) names += fmt::format(" and {} more", missing - kMost);
  throw InputError({.file = "", .line = 0, .field = "duration"},
                   policy + " looks at durations; jobs without duration and limit: " + names,
                   "give them one, or take a policy such as best-fit or fgd");
}

void expect_heeded(const model::Instance& instance, const PlanFlags& flags) {
  std::string keys = sim::unheeded_keys(instance);
  const auto add = [&](bool present, const char* key) {
    if (present) keys += (keys.empty() ? "" : ", ") + std::string(key);
  };
  if (flags.horizon.length > 0) {
    add(!instance.workload.running.empty(), "running");
    add(!instance.cluster.spare.empty(), "spare");
    for (const model::Queue& queue : instance.cluster.queues) {
      if (queue.gpu_hours < 0) continue;
      add(true, "gpu_hours of queues");
      break;
    }
  }
  if (!keys.empty()) {
    refuse(flags.policy + " does not respect: " + keys, "plan without --policy, or without them");
  }
}

/// The policy, and what it looks at.
struct PreparedPolicy {
  model::Instance instance;  ///< as the policy sees it
  std::unique_ptr<PreparedWorld> world;
  std::unique_ptr<policy::Policy> policy;
  sim::Trace trace;
};

/// In place, as policies refer to the instance.
std::unique_ptr<PreparedPolicy> prepare(const model::Instance& instance, const PlanFlags& flags) {
  const PlanningPolicy chosen = planning_policy(flags);
  expect_heeded(instance, flags);
  if (chosen.paper != nullptr) expect_rules_kept(*chosen.paper, instance);
  if (chosen.estimates) expect_durations(instance, flags.policy);
  auto prepared = std::make_unique<PreparedPolicy>();
  prepared->instance =
      flags.horizon.length > 0 ? instance : sim::at_one_moment(instance, chosen.estimates);
  WorldFlags world;
  world.profiles = flags.profiles;
  prepared->world = prepare_world(prepared->instance, world, flags.plan.seed);
  prepared->policy =
      chosen.paper != nullptr
          ? chosen.paper->make({prepared->instance, prepared->world->profiles, flags.plan.seed})
          : chosen.classic({});
  prepared->trace = sim::make_trace(prepared->instance, {}, prepared->world->speeds.get());
  return prepared;
}

std::string reason_of(const PlanFlags& flags) {
  return flags.policy + " does not start it" +
         (flags.horizon.length > 0 ? " within the horizon" : " now");
}

void record(const PlanFlags& flags, std::map<std::string, std::string>& options) {
  options["policy"] = flags.policy;
  WorldFlags world;
  world.profiles = flags.profiles;
  add_world_record(world, options);
}

/// Objective and gap of the plan that Berth makes of the same instance.
std::string own_plan(double objective, double gap) {
  return fmt::format("  {:<14}{:.6g}, gap {:.4g} %\n", "Berth's plan", objective, 100.0 * gap);
}

ExitCode plan_moment(const comm::Communicator& serial, const PlanFlags& flags,
                     report::ProgressTable& progress, const StopToken& stop) {
  const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
  for (const std::string& note : instance.workload.notes) progress.warn(note);
  const auto prepared = prepare(instance, flags);
  model::Placement decided =
      sim::decided_placement(prepared->instance, prepared->trace, *prepared->policy);
  model::Plan plan = pipeline::with_placement(
      instance, pipeline::plan_cluster(serial, instance, flags.plan, progress, stop),
      std::move(decided), reason_of(flags));
  plan.options = pipeline::recorded(flags.plan);
  record(flags, plan.options);
  auto jobs = coordinator::JobRecords::of_replicated(serial, instance.workload);
  pipeline::write_plan(serial, flags.out, instance, plan, jobs);
  const auto home = model::planned_jobs(instance.workload);
  const report::PlanOrigin origin = plan_origin(serial, instance.workload, home);
  fmt::print(figures_stream(flags), "{}{}{}  {:<14}{}\n", report::heading(instance.cluster, origin),
             report::summary(plan, pipeline::waiting_by_reason(serial, plan),
                             report::plan_room(instance.cluster, origin.pinned)),
             own_plan(plan.stats.at("berth_objective"), plan.stats.at("berth_gap")), "written",
             flags.out);
  if (!plan.reproducible) return ExitCode::limit_reached;
  return plan.required_missing.empty() ? ExitCode::done : ExitCode::required_missing;
}

/// Without the jobs that start after the horizon, which a plan for value leaves waiting, and those
/// that end after their deadline.
void drop_late(const model::Instance& instance, const model::Horizon& horizon,
               sim::TimedPlacement& timed) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < timed.ends.size(); ++i) {
    const model::JobPlacement& placed = timed.placements[i];
    const std::int64_t deadline =
        instance.workload.time_of(instance.workload.job(placed.job)).deadline;
    const bool late = !model::minimised(horizon.objective) && placed.start >= horizon.end();
    if (late || timed.ends[i] > deadline) continue;
    if (kept != i) timed.placements[kept] = std::move(timed.placements[i]);
    timed.ends[kept++] = timed.ends[i];
  }
  timed.placements.resize(kept);
  timed.ends.resize(kept);
}

ExitCode plan_in_time(const comm::Communicator& serial, const PlanFlags& flags,
                      report::ProgressTable& progress, const StopToken& stop) {
  const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
  for (const std::string& note : instance.workload.notes) progress.warn(note);
  const auto prepared = prepare(instance, flags);
  sim::TimedPlacement timed = sim::simulated_placement(prepared->instance, prepared->trace,
                                                       *prepared->policy, flags.horizon.now);
  drop_late(instance, flags.horizon, timed);
  const pipeline::HorizonRequest request{.horizon = flags.horizon,
                                         .keep = {},
                                         .keep_price = {},
                                         .effort = flags.plan.effort,
                                         .gap = flags.plan.gap};
  model::HorizonPlan own = pipeline::plan_horizon(instance, request, progress, stop);
  const bool all = model::minimised(flags.horizon.objective);
  if (all && timed.placements.size() < own.placements.size()) {
    refuse(fmt::format("{} starts {} of {} jobs in time; {} counts all of them", flags.policy,
                       timed.placements.size(), own.placements.size(),
                       model::to_string(flags.horizon.objective)),
           "take --objective value");
  }
  const double objective = own.figures.objective, gap = own.figures.gap;
  model::HorizonPlan plan =
      pipeline::with_placement(instance, std::move(own), std::move(timed.placements),
                               std::move(timed.ends), reason_of(flags));
  plan.options = {{"objective", std::string(model::to_string(flags.horizon.objective))}};
  record(flags, plan.options);
  pipeline::write_horizon_plan(flags.out, instance, plan);
  const auto home = model::planned_jobs(instance.workload);
  fmt::print(figures_stream(flags), "{}{}{}  {:<14}{}\n",
             report::heading(instance.cluster, plan_origin(serial, instance.workload, home)),
             report::horizon_summary(plan), own_plan(objective, gap), "written", flags.out);
  if (!plan.reproducible) return ExitCode::limit_reached;
  return plan.required_missing.empty() || all ? ExitCode::done : ExitCode::required_missing;
}

}  // namespace

ExitCode run_plan_policy(const comm::Communicator& comm, const PlanFlags& flags,
                         report::ProgressTable& progress, const StopToken& stop) {
  auto code = static_cast<std::int64_t>(ExitCode::done);
  comm.agreed_on_root([&] {
    const auto serial = comm::Communicator::serial();
    code = static_cast<std::int64_t>(flags.horizon.length > 0
                                         ? plan_in_time(serial, flags, progress, stop)
                                         : plan_moment(serial, flags, progress, stop));
    std::fflush(figures_stream(flags));
  });
  comm.broadcast_value(code);
  return static_cast<ExitCode>(code);
}

}  // namespace berth::apps
