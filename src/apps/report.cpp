// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/report/page.hpp"

namespace berth::apps {
namespace {

struct ReportFlags {
  pipeline::Input input;
  std::string plan, html;
};

/// The plan as one in time; none without a horizon.
std::optional<model::RawHorizonPlan> read_in_time(const std::string& path) {
  const std::string text = io::read_file(path);
  if (!io::has_horizon(text, path)) return std::nullopt;
  return io::parse_horizon_plan(text, path);
}

ExitCode run_report(const comm::Communicator& comm, const ReportFlags& flags) {
  return static_cast<ExitCode>(comm.agreed([&] {
    if (comm.rank() != 0) return static_cast<int>(ExitCode::done);
    io::expect_writable(flags.html);
    const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    const ReadPlan plan = read_placement(instance, flags.plan);
    const std::optional<model::RawHorizonPlan> in_time = read_in_time(flags.plan);
    const model::InstanceView view(instance);
    const report::PageContent content{
        .now = {view, plan.placement, plan.file.waiting},
        .file = plan.file,
        .prices = plan.certificate.has_value() ? &*plan.certificate : nullptr,
        .in_time = in_time.has_value() ? &*in_time : nullptr};
    const std::string text = report::page(content);
    io::write_atomically(flags.html, [&](io::AtomicFile& file) { file.write(text); });
    return static_cast<int>(ExitCode::done);
  }));
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand(
      "report", "One HTML page about a plan: map of machines, waiting jobs, quotas, prices");
  command->add_option("plan", flags->plan, "The plan")->check(file_name())->required();
  add_input(*command, flags->input);
  command->add_option("--html", flags->html, "Page to write: one file that needs no network")
      ->check(file_name())
      ->required();
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_report(comm, *flags); };
  });
}

}  // namespace berth::apps
