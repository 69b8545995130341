// SPDX-License-Identifier: Apache-2.0
// `import FORMAT` of job traces: one subcommand for each row of io::trace_formats.
#include "commands.hpp"
#include "make_instance.hpp"
#include "options.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/printable.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/import_trace.hpp"

namespace berth::apps {
namespace {

struct TraceFlags {
  std::string trace, profiles, cluster;
  io::EqualMachines machines;
  io::TraceOptions options;
  Output output;
};

void add_machines(CLI::App& command, io::EqualMachines& machines) {
  command.add_option("--machines", machines.machines, "Number of equal machines of the cluster");
  command.add_option("--gpus-per-machine", machines.gpus, "0 .. 64")->capture_default_str();
  command.add_option("--gpu-type", machines.gpu_type, "Of every machine")->capture_default_str();
  command.add_option("--cpu-milli", machines.cpu_milli,
                     "Thousandths of a core of every machine; 0: no job that asks for CPU fits");
  command.add_option("--memory-mib", machines.memory_mib, "Of every machine; 0: the same");
  command.add_option("--machines-per-rack", machines.per_rack, "1 or more")->capture_default_str();
}

void add_selection(CLI::App& command, io::TraceOptions& options) {
  command.add_option("--skip", options.skip, "Jobs left out in front, in order of submission");
  command.add_option("--max-jobs", options.jobs, "At most so many jobs; all without it");
  command
      .add_option("--gpus-per-task", options.gpus_per_task,
                  "Larger jobs are gangs of tasks of so many GPUs; 1: every GPU may be elsewhere")
      ->capture_default_str();
  command
      .add_option("--units-per-second", options.units_per_second,
                  "Seconds of Berth's files for one of the trace: 1000000 keeps its fractions")
      ->capture_default_str();
  command.add_flag("--resources", options.resources, "Take CPU and memory, and jobs without GPUs");
  command.add_flag("--preemptible", options.preemptible, "The jobs may be stopped and go on later");
}

void tell(const char* what, const std::vector<io::TraceNote>& notes) {
  for (const io::TraceNote& note : notes) {
    fmt::print("{} {}: {} (first: row {})\n", what, note.count, printable(note.what),
               note.first_line);
  }
}

void import_jobs(const io::TraceFormat& format, const TraceFlags& flags) {
  expect_distinct({{"--out-cluster", flags.output.cluster}, {"--out-jobs", flags.output.jobs}});
  if (flags.cluster.empty() == (flags.machines.machines == 0)) {
    throw InputError({.file = "", .line = 0, .field = "machines"},
                     "give either --cluster or --machines: jobs run on a cluster");
  }
  model::Cluster cluster =
      flags.cluster.empty() ? io::equal_machines(flags.machines) : io::read_cluster(flags.cluster);
  const io::TraceImport import =
      io::import_trace(format, flags.trace, flags.profiles, std::move(cluster), flags.options);
  write_instance(import.instance, flags.output);
  fmt::print("{} of {} jobs in {}; second 0 is {} of the trace\n",
             import.instance.workload.jobs.size(), import.rows, printable(flags.trace),
             import.origin);
  tell("skipped", import.skipped);
  tell("note", import.changed);
}

void add_trace(CLI::App& import, const io::TraceFormat& format, Action& action) {
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* command = import.add_subcommand(std::string(format.name), std::string(format.what));
  command->group("Job traces");
  command->add_option("--trace", flags->trace, fmt::format("{} (.gz by suffix)", format.file))
      ->check(file_name())
      ->required();
  if (!format.profiles.empty()) {
    command->add_option("--profiles", flags->profiles, std::string(format.profiles))
        ->check(file_name())
        ->required();
  }
  command
      ->add_option("--cluster", flags->cluster,
                   "Cluster, YAML, which gets the queues of the trace; or --machines")
      ->check(file_name());
  add_machines(*command, flags->machines);
  add_selection(*command, flags->options);
  add_output(*command, flags->output);
  command->callback([flags, &format, &action] {
    action = [flags, &format](const comm::Communicator& comm) {
      comm.agreed_on_root([&] { import_jobs(format, *flags); });
      return ExitCode::done;
    };
  });
}

}  // namespace

void add_import_traces(CLI::App& import, Action& action) {
  for (const io::TraceFormat& format : io::trace_formats()) add_trace(import, format, action);
}

}  // namespace berth::apps
