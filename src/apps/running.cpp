// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "options.hpp"
#include "read_placement.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/io/jobs_file.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::apps {
namespace {

struct RunningFlags {
  pipeline::Input input;
  std::string plan;
  std::string out;
  model::Running starting;  ///< costs of the jobs that the plan starts
};

/// Makes the placed jobs the running ones: jobs that ran before keep their costs, pinned jobs all,
/// and jobs that wait in the plan run no more.
class RunningJobs {
 public:
  RunningJobs(model::Workload& workload, const model::Running& starting)
      : workload_(workload),
        starting_(starting),
        before_(std::exchange(workload.running, {})),
        tasks_before_(std::exchange(workload.running_tasks, {})) {}

  void set(const model::Placement& placement) {
    for (std::size_t j = 0; j < workload_.jobs.size(); ++j) {
      model::Job& job = workload_.jobs[j];
      const bool ran = job.running >= 0;
      model::Running entry = ran ? before_[static_cast<std::size_t>(job.running)] : starting_;
      job.running = -1;
      const auto placed =
          std::ranges::lower_bound(placement, JobId(j), {}, &model::JobPlacement::job);
      if (ran && entry.pinned) {
        const auto first = tasks_before_.begin() + entry.first_task;
        add(entry, {first, first + entry.tasks}, job);
      } else if (placed != placement.end() && placed->job == JobId(j)) {
        entry.job = JobId(j);
        add(entry, placed->tasks, job);
      }
    }
  }

 private:
  void add(model::Running entry, std::vector<model::TaskPlacement> tasks, model::Job& job) {
    std::ranges::sort(tasks, {}, [](const model::TaskPlacement& t) {
      return std::tuple(t.group, t.machine, t.devices);
    });
    entry.first_task = static_cast<std::uint32_t>(workload_.running_tasks.size());
    entry.tasks = static_cast<std::uint32_t>(tasks.size());
    workload_.running_tasks.insert(workload_.running_tasks.end(), tasks.begin(), tasks.end());
    job.running = static_cast<std::int32_t>(workload_.running.size());
    workload_.running.push_back(entry);
  }

  model::Workload& workload_;
  model::Running starting_;
  std::vector<model::Running> before_;
  std::vector<model::TaskPlacement> tasks_before_;
};

ExitCode write_running(const comm::Communicator& comm, const RunningFlags& flags) {
  comm.agreed_on_root([&] {
    keep_input({"--out-jobs", flags.out}, flags.input);
    keep_input({"--out-jobs", flags.out}, Named{"plan", flags.plan});
    model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
    const ReadPlan plan = read_placement(instance, flags.plan);
    RunningJobs(instance.workload, flags.starting).set(plan.placement);
    io::write_jobs(flags.out, instance);
    fmt::print(words_beside(flags.out), "{} of {} jobs run -> {}\n",
               instance.workload.running.size(), instance.workload.jobs.size(), flags.out);
  });
  return ExitCode::done;
}

}  // namespace

void add_running(CLI::App& app, Action& action) {
  auto flags = std::make_shared<RunningFlags>();
  CLI::App* command =
      app.add_subcommand("running", "The jobs file of the next plan: what this plan starts runs");
  command->add_option("plan", flags->plan, "The plan (with a horizon: what starts now)")
      ->check(file_name())
      ->transform(dash_for("/dev/stdin"))
      ->required();
  add_input(*command, flags->input);
  command
      ->add_option("--out-jobs", flags->out,
                   "Where the jobs go, JSON lines (.gz by suffix); -: standard output")
      ->check(file_name())
      ->transform(dash_for(kStandardOutput))
      ->required();
  const CLI::Range cost(0.0, 0x1p40);
  command
      ->add_option("--stop-cost", flags->starting.stop_cost,
                   "Value lost when a job that this plan starts is stopped")
      ->check(CLI::Validator(cost).description(""));
  command
      ->add_option("--move-cost", flags->starting.move_cost,
                   "Value lost when a job that this plan starts changes its place")
      ->check(CLI::Validator(cost).description(""));
  command->add_flag("--pinned", flags->starting.pinned,
                    "The jobs that this plan starts neither move nor stop");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return write_running(comm, *flags); };
  });
}

}  // namespace berth::apps
