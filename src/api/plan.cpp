// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>

#include "berth/base/similar.hpp"
#include "berth/base/stop.hpp"
#include "berth/berth.hpp"
#include "berth/certify/check.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/comm/error.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/cores.hpp"
#include "berth/pipeline/option_table.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/report/progress.hpp"

namespace berth {
namespace {

pipeline::PlanOptions plan_options(const std::map<std::string, std::string>& named) {
  pipeline::PlanOptions options;
  std::vector<std::string> known;
  for (const pipeline::OptionRecord& row : pipeline::option_table()) known.emplace_back(row.name);
  for (const auto& [name, word] : named) {
    const InputError::Where where{.file = "", .line = 0, .field = name};
    if (std::ranges::find(known, name) == known.end()) {
      throw InputError(where, "unknown option", did_you_mean(name, known));
    }
    const std::string fault = pipeline::option_named(name).assign(options, word);
    if (!fault.empty()) throw InputError(where, fault);
  }
  pipeline::validate(options);
  return options;
}

model::Instance parse(std::string_view cluster, std::string_view jobs) {
  model::Instance instance;
  instance.cluster = io::parse_cluster(cluster, "cluster");
  instance.workload = io::parse_jobs(jobs, "jobs", instance.cluster);
  return instance;
}

report::LogOptions log_options(const Options& options, int rank) {
  report::LogOptions log{.format = report::LogFormat::text, .verbosity = 0};
  if (rank != 0) {
    log.on_warning = [](const std::string&) {};
    return log;
  }
  log.on_warning = options.warning;
  if (!options.progress) return log;
  log.on_line = [&options](const report::ProgressLine& line, double seconds) {
    options.progress({.seconds = seconds,
                      .stage = line.stage,
                      .round = line.round,
                      .objective = line.objective,
                      .bound = line.bound,
                      .gap = report::gap_of(line)});
  };
  return log;
}

/// One answer for all threads that ask.
StopSource::Watch watch_of(const std::function<bool()>& cancelled, std::mutex& mutex) {
  return [&cancelled, &mutex](std::int64_t) {
    const std::scoped_lock lock(mutex);
    return cancelled();
  };
}

PlacedTask placed_task(const model::RawTask& task) {
  PlacedTask result{.shape = task.shape, .machine = task.machine, .gpus = {}};
  for (const model::RawDevice& device : task.gpus) {
    result.gpus.push_back(static_cast<int>(device.index));
    result.gpu_milli = static_cast<int>(device.milli);
  }
  return result;
}

/// The plan by names, from its file's text.
PlanResult result_of(std::string text) {
  const model::RawPlan raw = io::parse_plan(text, "plan");
  PlanResult result{.objective = raw.figures.objective.value(),
                    .upper_bound = raw.figures.upper_bound.value(),
                    .gap = raw.figures.gap.value(),
                    .reproducible = raw.reproducible.value(),
                    .required_missing = raw.required_missing.value(),
                    .placed = {},
                    .waiting = {},
                    .instance_digest = raw.instance_digest.value(),
                    .plan_digest = raw.plan_digest.value(),
                    .text = {}};
  for (const model::RawPlacement& placed : raw.placements) {
    PlacedJob job{.job = placed.job, .tasks = {}};
    for (const model::RawTask& task : placed.tasks) job.tasks.push_back(placed_task(task));
    result.placed.push_back(std::move(job));
  }
  for (const model::RawUnplacedJob& job : raw.waiting) {
    result.waiting.push_back({job.job, job.reason});
  }
  result.text = std::move(text);
  return result;
}

/// The text of the plan's file, judged.
std::string judged_text(const model::Instance& instance, const model::Plan& plan) {
  std::string text = io::plan_text(instance, plan);
  const certify::CheckResult checked = certify::check(instance, io::parse_plan(text, "plan"));
  if (checked.valid()) return text;
  throw std::logic_error(fmt::format("the plan is invalid: {}; this is a bug",
                                     checked.faults.front().text));
}

/// The plan of an instance that all ranks have; complete on rank 0. Collective.
model::Plan plan_everywhere(const comm::Communicator& comm, const model::Instance& instance,
                            const pipeline::PlanOptions& options, report::ProgressTable& progress,
                            const StopToken& stop) {
  auto jobs = coordinator::JobRecords::of_replicated(comm, instance.workload);
  try {
    pipeline::expect_countable(comm, instance, options.objective, jobs, {});
    if (options.order == pipeline::JobOrder::priority) {
      pipeline::expect_few_priorities(comm, instance, jobs, {});
    }
  } catch (const comm::AgreedError& error) {  // of all ranks
    if (error.exit_code() != ExitCode::bad_input) throw;
    throw InputError({}, error.what());
  }
  model::Plan plan = pipeline::plan_distributed(comm, instance, options, progress, jobs, stop);
  plan.options = pipeline::recorded(options);
  pipeline::gather_plan(comm, plan);
  return plan;
}

PlanResult plan_instance(const model::Instance& instance, const pipeline::PlanOptions& chosen,
                         const Options& options) {
  api::need_session();
  const auto comm =
      options.this_rank_alone ? comm::Communicator::serial() : comm::Communicator::world();
  const parallel::ThreadLimit threads(pipeline::share_cores(comm, options.threads));
  report::ProgressTable progress(log_options(options, comm.rank()));
  for (const std::string& note : instance.workload.notes) progress.warn(note);
  std::mutex mutex;
  StopSource stop(options.time_limit > 0.0 ? StopSource::in_seconds(options.time_limit)
                                           : StopSource::kNever);
  if (options.cancelled) stop.watch(watch_of(options.cancelled, mutex));
  const model::Plan plan = plan_everywhere(comm, instance, chosen, progress, StopToken(stop));
  std::string text;
  comm.agreed_on_root([&] { text = judged_text(instance, plan); });
  comm.broadcast_string(text);
  return result_of(std::move(text));
}

}  // namespace

PlanResult plan_texts(std::string_view cluster, std::string_view jobs, const Options& options) {
  const pipeline::PlanOptions chosen = plan_options(options.named);
  return plan_instance(parse(cluster, jobs), chosen, options);
}

PlanResult plan(const ClusterBuilder& cluster, const JobsBuilder& jobs, const Options& options) {
  return plan_texts(cluster.text(), jobs.text(), options);
}

PlanResult plan_files(const std::string& cluster, const std::string& jobs, const Options& options) {
  const pipeline::PlanOptions chosen = plan_options(options.named);
  return plan_instance(io::read_instance(cluster, jobs), chosen, options);
}

}  // namespace berth
