// SPDX-License-Identifier: Apache-2.0
// `import slurm` and `apply slurm`: from Slurm's queue to a plan, and back.
#include "commands.hpp"
#include "options.hpp"
#include "slurm_live.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/io/horizon_plan_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/slurm_apply.hpp"

namespace berth::apps {
namespace {

std::int64_t seconds_now() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch())
      .count();
}

// ---- import

struct SlurmImportFlags {
  SlurmFiles files;
  Output output;
  std::string state;
  std::string spread = "0.95,0.9";
  io::SlurmImportOptions options;
};

void set_spread(const std::string& text, io::SlurmImportOptions& options) {
  double factors[2] = {0.0, 0.0};
  char rest = '\0';
  if (std::sscanf(text.c_str(), "%lf,%lf%c", &factors[0], &factors[1], &rest) != 2) {
    throw InputError({.file = "", .line = 0, .field = "spread"},
                     "expected two factors, as in 0.95,0.9");
  }
  options.pod_factor = factors[0];
  options.cluster_factor = factors[1];
}

void tell(const char* what, const std::vector<io::SlurmNote>& notes) {
  for (const io::SlurmNote& note : notes) {
    fmt::print("{} {}: {} (first: {})\n", what, note.count, printable(note.what),
               printable(note.example));
  }
}

void describe(const io::SlurmImport& import, const SlurmImportFlags& flags) {
  const model::Instance& instance = import.instance;
  const auto kept = static_cast<std::int64_t>(std::ranges::count_if(
      instance.cluster.machine_state,
      [](model::MachineState state) { return state != model::MachineState::up; }));
  fmt::print("{} machines ({} drained or reserved), {} GPUs, {} pods, {} racks -> {}\n",
             instance.cluster.machines(), kept, instance.cluster.gpus(),
             instance.cluster.pods.size(), instance.cluster.racks.size(), flags.output.cluster);
  fmt::print("{} jobs that wait, {} that run -> {}\n",
             std::ssize(instance.workload.jobs) - import.running, import.running,
             flags.output.jobs);
  if (import.classes > 1) {
    fmt::print("{} classes of priority: plan with --order priority\n", import.classes);
  }
  tell("left to Slurm", import.left);
  tell("note", import.notes);
}

ExitCode run_import(const comm::Communicator& comm, SlurmImportFlags& flags) {
  comm.agreed_on_root([&] {
    set_spread(flags.spread, flags.options);
    expect_distinct({{"--out-cluster", flags.output.cluster},
                     {"--out-jobs", flags.output.jobs},
                     {"--out-state", flags.state}});
    const io::SlurmSources sources = slurm_sources(flags.files);
    // read the clock after the queue, so that no job in it begins later
    if (flags.options.now == 0) flags.options.now = seconds_now();
    const io::SlurmImport import = io::import_slurm(sources, flags.options);
    io::write_cluster(flags.output.cluster, import.instance.cluster);
    io::write_jobs(flags.output.jobs, import.instance);
    if (!flags.state.empty()) {
      io::write_atomically(flags.state, [&](io::AtomicFile& file) { file.write(import.state); });
    }
    describe(import, flags);
  });
  return ExitCode::done;
}

// ---- apply

struct ApplyFlags {
  SlurmFiles files;
  std::string plan, state, script;
  std::vector<std::string> set{"nodes"};
  bool dry_run = false;
  bool commit = false;
  bool partial = false;
  bool release = false;
  bool clear = false;
  std::int64_t now = 0;
};

io::SlurmOrders orders_of(const ApplyFlags& flags) {
  if (flags.clear) {
    return {.orders = {},
            .cleared = io::slurm_clear_orders(slurm_sources(flags.files)),
            .broken = {},
            .left = {}};
  }
  const auto asked = [&](const char* what) {
    return std::ranges::find(flags.set, what) != flags.set.end();
  };
  io::SlurmApplyOptions options{.nodes = asked("nodes"),
                                .start = asked("start"),
                                .release = flags.release,
                                .priority = asked("priority"),
                                .now = flags.now == 0 ? seconds_now() : flags.now,
                                .plan_now = {}};
  io::PlannedStarts planned = io::read_planned_starts(flags.plan);
  options.plan_now = planned.now;
  // without StartTime, Slurm would start later jobs now
  if (!options.start) planned.plan = io::read_plan_of_now(flags.plan);
  return io::slurm_orders(planned.plan, flags.plan,
                          {.name = flags.state, .text = io::read_file(flags.state)},
                          slurm_sources(flags.files), options);
}

/// Prints the orders that cannot hold and throws, unless the rest may be applied.
void judge(const io::SlurmOrders& orders, const ApplyFlags& flags) {
  for (const io::SlurmFault& fault : orders.broken) {
    fmt::print("broken: job {}: {}\n", printable(fault.job), printable(fault.problem));
  }
  for (const io::SlurmFault& fault : orders.left) {
    fmt::print("left to Slurm: job {}: {}\n", printable(fault.job), printable(fault.problem));
  }
  if (orders.broken.empty() || flags.partial) return;
  const io::SlurmFault& first = orders.broken.front();
  throw InputError({.file = flags.plan, .line = 0, .field = "job " + first.job},
                   fmt::format("the cluster changed since the import: {} ({} jobs in all)",
                               first.problem, orders.broken.size()),
                   "import and plan anew, or apply the others with --partial");
}

/// Pins of earlier plans are taken back first.
template <class Visit>
void each_order(const io::SlurmOrders& orders, const Visit& visit) {
  std::ranges::for_each(orders.cleared, visit);
  std::ranges::for_each(orders.orders, visit);
}

void write_script(const io::SlurmOrders& orders, const std::string& path) {
  io::write_atomically(path, [&](io::AtomicFile& file) {
    file.write("#!/bin/sh\n# Written by berth apply slurm: one line for each job.\n");
    each_order(orders,
               [&](const io::SlurmOrder& order) { file.write(io::shell_line(order) + "\n"); });
  });
}

/// False when Slurm refused one of the calls; the later ones are not made then.
bool run_calls(const io::SlurmOrder& order) {
  for (const std::vector<std::string>& call : order.calls) {
    std::vector<std::string> command{"scontrol"};
    command.insert(command.end(), call.begin(), call.end());
    const Ran ran = run_program(command);
    if (ran.exit_code == 0) continue;
    fmt::print("refused: job {}: {}\n", printable(order.job),
               printable(ran.err.substr(0, ran.err.find('\n'))));
    return false;
  }
  return true;
}

void commit(const io::SlurmOrders& orders) {
  std::size_t failed = 0;
  each_order(orders, [&](const io::SlurmOrder& order) { failed += run_calls(order) ? 0 : 1; });
  if (failed > 0) {
    throw SystemError(fmt::format("Slurm refused {} of {} updates; the others are made", failed,
                                  orders.orders.size() + orders.cleared.size()));
  }
}

void describe(const io::SlurmOrders& orders, const ApplyFlags& flags) {
  const char* const done = flags.commit ? "updated" : "to update, nothing done";
  if (!flags.clear) fmt::print("{} jobs {}\n", orders.orders.size(), done);
  if (flags.clear || !orders.cleared.empty()) {
    fmt::print("{} pins of earlier plans {}\n", orders.cleared.size(),
               flags.commit ? "taken back" : "to take back, nothing done");
  }
  if (!flags.clear) fmt::print("machines only: Slurm chooses the GPUs and shares on them\n");
}

ExitCode run_apply(const comm::Communicator& comm, const ApplyFlags& flags) {
  comm.agreed_on_root([&] {
    const io::SlurmOrders orders = orders_of(flags);
    judge(orders, flags);
    if (!flags.script.empty()) write_script(orders, flags.script);
    if (flags.dry_run) {
      each_order(orders,
                 [](const io::SlurmOrder& order) { fmt::print("{}\n", io::shell_line(order)); });
    }
    if (flags.commit) commit(orders);
    describe(orders, flags);
  });
  return ExitCode::done;
}

}  // namespace

void add_import_slurm(CLI::App& import, Action& action) {
  auto flags = std::make_shared<SlurmImportFlags>();
  io::SlurmImportOptions& options = flags->options;
  CLI::App* command = import.add_subcommand(
      "slurm", "A Slurm cluster and its queue: live, or from saved JSON (--nodes, --jobs)");
  command->group("Clusters with jobs");
  add_slurm_files(*command, flags->files);
  command
      ->add_option("--topology", flags->files.topology,
                   "topology.conf (tree or block); live: what Slurm says")
      ->check(file_name());
  command->add_flag("--held", options.held, "Plan jobs that are held, too");
  command->add_option("--partition", options.partitions, "Only these partitions and their nodes")
      ->delimiter(',')
      ->type_name("NAME,...");
  command->add_flag("--weigh-priority", options.weigh_priority,
                    "A job's GPUs are worth its Slurm priority / the largest, instead of 1");
  command->add_flag("--times", options.times,
                    "For plans with a horizon: limits, begins and dependencies of jobs, "
                    "reservations as windows");
  command
      ->add_option("--limit-used", options.limit_used,
                   "Part of its time limit that a job is expected to use; with --times")
      ->type_name("PART")
      ->capture_default_str();
  command
      ->add_option("--priority-classes", options.priority_classes,
                   "For plan --order priority: at most this many priorities, by partition tier and "
                   "QOS, or quantiles of Slurm's priority; 0 = Slurm's priorities")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  command
      ->add_option("--spread", flags->spread,
                   "What a job over several leaf switches, over several pods is worth")
      ->type_name("POD,CLUSTER")
      ->capture_default_str();
  command->add_option("--cpu-as-gpu", options.cpu_as_gpu,
                      "Take every CPU for a GPU of this type: a test Slurm without GPUs");
  command->add_option("--now", options.now, "When the files were saved, seconds since 1970")
      ->check(not_negative());
  add_output(*command, flags->output);
  command
      ->add_option("--out-state", flags->state,
                   "Where to keep what `berth apply slurm` compares with, JSON")
      ->check(file_name());
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) { return run_import(comm, *flags); };
  });
}

void add_apply(CLI::App& app, Action& action) {
  CLI::App* apply = app.add_subcommand("apply", "Tell a scheduler what was planned");
  apply->require_subcommand(1);
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* command = apply->add_subcommand(
      "slurm",
      "scontrol update for the planned jobs; promises machines, not GPU indices or shares");
  CLI::Option* const plan =
      command->add_option("--plan", flags->plan, "The plan")->check(file_name());
  CLI::Option* const state =
      command->add_option("--import-state", flags->state, "The --out-state of its import")
          ->check(file_name());
  plan->needs(state);
  state->needs(plan);
  CLI::Option* const clear = command->add_flag(
      "--clear", flags->clear, "Take back all pins of earlier plans; needs no plan");
  clear->excludes(plan);
  command->add_option("--set", flags->set, "What to set: nodes, start, priority")
      ->delimiter(',')
      ->check(CLI::IsMember({"nodes", "start", "priority"}))
      ->capture_default_str();
  CLI::Option_group* const how = command->add_option_group("how", "One or more of");
  how->add_flag("--dry-run", flags->dry_run, "Print the commands, change nothing");
  how->add_flag("--commit", flags->commit, "Run them");
  how->add_option("--script", flags->script, "Write them to a shell script")->check(file_name());
  how->require_option(1, 3);
  command->add_flag("--partial", flags->partial,
                    "Apply what still holds when the cluster's changes broke some jobs");
  command->add_flag("--release", flags->release, "Release held jobs once they are pinned")
      ->needs(plan);
  add_slurm_files(*command, flags->files);
  command->add_option("--now", flags->now, "When those files were saved, seconds since 1970")
      ->check(not_negative());
  command->callback([flags, &action] {
    if (flags->plan.empty() && !flags->clear) throw CLI::RequiredError("--plan");
    if (flags->dry_run && flags->commit) throw CLI::ValidationError("--dry-run and --commit");
    action = [flags](const comm::Communicator& comm) { return run_apply(comm, *flags); };
  });
}

}  // namespace berth::apps
