// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/simulate.hpp"

#include "commands.hpp"
#include "options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "berth/base/printable.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/run_file.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/trace.hpp"
#include "berth/sim/write_run.hpp"

namespace berth::apps {
namespace {

struct SimulateFlags {
  pipeline::Input input;
  std::string policy;
  std::string out;
  std::string estimates = "exact";
  sim::ReplayOptions trace;
  std::int64_t restart_cost = 60;  // seconds
  bool quiet = false;
};

constexpr const char* kEstimates[] = {"exact", "limits", "noisy"};

sim::ReplayOptions trace_options(const SimulateFlags& flags) {
  sim::ReplayOptions options = flags.trace;
  for (std::size_t e = 0; e < std::size(kEstimates); ++e) {
    if (flags.estimates == kEstimates[e]) options.estimates = static_cast<sim::Estimates>(e);
  }
  options.restart_cost = flags.restart_cost * sim::kSecond;
  return options;
}

/// Options that change the run, as the summary states them.
std::map<std::string, std::string> record_of(const SimulateFlags& flags) {
  std::map<std::string, std::string> options{
      {"estimates", flags.estimates},
      {"preemptible", flags.trace.only_marked ? "marked" : "all"},
      {"restart_cost", std::to_string(flags.restart_cost)}};
  if (flags.estimates == "noisy") {
    options["noise"] = fmt::format("{}", flags.trace.noise);
    options["seed"] = std::to_string(flags.trace.seed);
  }
  return options;
}

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

void simulate_on_root(const SimulateFlags& flags) {
  const policy::PolicyRow& row = policy::policy_row(flags.policy);
  const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
  for (const std::string& note : instance.workload.notes) warn(note);
  if (const std::string keys = sim::ignored_keys(instance); !keys.empty()) {
    warn("a simulation ignores: " + keys);
  }
  const sim::Trace trace = sim::make_trace(instance, trace_options(flags));
  tell_refused(instance, trace);
  const auto policy = row.make({});
  const std::clock_t begin = std::clock();
  const sim::ProgressCall progress = progress_line(flags.quiet, trace.jobs.size());
  const sim::Run run = sim::simulate(instance.cluster, trace, *policy, progress);
  const double spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (progress) std::fputs("\r\x1b[K", stderr);
  const auto summary = sim::write_run(flags.out, instance, run, flags.policy, record_of(flags));
  fmt::print("{}", sim::summary_table(summary));
  fmt::print("  {:<28}{} in {:.3f} CPU seconds ({:.3g} a second)\n", "job events", run.job_events,
             spent, static_cast<double>(run.job_events) / std::max(spent, 1e-6));
  fmt::print("  {:<28}{}\n", "written", flags.out);
  std::fflush(stdout);
}

ExitCode run_simulate(const comm::Communicator& comm, const SimulateFlags& flags) {
  comm.agreed_on_root([&] { simulate_on_root(flags); });
  return ExitCode::done;
}

std::string policy_names() {
  std::string text = "One of";
  for (const policy::PolicyRow& row : policy::policy_table()) {
    text += (text.size() > 6 ? ", " : " ") + std::string(row.name);
  }
  return text;
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
      ->check(CLI::IsMember({"exact", "limits", "noisy"}))
      ->capture_default_str();
  command
      ->add_option("--noise", flags->trace.noise,
                   "Of noisy estimates: standard deviation of the factor's logarithm, 0 to 5")
      ->check(CLI::Range(0.0, 5.0))
      ->capture_default_str();
  command->add_option("--seed", flags->trace.seed, "Of noisy estimates")
      ->check(not_negative())
      ->capture_default_str();
  command
      ->add_option("--restart-cost", flags->restart_cost,
                   "Seconds without progress at each resume of a job that names no restart_cost")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{31'557'600}))
      ->capture_default_str();
  command->add_flag("--only-preemptible", flags->trace.only_marked,
                    "Stop only jobs with \"preemptible\"; they lose work behind a checkpoint");
  command->add_flag("--quiet", flags->quiet, "No progress line");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_simulate(comm, *flags); };
  });
}

}  // namespace berth::apps
