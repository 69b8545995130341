// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "diff_text.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/io/jobs_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/report/plan_by_names.hpp"
#include "berth/report/plan_difference.hpp"

namespace berth::apps {
namespace {

struct DiffFlags {
  pipeline::Input input;
  std::vector<std::string> files;  ///< as given by position
  std::vector<std::string> plans = {};
  bool all = false;
};

/// The second plan after a first one of other files: placed jobs, and pinned ones where they run.
std::string text_by_names(const model::Instance& instance, const DiffFlags& flags,
                          const ReadPlan& first, ReadPlan last) {
  const report::PlanByNames other = report::by_names(instance, first.file);
  Compared compared{.instance = instance,
                    .objective = last.objective,
                    .before = other.placement,
                    .after = std::move(last.placement),
                    .other = &other};
  for (const model::Running& running : instance.workload.running) {
    if (!running.pinned) continue;
    const auto tasks = instance.workload.tasks_of(running);
    compared.after.push_back({.job = running.job, .tasks = {tasks.begin(), tasks.end()}});
  }
  std::ranges::sort(compared.after, {}, &model::JobPlacement::job);
  return files_text(instance, flags.plans.front(), other) + difference_text(compared, flags.all);
}

/// Cluster and jobs are the last files where no flags name them; one or two plans are left.
void sort_files(DiffFlags& flags) {
  flags.plans = flags.files;
  for (std::string& file : flags.plans) {
    if (file == "-") file = "/dev/stdin";
  }
  for (auto [file, flag] :
       {std::pair(&flags.input.jobs, "--jobs"), std::pair(&flags.input.cluster, "--cluster")}) {
    if (file->empty()) {
      if (flags.plans.size() < 2) throw CLI::RequiredError(flag);
      *file = std::move(flags.plans.back());
      flags.plans.pop_back();
    }
    if (*file == "-") *file = "/dev/stdin";
  }
  if (flags.plans.size() > 2) {
    throw CLI::ValidationError(
        "plans", "one or two are compared, " + std::to_string(flags.plans.size()) + " are given");
  }
}

ExitCode run_diff(const comm::Communicator& comm, const DiffFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    ReadPlan last = read_placement(instance, flags.plans.back());
    if (flags.plans.size() == 2) {
      ReadPlan first = read_plan_alone(flags.plans.front());
      if (first.file.instance_digest != model::instance_digest(instance)) {
        const std::string text = text_by_names(instance, flags, first, std::move(last));
        std::fputs(text.c_str(), stdout);
        return static_cast<int>(ExitCode::done);
      }
    }
    Compared compared{.instance = instance,
                      .objective = last.objective,
                      .before = flags.plans.size() == 2
                                    ? read_placement(instance, flags.plans.front()).placement
                                    : report::running_placement(instance.workload),
                      .after = std::move(last.placement)};
    std::fputs(difference_text(compared, flags.all).c_str(), stdout);
    return static_cast<int>(ExitCode::done);
  }));
}

}  // namespace

void add_diff(CLI::App& app, Action& action) {
  auto flags = std::make_shared<DiffFlags>();
  CLI::App* command = app.add_subcommand(
      "diff", "What a plan changes: jobs placed, stopped, moved, kept, and what each brings");
  command
      ->add_option("plans", flags->files,
                   "Two plans, the first perhaps of other files (yesterday's), or one against what "
                   "runs now; then cluster and jobs, unless they are given by name")
      ->check(file_name())
      ->type_size(1)
      ->expected(1, 4)
      ->required();
  command->add_option("--cluster", flags->input.cluster, "Cluster file, YAML (.gz by suffix)")
      ->check(file_name());
  command
      ->add_option("--jobs", flags->input.jobs, "Jobs file, one JSON object a line (.gz by suffix)")
      ->check(file_name());
  command->add_flag("--all", flags->all, "List the jobs that are kept too");
  command->callback([flags, &action] {
    sort_files(*flags);
    action = [flags](const comm::Communicator& comm) { return run_diff(comm, *flags); };
  });
}

}  // namespace berth::apps
