// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/check.hpp"

#include "cache_folder.hpp"
#include "commands.hpp"
#include "huge_pages.hpp"
#include "options.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/certify/horizon_plan.hpp"
#include "berth/certify/run.hpp"
#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/io/profiles_file.hpp"
#include "berth/io/run_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/report/horizon_summary.hpp"
#include "berth/report/summary.hpp"

namespace berth::apps {
namespace {

struct CheckFlags {
  pipeline::Input input;
  std::string plan;
  std::string run;
};

void print_verdict(const certify::CheckResult& checked) {
  for (const certify::Fault& fault : checked.faults) {
    fmt::print("  fault {}: {}\n", certify::name(fault.kind), fault.text);
  }
  const auto unlisted = checked.fault_count - std::ssize(checked.faults);
  if (unlisted > 0) fmt::print("  and {} faults more\n", unlisted);
  fmt::print("plan is {}\n", checked.valid() ? "VALID" : "INVALID");
}

void print(const certify::HorizonCheck& check) {
  fmt::print("recomputed from the files alone:\n");
  fmt::print("{}", report::horizon_figures(check.judged.figures, check.objective));
  print_verdict(check.checked);
}

void print(const model::Instance& instance, const certify::CheckResult& checked) {
  const model::Figures& f = checked.figures;
  fmt::print("recomputed from the files alone:\n");
  fmt::print("  {:<14}{}\n", "objective", report::objective_text(f, checked.objective_kind));
  fmt::print("  {:<14}{:.10g}\n", "upper bound", f.upper_bound);
  if (checked.valid()) {
    fmt::print("  {:<14}{:.4f} %\n", "gap", 100.0 * f.gap);
    fmt::print("{}", report::gap_text(checked.gap_parts, f));
  } else {
    fmt::print("  {:<14}none: the plan has faults\n", "gap");
  }
  fmt::print("{}", report::class_lines(checked.classes));
  const report::PlanRoom room =
      report::plan_room(instance.cluster, std::ssize(model::pinned_jobs(instance.workload)));
  fmt::print("  {:<14}{}\n", "GPUs", report::gpus_text(f, room));
  fmt::print("  {:<14}{}\n", "jobs", report::jobs_text(f, room));
  if (!checked.required_missing.empty()) {
    fmt::print("  {:<14}{} required jobs are missing\n", "required",
               checked.required_missing.size());
  }
  print_verdict(checked);
}

/// Judges and prints; true when the plan is valid.
bool judge(const model::Instance& instance, const std::string& path) {
  const std::string text = io::read_file(path);
  if (io::has_horizon(text, path)) {
    const auto check = certify::check_horizon(instance, io::parse_horizon_plan(text, path));
    print(check);
    return check.checked.valid();
  }
  const certify::CheckResult checked = certify::check(instance, io::parse_plan(text, path));
  print(instance, checked);
  return checked.valid();
}

/// Failures of a simulation; a run without them has no such file.
std::vector<certify::MachineDown> machines_down(const model::Cluster& cluster,
                                                const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / io::kRunFailures;
  std::vector<certify::MachineDown> down;
  if (!std::filesystem::exists(path)) return down;
  const std::string text = io::read_file(path.string());
  for (const io::MachineFailure& failure : io::parse_failures(text, path.string(), cluster)) {
    down.push_back({failure.machine, failure.from * model::kMicros, failure.to * model::kMicros});
  }
  return down;
}

/// Judges the records of a simulation and prints; true when they are valid.
bool judge_run(const model::Instance& instance, const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::string jobs = (path / io::kRunJobs).string();
  const std::string head = (path / io::kRunSummary).string();
  const std::string text = io::read_file(jobs);
  model::RunSummary summary = io::parse_run_summary(io::read_file(head), head);
  certify::RunCheck check =
      certify::check_run(instance, io::parse_run_records(text, jobs, instance), summary,
                         machines_down(instance.cluster, path));
  fmt::print("recomputed from the job records alone:\n");
  for (const model::RunFigureRow& row : model::kRunFigureRows) {
    fmt::print("  {:<28}{:.6g}\n", row.text, check.figures.*row.value);
  }
  if (model::Sha256().text(text).hex() != summary.run_digest) {
    check.faults.emplace_back("the digest of the records is not that of the summary");
    ++check.fault_count;
  }
  for (const std::string& fault : check.faults) fmt::print("  fault: {}\n", printable(fault));
  const auto unlisted = check.fault_count - std::ssize(check.faults);
  if (unlisted > 0) fmt::print("  and {} faults more\n", unlisted);
  fmt::print("run is {}\n", check.valid() ? "VALID" : "INVALID");
  return check.valid();
}

/// Half of the time of a small check are page faults (huge_pages.hpp). Large ones use threads.
void prepare_heap(const CheckFlags& flags) {
  constexpr std::uintmax_t kSmall = std::uintmax_t{16} << 20;
  constexpr std::uintmax_t kHeapPerByte = 12;  // 45 MB for the 4.6 MB of 10,000 jobs in time
  std::uintmax_t bytes = 0;
  for (const std::string& file : {flags.input.cluster, flags.input.jobs, flags.plan}) {
    bytes += regular_size(file).value_or(0);
  }
  if (bytes > 0 && bytes < kSmall) allocate_in_huge_pages(kHeapPerByte * bytes);
}

ExitCode run_check(const comm::Communicator& comm, const CheckFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    prepare_heap(flags);
    const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    for (const std::string& note : instance.workload.notes) {
      std::fputs(("warning: " + printable(note) + "\n").c_str(), stderr);
    }
    const bool valid =
        flags.run.empty() ? judge(instance, flags.plan) : judge_run(instance, flags.run);
    return static_cast<int>(valid ? ExitCode::done : ExitCode::check_invalid);
  }));
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command = app.add_subcommand(
      "check", "Judge a plan: every device, gang, figure and the proof of its bound (exit 0 or 1)");
  add_input(*command, flags->input);
  CLI::Option_group* judged = command->add_option_group("judged");
  judged->add_option("--plan,plan", flags->plan, "The plan to judge")
      ->check(file_name())
      ->transform(dash_for("/dev/stdin"));
  judged->add_option("--run", flags->run, "The folder of a simulation to judge")
      ->check(file_name());
  judged->require_option(1);
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_check(comm, *flags); };
  });
}

}  // namespace berth::apps
