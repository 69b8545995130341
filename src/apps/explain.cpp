// SPDX-License-Identifier: Apache-2.0

#include "berth/explain/explain.hpp"

#include "commands.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/base/similar.hpp"
#include "berth/base/span_text.hpp"
#include "berth/base/wrapped.hpp"
#include "berth/explain/in_time.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/cores.hpp"
#include "berth/planner_model/equal_jobs.hpp"
#include "berth/report/plan_difference.hpp"
#include "berth/report/reasons.hpp"

namespace berth::apps {
namespace {

struct ExplainFlags {
  pipeline::Input input;
  std::string plan;
  std::vector<std::string> jobs;
  bool all = false;
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

const model::RawUnplacedJob* find_waiting(const model::Instance& instance, const ReadPlan& plan,
                                          JobId job) {
  const auto at = std::ranges::find(plan.file.waiting, instance.workload.job_names[job.index()],
                                    &model::RawUnplacedJob::job);
  return at == plan.file.waiting.end() ? nullptr : &*at;
}

/// State of one job in a plan of one moment: where it is, or why it waits.
std::string state_text(const model::Instance& instance, const ReadPlan& plan, JobId job) {
  const auto& workload = instance.workload;
  if (workload.pinned(workload.job(job))) return "pinned: no plan moves it";
  const auto placed = std::ranges::lower_bound(plan.placement, job, {}, &model::JobPlacement::job);
  constexpr std::size_t kPlaces = 60;
  if (placed != plan.placement.end() && placed->job == job) {
    return "placed on " + report::places(instance.cluster, *placed, kPlaces);
  }
  const model::RawUnplacedJob* const waits = find_waiting(instance, plan, job);
  return "waits: " +
         (waits == nullptr ? std::string("the plan does not say why") : printable(waits->reason));
}

std::string name_of(const model::Instance& instance, JobId job) {
  return printable(instance.workload.job_names[job.index()]);
}

void print_head(const std::string& text) { fmt::print("{}\n", wrapped(text, 2)); }

/// Waiting jobs that the same room holds: they differ in name, worth, priority, arrival and the
/// places that they like best only.
struct AlikeJobs {
  JobId first;
  std::int64_t jobs = 0;
  std::string reason;  ///< of the first
};

/// Of all waiting jobs, in the order of the plan.
std::vector<AlikeJobs> alike_jobs(const model::Instance& instance, const ReadPlan& plan) {
  std::map<std::string_view, JobId> ids;
  const NameTable& names = instance.workload.job_names;
  for (std::size_t j = 0; j < names.size(); ++j) ids.emplace(names[j], JobId(j));
  std::map<std::pair<planner_model::JobClass, QueueId>, std::size_t> known;
  std::vector<AlikeJobs> result;
  for (const model::RawUnplacedJob& waits : plan.file.waiting) {
    const auto at = ids.find(waits.job);
    if (at == ids.end()) continue;
    model::Job job = instance.workload.job(at->second);
    const QueueId queue = job.queue;
    job.home_rack = {}, job.home_pod = {};
    job.home_factor = job.width_factor = job.speed = 0;
    const std::pair key(planner_model::job_kind(instance.workload, job), queue);
    const auto [entry, fresh] = known.try_emplace(key, result.size());
    if (fresh)
      result.push_back({.first = at->second, .reason = report::reason_summary(waits.reason)});
    ++result[entry->second].jobs;
  }
  return result;
}

explain::Explainer explainer_of(const model::Instance& instance, const ReadPlan& plan) {
  return {instance, plan.objective, plan.placement,
          plan.certificate.has_value() ? &*plan.certificate : nullptr};
}

/// Threads take the next jobs; each has an explainer of its own.
void explain_all(const model::Instance& instance, const ReadPlan& plan) {
  const std::vector<AlikeJobs> waiting = alike_jobs(instance, plan);
  std::vector<std::string> texts(waiting.size());
  std::atomic<std::size_t> next = 0;
  constexpr std::size_t kLeast =
      16;  // questions that pay for one more explainer; chosen, not tuned
  const std::size_t workers =
      std::min(static_cast<std::size_t>(parallel::thread_limit()), 1 + waiting.size() / kLeast);
  parallel::run_tasks(workers, [&](std::size_t) {
    std::size_t at = next++;
    if (at >= waiting.size()) return;
    explain::Explainer explainer = explainer_of(instance, plan);
    for (; at < waiting.size(); at = next++) {
      texts[at] = explain::text(instance, explainer.explain(waiting[at].first));
    }
  });
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto& [first, jobs, reason] = waiting[i];
    const std::string name = name_of(instance, first);
    print_head(jobs == 1 ? fmt::format("{} waits: {}", name, reason)
                         : fmt::format("{} jobs such as {} wait: {}", jobs, name, reason));
    fmt::print("{}\n", texts[i]);
  }
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

void explain_now(const model::Instance& instance, const ReadPlan& plan, const ExplainFlags& flags,
                 const std::vector<JobId>& jobs) {
  if (flags.all) return explain_all(instance, plan);
  explain::Explainer explainer = explainer_of(instance, plan);
  for (const JobId job : jobs) {
    print_head(name_of(instance, job) + " " + state_text(instance, plan, job));
    if (instance.workload.pinned(instance.workload.job(job))) continue;
    fmt::print("{}\n", explain::text(instance, explainer.explain(job)));
  }
}

/// Of a plan in time: the start and what it waits for. Changes are not searched: free room of this
/// moment may be that of a job that starts later.
void explain_in_time(const model::Instance& instance, const ReadPlan& plan,
                     const model::RawHorizonPlan& in_time, const std::vector<JobId>& jobs) {
  const explain::PlannedStarts starts(instance, in_time);
  for (const JobId job : jobs) {
    const auto start = starts.of(job);
    if (!start) {
      print_head(name_of(instance, job) + " " + state_text(instance, plan, job));
    } else {
      print_head(name_of(instance, job));
    }
    fmt::print("{}", explain::needs_text(instance, job));
    if (start) fmt::print("{}", explain::text(instance, in_time.now, *start));
    const model::RawUnplacedJob* const waits = find_waiting(instance, plan, job);
    if (!start && waits != nullptr && waits->earliest_start) {
      fmt::print("  fits beside the plan from {} on, {} from now\n", *waits->earliest_start,
                 span_text(std::max<std::int64_t>(0, *waits->earliest_start - in_time.now)));
    }
    fmt::print("\n");
  }
}

/// All that the plan starts, in order of start, then one job of each reason for waiting.
std::vector<JobId> in_order_of_start(const model::Instance& instance,
                                     const model::RawHorizonPlan& in_time) {
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const model::RawPlacement& placed : in_time.plan.placements) {
    order.emplace_back(placed.start, placed.job);
  }
  std::ranges::sort(order);
  std::map<std::string_view, JobId> ids;
  const NameTable& names = instance.workload.job_names;
  for (std::size_t j = 0; j < names.size(); ++j) ids.emplace(names[j], JobId(j));
  std::vector<JobId> jobs;
  for (const auto& [start, name] : order) {
    if (const auto at = ids.find(name); at != ids.end()) jobs.push_back(at->second);
  }
  return jobs;
}

ExitCode run_explain(const comm::Communicator& comm, const ExplainFlags& flags) {
  const parallel::ThreadLimit threads(pipeline::share_cores(comm, 0));
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    const auto [instance, plan] = read_planned(flags.input, flags.plan);
    std::vector<JobId> jobs;
    for (const std::string& name : flags.jobs) jobs.push_back(job_named(instance, name));
    const bool chosen = !jobs.empty() || flags.all;
    if (!chosen) jobs = one_of_each_reason(instance, plan);
    if (plan.in_time) {
      if (flags.all) jobs = in_order_of_start(instance, *plan.in_time);
      if (jobs.empty()) fmt::print("no job waits\n");
      explain_in_time(instance, plan, *plan.in_time, jobs);
    } else {
      if (plan.file.waiting.empty() && flags.jobs.empty()) fmt::print("no job waits\n");
      explain_now(instance, plan, flags, jobs);
    }
    return static_cast<int>(ExitCode::done);
  }));
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "Why a job waits or starts when it does, and the smallest changes that would let it run");
  command->add_option("plan", flags->plan, "The plan, of one moment or with a horizon")
      ->check(file_name())
      ->required();
  add_input(*command, flags->input);
  command
      ->add_option("--job", flags->jobs,
                   "Jobs by id; without this the first job of each reason for waiting")
      ->excludes(command->add_flag(
          "--all", flags->all,
          "Every waiting job, alike ones once; with a horizon every job that starts, in order"));
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_explain(comm, *flags); };
  });
}

}  // namespace berth::apps
