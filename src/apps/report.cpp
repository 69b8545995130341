// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <filesystem>
#include <memory>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/run_file.hpp"
#include "berth/model/digest.hpp"
#include "berth/report/page.hpp"
#include "berth/report/run_page.hpp"

namespace berth::apps {
namespace {

struct ReportFlags {
  pipeline::Input input;
  std::string plan, html;
};

/// The page about the folder of a simulation.
std::string page_of_run(const model::Instance& instance, const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::string head = (path / io::kRunSummary).string();
  const std::string jobs = (path / io::kRunJobs).string();
  const model::RunSummary summary = io::parse_run_summary(io::read_file(head), head);
  if (summary.instance_digest != model::instance_digest(instance)) {
    throw InputError({.file = head, .line = 0, .field = "instance_digest"},
                     "the run was made for other files",
                     "give the cluster and the jobs that it was made for");
  }
  const auto records = io::parse_run_records(io::read_file(jobs), jobs, instance);
  const model::InstanceView view(instance);
  return report::run_page({.instance = view, .summary = summary, .records = records});
}

std::string page_of_plan(const model::Instance& instance, const std::string& path) {
  const ReadPlan plan = read_placement(instance, path);
  const model::InstanceView view(instance);
  return report::page({.now = {view, plan.placement, plan.file.waiting},
                       .file = plan.file,
                       .prices = plan.certificate.has_value() ? &*plan.certificate : nullptr,
                       .in_time = plan.in_time.has_value() ? &*plan.in_time : nullptr});
}

ExitCode run_report(const comm::Communicator& comm, const ReportFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    io::expect_writable(flags.html);
    const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    const bool is_run = std::filesystem::is_directory(flags.plan);
    const std::string text =
        is_run ? page_of_run(instance, flags.plan) : page_of_plan(instance, flags.plan);
    io::write_atomically(flags.html, [&](io::AtomicFile& file) { file.write(text); });
    return static_cast<int>(ExitCode::done);
  }));
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand(
      "report",
      "One HTML page about a plan or a simulation: map, waits, quotas, prices, jobs in time");
  command->add_option("plan", flags->plan, "The plan, or the folder of a simulation")
      ->check(file_name())
      ->transform(dash_for("/dev/stdin"))
      ->required();
  add_input(*command, flags->input);
  command
      ->add_option("--html", flags->html,
                   "Page to write: one file that needs no network; -: standard output")
      ->check(file_name())
      ->transform(dash_for(kStandardOutput))
      ->required();
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_report(comm, *flags); };
  });
}

}  // namespace berth::apps
