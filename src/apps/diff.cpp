// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/certify/figures.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/report/plan_difference.hpp"

namespace berth::apps {
namespace {

struct DiffFlags {
  pipeline::Input input;
  std::vector<std::string> plans;
  bool all = false;
};

/// Two placements of one instance and the objective in which their jobs are valued.
struct Compared {
  const model::Instance& instance;
  model::Objective objective;
  model::Placement before, after;
};

const model::JobPlacement* find(const model::Placement& placement, JobId job) {
  const auto at = std::ranges::lower_bound(placement, job, {}, &model::JobPlacement::job);
  return at != placement.end() && at->job == job ? &*at : nullptr;
}

/// What the job brings where it is placed, with the cost of stopping it that is saved; 0 where it
/// is not placed. Penalties of soft quotas are in the objectives only.
double value(const Compared& compared, const model::JobPlacement* placed) {
  if (placed == nullptr) return 0.0;
  const model::Placement alone{*placed};
  const certify::PlacementSums sums =
      certify::placement_sums(compared.instance, compared.objective, alone);
  return std::ldexp(static_cast<double>(sums.gain), -certify::ObjectiveValue::kScaleLog2);
}

std::string job_line(const Compared& compared, JobId job) {
  const model::JobPlacement* const before = find(compared.before, job);
  const model::JobPlacement* const after = find(compared.after, job);
  const auto& workload = compared.instance.workload;
  constexpr std::size_t kPlaces = 24;
  const auto where = [&](const model::JobPlacement* placed) {
    return placed == nullptr ? std::string("-")
                             : report::places(compared.instance.cluster, *placed, kPlaces);
  };
  return fmt::format("  {:<20} {:>5.6g} GPUs {:>+10.6g}  {} -> {}\n",
                     printable(workload.job_names[job.index()]),
                     static_cast<double>(workload.gpu_milli(workload.job(job))) / 1000.0,
                     value(compared, after) - value(compared, before), where(before), where(after));
}

/// One kind of change: its number of jobs and GPUs, what it brings, and its jobs.
std::string change_text(const Compared& compared, std::string_view name,
                        const std::vector<JobId>& jobs, bool list) {
  double gpus = 0.0, gain = 0.0;
  std::string lines;
  for (const JobId job : jobs) {
    const auto& workload = compared.instance.workload;
    gpus += static_cast<double>(workload.gpu_milli(workload.job(job))) / 1000.0;
    gain +=
        value(compared, find(compared.after, job)) - value(compared, find(compared.before, job));
    if (list) lines += job_line(compared, job);
  }
  return fmt::format("{:<8} {:>8} jobs {:>10.8g} GPUs {:>+14.8g}\n", name, jobs.size(), gpus,
                     gain) +
         lines;
}

std::string difference_text(const Compared& compared, bool all) {
  const report::PlanDifference changes = report::difference(compared.before, compared.after);
  const auto objective = [&](const model::Placement& placement) {
    return certify::objective(compared.instance, compared.objective, placement).value;
  };
  const double before = objective(compared.before), after = objective(compared.after);
  return fmt::format("objective {:.10g} -> {:.10g} ({:+.6g})\n", before, after, after - before) +
         change_text(compared, "placed", changes.placed, true) +
         change_text(compared, "stopped", changes.stopped, true) +
         change_text(compared, "moved", changes.moved, true) +
         change_text(compared, "kept", changes.kept, all);
}

ExitCode run_diff(const comm::Communicator& comm, const DiffFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    ReadPlan last = read_placement(instance, flags.plans.back());
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
      ->add_option("plans", flags->plans,
                   "Two plans of one instance, or one plan against what runs now")
      ->check(file_name())
      ->expected(1, 2)
      ->required();
  add_input(*command, flags->input);
  command->add_flag("--all", flags->all, "List the jobs that are kept too");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_diff(comm, *flags); };
  });
}

}  // namespace berth::apps
