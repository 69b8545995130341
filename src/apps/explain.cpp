// SPDX-License-Identifier: Apache-2.0

#include "berth/explain/explain.hpp"

#include "commands.hpp"
#include "explain_in_time.hpp"
#include "explain_words.hpp"
#include "options.hpp"
#include "plan_cache.hpp"
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

#include "berth/parallel/loops.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/cores.hpp"
#include "berth/planner_model/equal_jobs.hpp"
#include "berth/report/reasons.hpp"

namespace berth::apps {
namespace {

struct ExplainFlags {
  pipeline::Input input;
  CacheFlags cache;
  std::string plan;
  std::vector<std::string> jobs;
  bool all = false;
};

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

const model::Certificate* prices_of(const ReadPlan& plan) {
  return plan.certificate.has_value() ? &*plan.certificate : nullptr;
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
    explain::Explainer explainer(instance, plan.objective, plan.placement, prices_of(plan));
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

/// Moves instance and placement into the explainer: a copy would be a third of the time.
void explain_jobs(PlannedInstance& read, const std::vector<JobId>& jobs) {
  std::vector<std::string> heads;
  for (const JobId job : jobs) {
    heads.push_back(name_of(read.instance, job) + " " + state_text(read.instance, read.plan, job));
  }
  auto* const explainer =
      new explain::Explainer(std::move(read.instance), read.plan.objective,
                             std::move(read.plan.placement), prices_of(read.plan));  // kept as well
  const model::Instance& instance = explainer->instance();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    print_head(heads[i]);
    if (instance.workload.pinned(instance.workload.job(jobs[i]))) continue;
    fmt::print("{}\n", explain::text(instance, explainer->explain(jobs[i])));
  }
}

ExitCode run_explain(const comm::Communicator& comm, const ExplainFlags& flags) {
  const parallel::ThreadLimit threads(pipeline::share_cores(comm, 0));
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    // Kept until the program ends: to free its lists one by one would take a tenth of the time.
    auto* const read =
        new PlannedInstance(read_planned(flags.input, flags.plan, flags.cache,
                                         flags.all ? Heap::of_each_thread : Heap::of_huge_pages));
    const auto& [instance, plan] = *read;
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
      if (flags.all) explain_all(instance, plan);
      if (!flags.all) explain_jobs(*read, jobs);
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
      ->transform(dash_for("/dev/stdin"))
      ->required();
  add_input(*command, flags->input);
  add_cache(*command, flags->cache);
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
