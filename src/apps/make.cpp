// SPDX-License-Identifier: Apache-2.0
// `import` and `generate`: an instance from somewhere else, written in Berth's own files.
#include "commands.hpp"
#include "options.hpp"

#include <array>
#include <memory>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/io/cluster_file.hpp"
#include "berth/io/import.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/policy/generate.hpp"

namespace berth::apps {
namespace {

using Source = std::function<model::Instance()>;

void describe(const model::Instance& instance, const Output& output) {
  std::int64_t asked = 0;
  for (const model::Job& job : instance.workload.jobs) asked += instance.workload.gpu_milli(job);
  fmt::print("{} machines, {} GPUs, {} pods -> {}\n", instance.cluster.machines(),
             instance.cluster.gpus(), instance.cluster.pods.size(), output.cluster);
  fmt::print("{} jobs asking for {:.1f} GPUs -> {}\n", instance.workload.jobs.size(),
             static_cast<double>(asked) / 1000.0, output.jobs);
}

/// Only rank 0 works: these commands are quick and write files.
ExitCode make(const comm::Communicator& comm, const Source& source, const Output& output) {
  comm.agreed([&] {
    if (comm.rank() != 0) return;
    const model::Instance instance = source();
    io::write_cluster(output.cluster, instance.cluster);
    io::write_jobs(output.jobs, instance);
    describe(instance, output);
  });
  return ExitCode::done;
}

/// Two input files and where the result goes.
struct ImportFlags {
  std::string first, second;
  Output output;
};

using Importer = model::Instance (*)(const std::string&, const std::string&);

void add_format(CLI::App& import, Action& action, const char* name, const char* what,
                std::array<const char*, 4> files, Importer importer) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* command = import.add_subcommand(name, what);
  command->add_option(files[0], flags->first, files[1])->required();
  command->add_option(files[2], flags->second, files[3])->required();
  add_output(*command, flags->output);
  command->callback([flags, importer, &action] {
    action = [flags, importer](const comm::Communicator& comm) {
      return make(
          comm, [&] { return importer(flags->first, flags->second); }, flags->output);
    };
  });
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  CLI::App* import = app.add_subcommand("import", "Turn somebody else's files into Berth's");
  import->require_subcommand(1);
  add_format(*import, action, "openb", "Alibaba openb: nodes and pods as CSV (.gz by suffix)",
             {"--nodes", "openb_node_list_*.csv", "--pods", "openb_pod_list_*.csv"},
             io::import_openb);
  add_format(*import, action, "rack-placement", "Jobs that lie whole in one rack, as CSV",
             {"--jobs", "jobs.csv", "--racks", "racks.csv"}, io::import_rack_placement);
}

void add_generate(CLI::App& app, Action& action) {
  struct Flags {
    policy::GenerateOptions options;
    Output output;
  };
  CLI::App* generate = app.add_subcommand("generate", "Make an instance from published statistics");
  generate->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* command = generate->add_subcommand(
      "hetero", "Several GPU types; gangs, shares, CPU-only tasks, type limits, home racks");
  command->add_option("--gpus", flags->options.gpus, "GPUs of the cluster")->capture_default_str();
  command->add_option("--jobs", flags->options.jobs, "Number of jobs; -1 = what the load needs");
  command->add_option("--seed", flags->options.seed, "Key of every draw")->capture_default_str();
  command->add_option("--load", flags->options.load, "GPUs asked for / GPUs there are")
      ->capture_default_str();
  command->add_option("--cpu-machines", flags->options.cpu_machines,
                      "CPU-only machines added, as a share of the GPU machines");
  add_output(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) {
      return make(
          comm, [&] { return policy::generate_hetero(flags->options); }, flags->output);
    };
  });
}

}  // namespace berth::apps
