// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/simulate.hpp"

#include "commands.hpp"
#include "options.hpp"
#include "replay.hpp"
#include "signals.hpp"
#include "sweep.hpp"
#include "timed_policy.hpp"
#include "utility_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "berth/base/error.hpp"
#include "berth/base/printable.hpp"
#include "berth/certify/horizon.hpp"
#include "berth/certify/preemptive.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/run_file.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/papers/slot_relaxation.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/berth_policy.hpp"
#include "berth/sim/checkpoint_file.hpp"
#include "berth/sim/offline_bound.hpp"
#include "berth/sim/trace.hpp"
#include "berth/sim/write_run.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::apps {
namespace {

void warn(const std::string& text) {
  std::fputs(("warning: " + printable(text) + "\n").c_str(), stderr);
}

/// Names the refused jobs: the first ones, then their number.
void tell_refused(const model::Instance& instance, const sim::Trace& trace) {
  constexpr std::size_t kMost = 10;
  for (std::size_t i = 0; i < trace.refused.size() && i < kMost; ++i) {
    const sim::RefusedJob& refused = trace.refused[i];
    warn(fmt::format("job {} {}: it is left out", instance.workload.job_names[refused.job.index()],
                     refused.reason));
  }
  if (trace.refused.size() > kMost) {
    warn(fmt::format("{} jobs more are left out", trace.refused.size() - kMost));
  }
}

/// One line on a terminal that overwrites itself: simulated days, queue, jobs, time left.
sim::ProgressCall progress_line(bool quiet, std::size_t jobs) {
  if (quiet || isatty(STDERR_FILENO) == 0) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [begin, jobs](const sim::SimulationProgress& p) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    const double part = static_cast<double>(p.ended) / static_cast<double>(jobs);
    const double left = part > 0.0 ? spent.count() * (1.0 / part - 1.0) : 0.0;
    const double days = static_cast<double>(p.now) / static_cast<double>(sim::kSecond) / 86400.0;
    std::fputs(fmt::format("\rday {:.2f}  waiting {}  running {}  ended {} of {}  {:.0f} s left   ",
                           days, p.waiting, p.running, p.ended, jobs, left)
                   .c_str(),
               stderr);
  };
}

/// The bounds on the mean JCT that any schedule of these jobs has, one that knows all arrivals too:
/// the first, of schedules that stop no job, is the judge's.
void print_bounds(const model::Instance& instance, const sim::Run& run, double mean) {
  const sim::OfflineProblem offline = sim::offline_problem(instance, run.records);
  if (offline.finished == 0) return;
  const auto prices =
      solver::bound_horizon(offline.problem, {.intervals = 128, .large_gangs = false});
  horizon::Plan all;  // every job counts
  for (const horizon::Job& job : offline.problem.jobs) {
    all.starts.push_back({.option = 0, .pool = PoolId(0), .start = job.release, .shares = {}});
  }
  const double kept =
      certify::prove_horizon(offline.problem, all, solver::certificate_of(prices)).bound;
  const double any = certify::prove_preemptive(
      offline.problem, sim::preemptive_prices(offline.problem, prices.grid.back()));
  const auto print = [&](const char* what, double bound) {
    const double least = (bound + offline.outside) / static_cast<double>(offline.finished);
    fmt::print("  {:<28}{:.6g} ({:.2f} % below)\n", what, least, 100.0 * (1.0 - least / mean));
  };
  print("bound, jobs not stopped, s", kept);
  print("bound, any schedule, s", any);
}

void print_costs(const TimedPolicy& timed, const sim::BerthCounts& counts) {
  const auto print = [](const char* what, const TimedDecisions& of, const char* end) {
    fmt::print("  {:<28}{} of {:.3g} jobs present: mean {:.1f} us, worst {:.1f} us{}", what,
               of.count, of.mean_present(), 1e6 * of.mean_seconds(), 1e6 * of.worst, end);
  };
  print("decisions", timed.plain(), "\n");
  if (counts.decisions == 0) return;
  if (!counts.rounds.empty()) {
    print("  with a round of prices", timed.priced(), "");
    fmt::print(", mean gap {:.2f} %\n", 100.0 * sim::mean_gap(counts));
  }
  fmt::print("  {:<28}{}; moves to another type {}; all planner seconds {:.3f}\n",
             "  over all jobs", counts.decisions, counts.moves,
             timed.plain().seconds + timed.priced().seconds);
}

/// @param signalled  null: signals end the program
ExitCode simulate_on_root(const SimulateFlags& flags, const volatile std::sig_atomic_t* signalled) {
  expect_policy(flags);
  const model::Instance instance = read_simulated(flags);
  for (const std::string& note : instance.workload.notes) warn(note);
  tell_ignored(flags, instance);
  const auto prepared = prepare_world(instance, flags.world, flags.trace.seed);
  sim::BerthCounts counts;
  const auto policy = make_policy(flags, counts, {instance, prepared->profiles, flags.trace.seed});
  const sim::Trace trace = sim::make_trace(instance, trace_options(flags), prepared->speeds.get());
  tell_refused(instance, trace);
  const auto options = record_of(flags);
  const std::string input = input_of(instance, flags.policy, options);
  finish_world(instance, trace, flags.world, flags.trace.seed, input, *prepared);
  const bool saves = !flags.world.checkpoint.empty();
  if (saves) io::expect_writable(flags.world.checkpoint);
  const StopSource stop(StopSource::kNever, signalled);
  prepared->world.stop = StopToken(stop);
  TimedPolicy timed(*policy, counts);
  const std::clock_t begin = std::clock();
  const sim::ProgressCall progress = progress_line(flags.quiet, trace.jobs.size());
  const sim::Run run = sim::simulate(instance.cluster, trace, timed, progress, prepared->world);
  const double spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (progress) std::fputs("\r\x1b[K", stderr);
  if (!run.complete) {
    if (!saves) {
      throw InputError({.file = "", .line = 0, .field = "stop-at"}, "ends before the last job",
                       "give --checkpoint a file for what is left");
    }
    sim::write_checkpoint(flags.world.checkpoint, input, run.checkpoint);
    fmt::print("stopped early: --resume {} goes on\n", flags.world.checkpoint);
    std::fflush(stdout);
    return ExitCode::limit_reached;
  }
  sim::write_rounds(flags.out, counts.rounds);
  const auto summary =
      sim::write_run(flags.out, instance, run, flags.policy, options, prepared->failures);
  fmt::print("{}", sim::summary_table(summary));
  fmt::print("  {:<28}{} in {:.3f} CPU seconds ({:.3g} a second)\n", "job events", run.job_events,
             spent, static_cast<double>(run.job_events) / std::max(spent, 1e-6));
  print_costs(timed, counts);
  if (flags.bound) {
    print_bounds(instance, run, summary.figures.jct_mean);
    if (papers::earns_utility(flags.policy)) {
      print_utility_bound(flags.policy, {instance, prepared->profiles, flags.trace.seed},
                          run.records);
    }
  }
  fmt::print("  {:<28}{}\n", "written", flags.out);
  std::fflush(stdout);
  return ExitCode::done;
}

ExitCode run_simulate(const comm::Communicator& comm, const SimulateFlags& flags) {
  std::unique_ptr<solver::PetscSession> petsc;
  if (flags.policy == kBerth || papers::find_paper_policy(flags.policy) != nullptr || flags.bound ||
      flags.sweep.on) {
    petsc = comm.agreed([] { return std::make_unique<solver::PetscSession>(); });
  }
  if (flags.sweep.on) {
    release_signals();
    return run_sweep(comm, flags);
  }
  refuse_lists_without_sweep(flags);
  const bool saves = !flags.world.checkpoint.empty();
  const volatile std::sig_atomic_t* signalled = saves ? catch_signals() : nullptr;
  if (!saves) release_signals();
  int code = 0;
  comm.agreed_on_root([&] { code = static_cast<int>(simulate_on_root(flags, signalled)); });
  return static_cast<ExitCode>(comm.max(code));
}

std::string policy_names() {
  std::string text = "One of";
  for (const std::string& name : simulated_policies()) text += " " + name + ",";
  return text + " pop-K (max-min in K parts)";
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  auto flags = std::make_shared<SimulateFlags>();
  CLI::App* command =
      app.add_subcommand("simulate", "Replay a trace against a scheduling policy, event by event");
  add_input(*command, flags->input);
  command->add_option("--policy", flags->policy, policy_names())->required();
  command->add_option("--out", flags->out, "Folder for the records of the run")
      ->check(file_name())
      ->required();
  command->add_option("--estimates", flags->estimates, "What policies know of durations")
      ->check(CLI::IsMember(estimate_names()))
      ->capture_default_str();
  command
      ->add_option("--residual", flags->residual,
                   "Of history: what past jobs say about the time left")
      ->check(CLI::IsMember(residual_names()))
      ->capture_default_str();
  command
      ->add_option("--noise", flags->trace.noise,
                   "Of noisy estimates: standard deviation of the factor's logarithm, 0 to 5")
      ->check(CLI::Range(0.0, 5.0))
      ->capture_default_str();
  command->add_option("--seed", flags->trace.seed, "Of noisy estimates and walltimes")
      ->check(not_negative())
      ->capture_default_str();
  command
      ->add_option("--restart-cost", flags->restart_cost,
                   "Seconds without progress at each resume of a job that names no restart_cost")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{31'557'600}))
      ->capture_default_str();
  command->add_option("--round", flags->round, "Of max-min, max-sum and pop-K: seconds of a round")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{31'557'600}))
      ->capture_default_str();
  command
      ->add_option(
          "--now", flags->now,
          "Second at which it begins when jobs run then (default: the last start or arrival "
          "of one that runs)")
      ->check(not_negative());
  command->add_flag("--only-preemptible", flags->trace.only_marked,
                    "Stop only jobs with \"preemptible\"; they lose work behind a checkpoint");
  add_world_options(*command, flags->world);
  add_berth_flags(*command, flags->berth);
  command->add_flag("--bound", flags->bound,
                    "Bounds on the mean JCT, and with pd-ors, oasis, smd, optimus and esw on the "
                    "total utility, of every schedule of the jobs");
  command->add_flag("--sweep", flags->sweep.on,
                    "Replay under each of --policy A,B,.. x --seeds x --loads, spread over ranks");
  command->add_option("--seeds", flags->sweep.seeds, "Of a sweep: seeds, separated by commas")
      ->delimiter(',')
      ->check(not_negative());
  command
      ->add_option("--loads", flags->sweep.loads,
                   "Of a sweep: arrivals are stretched until the jobs load the GPUs this much")
      ->delimiter(',')
      ->check(CLI::Range(1e-6, 1e6));
  command->add_flag("--quiet", flags->quiet, "No progress line");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_simulate(comm, *flags); };
  });
}

}  // namespace berth::apps
