// SPDX-License-Identifier: Apache-2.0
#include "berth/explain/explain.hpp"

#include "commands.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/base/similar.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/report/plan_difference.hpp"
#include "berth/report/reasons.hpp"

namespace berth::apps {
namespace {

struct ExplainFlags {
  pipeline::Input input;
  std::string plan;
  std::vector<std::string> jobs;
};

JobId job_named(const model::Instance& instance, const std::string& name) {
  const NameTable& names = instance.workload.job_names;
  std::vector<std::string> known;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == name) return JobId(j);
    known.emplace_back(names[j]);
  }
  throw InputError({.file = "", .line = 0, .field = "--job"},
                   fmt::format("no job has the id {}", printable(name)), did_you_mean(name, known));
}

/// State of one job in the plan: where it is, or why it waits.
std::string state_text(const model::Instance& instance, const ReadPlan& plan, JobId job) {
  const auto& workload = instance.workload;
  if (workload.pinned(workload.job(job))) return "pinned: no plan moves it";
  const auto placed = std::ranges::lower_bound(plan.placement, job, {}, &model::JobPlacement::job);
  constexpr std::size_t kPlaces = 60;
  if (placed != plan.placement.end() && placed->job == job) {
    return "placed on " + report::places(instance.cluster, *placed, kPlaces);
  }
  const auto waits = std::ranges::find(plan.file.waiting, workload.job_names[job.index()],
                                       &model::RawUnplacedJob::job);
  return "waits: " + (waits == plan.file.waiting.end() ? std::string("the plan does not say why")
                                                       : printable(waits->reason));
}

/// The first job of each reason for waiting, most frequent reasons first.
std::vector<JobId> one_of_each_reason(const model::Instance& instance, const ReadPlan& plan) {
  std::map<std::string, std::pair<std::int64_t, std::string>> by_reason;  // jobs, the first of them
  for (const model::RawUnplacedJob& job : plan.file.waiting) {
    auto& [jobs, first] = by_reason[report::reason_summary(job.reason)];
    if (jobs++ == 0) first = job.job;
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, jobs] : by_reason) order.emplace_back(-jobs.first, jobs.second);
  std::ranges::sort(order);
  std::vector<JobId> result;
  for (const auto& [jobs, name] : order) result.push_back(job_named(instance, name));
  return result;
}

ExitCode run_explain(const comm::Communicator& comm, const ExplainFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    const ReadPlan plan = read_placement(instance, flags.plan);
    const model::Certificate* const prices =
        plan.certificate.has_value() ? &*plan.certificate : nullptr;
    explain::Explainer explainer(instance, plan.objective, plan.placement, prices);
    std::vector<JobId> jobs;
    for (const std::string& name : flags.jobs) jobs.push_back(job_named(instance, name));
    if (jobs.empty()) jobs = one_of_each_reason(instance, plan);
    if (jobs.empty()) fmt::print("no job waits\n");
    for (const JobId job : jobs) {
      fmt::print("{} {}\n", printable(instance.workload.job_names[job.index()]),
                 state_text(instance, plan, job));
      if (instance.workload.pinned(instance.workload.job(job))) continue;
      fmt::print("{}\n", explain::text(instance, explainer.explain(job)));
    }
    return static_cast<int>(ExitCode::done);
  }));
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = app.add_subcommand(
      "explain", "Why a job waits, and the smallest changes that would let it run");
  command->add_option("plan", flags->plan, "The plan (with a horizon: what starts now)")
      ->check(file_name())
      ->required();
  add_input(*command, flags->input);
  command->add_option("--job", flags->jobs,
                      "Jobs by id; without this the first job of each reason for waiting");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_explain(comm, *flags); };
  });
}

}  // namespace berth::apps
