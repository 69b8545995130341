// SPDX-License-Identifier: Apache-2.0
#include "plan_horizon.hpp"

#include "plan_origin.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "berth/coordinator/dual_ranks.hpp"
#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/option_table.hpp"
#include "berth/pipeline/plan_horizon.hpp"
#include "berth/report/horizon_summary.hpp"

namespace berth::apps {
namespace {

std::string effort_text(int effort) {
  return effort == pipeline::kMostEffort ? "max" : fmt::format("{}", effort);
}

ExitCode plan_on_root(const comm::Communicator& comm, const PlanFlags& flags,
                      report::ProgressTable& progress, const StopToken& stop) {
  coordinator::RootOfDual ranks(comm, stop);
  const double start = progress.seconds();
  const model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
  for (const std::string& note : instance.workload.notes) progress.warn(note);
  const double loaded = progress.seconds();
  pipeline::HorizonRequest request{.horizon = flags.horizon,
                                   .keep = {},
                                   .keep_price = flags.keep_price,
                                   .effort = flags.plan.effort,
                                   .gap = flags.plan.gap,
                                   .checkpoint = flags.plan.checkpoint,
                                   .ranks = &ranks,
                                   .shard_ranks = &ranks};
  if (!flags.keep.empty()) {
    request.keep = io::parse_horizon_plan(io::read_file(flags.keep), flags.keep);
  }
  model::HorizonPlan plan = pipeline::plan_horizon(instance, request, progress, stop);
  plan.options = {{"objective", std::string(model::to_string(flags.horizon.objective))}};
  if (flags.plan.effort != 1) plan.options["effort"] = effort_text(flags.plan.effort);
  if (flags.keep_price) plan.options["keep-price"] = fmt::format("{}", *flags.keep_price);
  plan.seconds["load"] = loaded - start;
  pipeline::write_horizon_plan(flags.out, instance, plan);
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  const std::string head =
      report::heading(instance.cluster, plan_origin(comm, instance.workload, jobs));
  fmt::print(figures_stream(flags), "{}{}  {:<14}{}\n", head, report::horizon_summary(plan),
             "written", flags.out);
  std::fflush(stdout);
  if (!plan.reproducible) return ExitCode::limit_reached;
  const bool complete = plan.required_missing.empty() || model::minimised(flags.horizon.objective);
  return complete ? ExitCode::done : ExitCode::required_missing;
}

}  // namespace

ExitCode run_plan_horizon(const comm::Communicator& comm, const PlanFlags& flags,
                          report::ProgressTable& progress, const StopToken& stop) {
  auto code = static_cast<std::int64_t>(ExitCode::done);
  comm.agreed([&] {
    if (comm.rank() == 0) {
      code = static_cast<std::int64_t>(plan_on_root(comm, flags, progress, stop));
    } else {
      coordinator::serve_dual(comm, stop);
    }
  });
  comm.broadcast_value(code);
  return static_cast<ExitCode>(code);
}

}  // namespace berth::apps
