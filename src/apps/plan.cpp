// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "signals.hpp"

#include <cstdio>
#include <memory>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/comm/patterns.hpp"
#include "berth/io/file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/trace.hpp"
#include "berth/report/summary.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::apps {
namespace {

constexpr int kMostThreads = 4096;
constexpr int kMostBoundSteps = 1'000'000;
constexpr int kMostTreeNodes = 2000;
constexpr int kMostBatch = 1 << 30;

struct PlanFlags {
  pipeline::Input input;
  pipeline::PlanOptions plan;
  LogFlags log;
  std::string out;
  std::string trace;  ///< empty = none
  std::string objective = "value";
  bool online = false;
  bool take_all = false;
  int batch = 1;
  int threads = 0;           ///< 0 = default_threads
  double time_limit = 1e12;  ///< seconds: none
};

/// Jobs placed as they arrive, instead of all at once.
void add_online(CLI::App& command, PlanFlags& flags) {
  solver::OnlineOptions& online = flags.plan.online;
  CLI::Option* const order =
      command
          .add_flag("--online-order", flags.online,
                    "Place jobs as they arrive, a batch at a time: who is placed stays, who is "
                    "not is left out. Single tasks without home and quota only")
          ->excludes("--checkpoint")
          ->excludes("--resume");
  command.add_option("--batch", flags.batch, "Jobs looked at together, with --online-order")
      ->needs(order)
      ->check(CLI::Range(1, kMostBatch).description(""))
      ->capture_default_str();
  CLI::Option* const expect =
      command
          .add_option("--expect", online.expect,
                      "What this batch and later ones are expected to ask for, in the mix seen so "
                      "far, as a multiple of the free GPUs: the more, the choosier; 0 = nothing")
          ->needs(order)
          ->capture_default_str();
  command
      .add_option("--expect-load", online.load,
                  "What all jobs ask for, as a multiple of all GPUs, if that much is known before "
                  "they arrive; 0 = it is not")
      ->needs(order)
      ->excludes(expect)
      ->capture_default_str();
  command
      .add_flag("--take-all", flags.take_all,
                "Place every job that fits when it arrives, though better ones are expected; jobs "
                "worth nothing run only beside GPUs that are all taken")
      ->needs(order);
}

void add_flags(CLI::App& command, PlanFlags& flags) {
  add_input(command, flags.input);
  command.add_option("--out", flags.out, "Where the plan goes, JSON (.gz by suffix)")->required();
  command.add_option("--objective", flags.objective, "What is maximised: value or allocate (GPUs)")
      ->check(CLI::IsMember({"value", "allocate"}))
      ->capture_default_str();
  command
      .add_option("--shards", flags.plan.partition.shards,
                  "Logical pieces of the cluster; 0 = one per 4096 GPUs, at most the pods")
      ->capture_default_str();
  command.add_option("--gap", flags.plan.gap, "Stop at this certified gap, a fraction")
      ->capture_default_str();
  command
      .add_option("--bound-steps", flags.plan.bound_steps,
                  "Steps that tighten the bound once the plan is known, filling racks by whole "
                  "jobs; -1 = 200 up to 4096 GPUs, else none")
      ->check(CLI::Range(-1, kMostBoundSteps).description(""))
      ->capture_default_str();
  command
      .add_option("--tree-nodes", flags.plan.tree_nodes,
                  "Leaves of a tree of cases over the most undecided gangs that tightens the bound "
                  "further, where there were such steps; -1 = 32 up to 1024 GPUs, else none")
      ->check(CLI::Range(-1, kMostTreeNodes).description(""))
      ->capture_default_str();
  command
      .add_option("--time-limit", flags.time_limit,
                  "Seconds after which the best plan so far is certified and written (exit code "
                  "3); no limit by default")
      ->check(positive_seconds());
  CLI::Option* const checkpoint =
      command.add_option("--checkpoint", flags.plan.checkpoint.file,
                         "File to keep the plan in the making in, replaced at the ends of rounds");
  command
      .add_option("--checkpoint-every", flags.plan.checkpoint.every,
                  "Rounds from one checkpoint to the next; the first comes after the local plans")
      ->needs(checkpoint)
      ->capture_default_str();
  command.add_option("--resume", flags.plan.checkpoint.resume,
                     "Go on from this checkpoint of the same files and options, on any ranks");
  command.add_option("--seed", flags.plan.seed, "Key of every random draw")
      ->check(not_negative())
      ->capture_default_str();
  command
      .add_option("--threads", flags.threads,
                  "Threads per rank; 0 = OMP_NUM_THREADS, else the rank's share of the cores")
      ->check(CLI::Range(0, kMostThreads).description(""))
      ->capture_default_str();
  command.add_option("--trace-out", flags.trace,
                     "Stages, rounds, shards and messages of every rank in time, as JSON for "
                     "Perfetto or chrome://tracing (.gz by suffix)");
  add_online(command, flags);
  add_log(command, flags.log);
}

/// What was asked for, for the record in the plan file.
std::map<std::string, std::string> record(const PlanFlags& flags) {
  std::map<std::string, std::string> options{
      {"objective", flags.objective},
      {"shards", std::to_string(flags.plan.partition.shards)},
      {"bound_steps", std::to_string(flags.plan.bound_steps)},
      {"tree_nodes", std::to_string(flags.plan.tree_nodes)},
      {"gap", fmt::format("{}", flags.plan.gap)}};
  if (flags.online) {
    options["batch"] = std::to_string(flags.batch);
    options["expect"] = fmt::format("{}", flags.plan.online.expect);
    options["expect_load"] = fmt::format("{}", flags.plan.online.load);
    options["take_all"] = flags.take_all ? "yes" : "no";
  }
  return options;
}

ExitCode outcome(const model::Plan& plan) {
  if (!plan.reproducible) return ExitCode::limit_reached;
  return plan.required_missing.empty() ? ExitCode::done : ExitCode::required_missing;
}

int threads_of(const comm::Communicator& comm, int asked) {
  if (asked > 0) return asked;
  return parallel::default_threads(comm::ranks_sharing(comm, parallel::bound_cores()));
}

void keep_inputs(const PlanFlags& flags) {
  const Named out{"--out", flags.out};
  const Named checkpoint{"--checkpoint", flags.plan.checkpoint.file};
  for (const Named& written : {out, checkpoint, Named{"--trace-out", flags.trace}}) {
    if (written.path.empty()) continue;
    keep_input(written, flags.input);
    io::expect_writable(written.path);
  }
  keep_input(out, checkpoint);
  keep_input(out, Named{"--resume", flags.plan.checkpoint.resume});
}

/// Everything that can be refused before any work is done.
void refuse_early(const comm::Communicator& comm, const PlanFlags& flags) {
  comm.agreed([&] {
    validate(flags.plan);
    if (comm.rank() == 0) keep_inputs(flags);
  });
}

/// Collective.
void write_trace(const comm::Communicator& comm, const std::string& path) {
  const std::string text = pipeline::gather_trace(comm);
  comm.agreed([&] {
    if (comm.rank() != 0) return;
    io::write_atomically(path, [&](io::AtomicFile& file) { file.write(text); });
  });
}

ExitCode run_plan(const comm::Communicator& comm, PlanFlags& flags) {
  const StopSource stop(StopSource::in_seconds(flags.time_limit), catch_signals());
  refuse_early(comm, flags);
  const auto petsc = comm.agreed([] { return std::make_unique<solver::PetscSession>(); });
  const parallel::ThreadLimit threads(threads_of(comm, flags.threads));
  report::ProgressTable progress(flags.log.options(comm.rank()));
  flags.plan.objective =
      flags.objective == "allocate" ? model::Objective::allocate : model::Objective::value;
  flags.plan.stop = StopToken(stop);
  flags.plan.online.batch = flags.online ? flags.batch : 0;
  flags.plan.online.refuse = !flags.take_all;
  progress.note(fmt::format("ranks={} threads={} blas={}", comm.size(), parallel::thread_limit(),
                            petsc->blas()));
  if (!flags.trace.empty()) comm.record_events();
  const double start = progress.seconds();
  const model::Instance instance = pipeline::load_instance(comm, flags.input);
  const double loaded = progress.seconds();
  model::Plan plan = pipeline::plan_cluster(comm, instance, flags.plan, progress);
  plan.options = record(flags);
  plan.seconds["load"] = comm.max_seconds(loaded - start);
  comm.agreed([&] {
    if (comm.rank() != 0) return;
    io::write_plan(flags.out, instance, plan);
    fmt::print("{}  {:<14}{}\n", report::summary(plan), "written", flags.out);
  });
  std::int64_t code = static_cast<std::int64_t>(outcome(plan));
  comm.broadcast_value(code);
  if (!flags.trace.empty()) write_trace(comm, flags.trace);
  return static_cast<ExitCode>(code);
}

}  // namespace

void add_plan(CLI::App& app, Action& action, report::LogFormat& log) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command = app.add_subcommand("plan", "Plan a cluster; run it under mpiexec for speed");
  add_flags(*command, *flags);
  command->callback([flags, &action, &log] {
    log = flags->log.format_chosen();
    action = [flags](const comm::Communicator& comm) { return run_plan(comm, *flags); };
  });
}

}  // namespace berth::apps
