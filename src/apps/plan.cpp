// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "plan_flags.hpp"
#include "plan_horizon.hpp"
#include "plan_origin.hpp"
#include "plan_policy.hpp"
#include "signals.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/cores.hpp"
#include "berth/pipeline/trace.hpp"
#include "berth/pipeline/write_plan.hpp"
#include "berth/report/summary.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::apps {
namespace {

ExitCode outcome(const model::Plan& plan) {
  if (!plan.reproducible) return ExitCode::limit_reached;
  return plan.required_missing.empty() ? ExitCode::done : ExitCode::required_missing;
}

void keep_inputs(const PlanFlags& flags) {
  const Named out{"--out", flags.out};
  const Named checkpoint{"--checkpoint", flags.plan.checkpoint.file};
  const Named trace{"--trace-out", flags.trace};
  expect_distinct({out, checkpoint, trace});
  for (const Named& written : {out, checkpoint, trace}) {
    if (written.path.empty()) continue;
    keep_input(written, flags.input);
    io::expect_writable(written.path);
  }
  keep_input(out, Named{"--resume", flags.plan.checkpoint.resume});
  keep_input(trace, Named{"--resume", flags.plan.checkpoint.resume});
  if (!flags.profiles.empty()) keep_input(out, Named{"--profiles", flags.profiles});
}

/// Refuses objectives that a plan of a moment, or one in time, does not have.
void validate_horizon(const PlanFlags& flags) {
  const bool in_time = flags.horizon.length > 0;
  const InputError::Where where{.file = "", .line = 0, .field = "--objective"};
  if (!in_time && model::minimised(flags.horizon.objective)) {
    throw InputError(where,
                     fmt::format("{} needs --horizon", model::to_string(flags.horizon.objective)));
  }
  if (in_time && flags.plan.objective != model::Objective::value) {
    throw InputError(where, "a plan with --horizon has the objective value, flow or makespan");
  }
  if (!flags.keep.empty() && flags.horizon.objective == model::HorizonObjective::makespan) {
    throw InputError({.file = "", .line = 0, .field = "--keep"},
                     "promises are kept under the objectives value and flow");
  }
}

/// Refuses bad flags and files before any work is done.
void refuse_early(const comm::Communicator& comm, const PlanFlags& flags) {
  comm.agreed([&] {
    validate(flags.plan);
    validate_horizon(flags);
    if (comm.rank() == 0) keep_inputs(flags);
  });
}

/// Writes the events of all ranks to the trace file. Collective.
void write_trace(const comm::Communicator& comm, const std::string& path) {
  const std::string text = pipeline::gather_trace(comm);
  comm.agreed_on_root(
      [&] { io::write_atomically(path, [&](io::AtomicFile& file) { file.write(text); }); });
}

/// Prints the figures. The plan is written: a full disk under them is told, and changes no code.
void print_figures(const std::string& text, std::FILE* stream, report::ProgressTable& progress) {
  if (std::fputs(text.c_str(), stream) >= 0 && std::fflush(stream) == 0) return;
  progress.warn(fmt::format("the plan is written, its figures are not: {}", std::strerror(errno)));
}

/// Of the jobs of all ranks. Collective.
report::PlanOrigin origin_of(const comm::Communicator& comm, const model::Instance& instance,
                             const coordinator::JobRecords& jobs) {
  report::PlanOrigin origin = plan_origin(comm, instance.workload, jobs.home_jobs());
  std::array sums{origin.jobs, origin.gpu_milli, origin.running};
  comm.sum(sums);
  std::tie(origin.jobs, origin.gpu_milli, origin.running) = std::tuple_cat(sums);
  return origin;
}

ExitCode run_plan(const comm::Communicator& comm, PlanFlags& flags) {
  const StopSource stop(StopSource::in_seconds(flags.time_limit), catch_signals());
  refuse_early(comm, flags);
  const auto petsc = comm.agreed([] { return std::make_unique<solver::PetscSession>(); });
  const parallel::ThreadLimit threads(pipeline::share_cores(comm, flags.threads));
  report::LogOptions log = flags.log.options(comm.rank());
  if (flags.time_limit < PlanFlags{}.time_limit) log.time_limit = flags.time_limit;
  report::ProgressTable progress(log);
  progress.note(fmt::format("ranks={} threads={} blas={}", comm.size(), parallel::thread_limit(),
                            petsc->blas()));
  if (!flags.policy.empty()) return run_plan_policy(comm, flags, progress, StopToken(stop));
  if (flags.horizon.length > 0) return run_plan_horizon(comm, flags, progress, StopToken(stop));
  if (!flags.trace.empty()) comm.record_events();
  const double start = progress.seconds();
  model::Instance instance = pipeline::load_instance(comm, flags.input);
  for (const std::string& note : instance.workload.notes) progress.warn(note);
  if (const std::string keys = io::keys_of_time(instance.cluster, instance.workload);
      comm.rank() == 0 && !keys.empty()) {
    progress.warn("a plan of one moment ignores " + keys);
  }
  coordinator::JobRecords jobs(comm, instance.workload);
  pipeline::expect_countable(comm, instance, flags.plan.objective, jobs, flags.input.jobs);
  if (flags.plan.order == pipeline::JobOrder::priority) {
    pipeline::expect_few_priorities(comm, instance, jobs, flags.input.jobs);
  }
  const report::PlanOrigin origin = origin_of(comm, instance, jobs);
  const double loaded = progress.seconds();
  model::Plan plan =
      pipeline::plan_distributed(comm, instance, flags.plan, progress, jobs, StopToken(stop));
  plan.options = pipeline::recorded(flags.plan);
  plan.seconds["load"] = comm.max_seconds(loaded - start);
  pipeline::write_plan(comm, flags.out, instance, plan, jobs);
  const auto waiting = pipeline::waiting_by_reason(comm, plan);
  if (comm.rank() == 0) {
    print_figures(fmt::format("{}{}  {:<14}{}\n", report::heading(instance.cluster, origin),
                              report::summary(plan, waiting,
                                              report::plan_room(instance.cluster, origin.pinned)),
                              "written", flags.out),
                  figures_stream(flags), progress);
  }
  std::int64_t code = static_cast<std::int64_t>(outcome(plan));
  comm.broadcast_value(code);
  if (!flags.trace.empty()) write_trace(comm, flags.trace);
  return static_cast<ExitCode>(code);
}

}  // namespace

void add_plan(CLI::App& app, Action& action, report::LogFormat& log) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command = app.add_subcommand("plan", "Plan a cluster; run it under mpiexec for speed");
  add_plan_flags(*command, *flags);
  command->callback([flags, &action, &log] {
    log = flags->log.format_chosen();
    action = [flags](const comm::Communicator& comm) { return run_plan(comm, *flags); };
  });
}

}  // namespace berth::apps
