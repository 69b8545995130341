// SPDX-License-Identifier: Apache-2.0
// `import` and `generate`: make an instance and write it in Berth's formats.
#include "commands.hpp"
#include "options.hpp"

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <system_error>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/import.hpp"
#include "berth/io/jobs_file.hpp"

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

/// Runs on rank 0 only: these commands are quick and write files.
ExitCode make(const comm::Communicator& comm, const Source& source, const Output& output) {
  comm.agreed_on_root([&] {
    expect_distinct({{"--out-cluster", output.cluster}, {"--out-jobs", output.jobs}});
    const model::Instance instance = source();
    io::write_cluster(output.cluster, instance.cluster);
    io::write_jobs(output.jobs, instance);
    describe(instance, output);
  });
  return ExitCode::done;
}

/// Two input files and the output files.
struct TraceImportFlags {
  std::string first, second;
  std::string required = "0";
  io::ImportOptions options;
  Output output;
};

void add_files(CLI::App& command, TraceImportFlags& flags, std::array<const char*, 4> files) {
  command.add_option(files[0], flags.first, files[1])->required();
  command.add_option(files[2], flags.second, files[3])->required();
  add_output(command, flags.output);
}

/// A number or "all".
std::int64_t count_or_all(const std::string& text) {
  if (text == "all") return io::ImportOptions::kAll;
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, count);
      error != std::errc() || at != end) {
    throw InputError({.file = "", .line = 0, .field = "require-cpu-only"},
                     fmt::format("\"{}\" is neither a whole number nor \"all\"", text));
  }
  return count;
}

void add_openb(CLI::App& import, Action& action) {
  auto flags = std::make_shared<TraceImportFlags>();
  CLI::App* command =
      import.add_subcommand("openb", "Alibaba openb: nodes and pods as CSV (.gz by suffix)");
  add_files(*command, *flags,
            {"--nodes", "openb_node_list_*.csv", "--pods", "openb_pod_list_*.csv"});
  command
      ->add_option("--require-cpu-only", flags->required,
                   "So many CPU-only pods, first to arrive, must be placed; or \"all\"")
      ->type_name("N|all");
  command->add_option("--prefix-percent", flags->options.prefix_percent,
                      "Only pods in order of arrival that ask for this much of the GPUs, percent");
  command->add_option("--replicate", flags->options.replicate,
                      "Copies of every machine and pod; copies of a pod arrive together");
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) {
      return make(
          comm,
          [&] {
            flags->options.require_cpu_only = count_or_all(flags->required);
            return io::import_openb(flags->first, flags->second, flags->options);
          },
          flags->output);
    };
  });
}

void add_rack_placement(CLI::App& import, Action& action) {
  auto flags = std::make_shared<TraceImportFlags>();
  CLI::App* command =
      import.add_subcommand("rack-placement", "Jobs that lie whole in one rack, as CSV");
  add_files(*command, *flags, {"--jobs", "jobs.csv", "--racks", "racks.csv"});
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) {
      return make(
          comm, [&] { return io::import_rack_placement(flags->first, flags->second); },
          flags->output);
    };
  });
}

void add_fabric(CLI::App& import, Action& action, const char* name, const char* what,
                io::FabricFormat format) {
  struct FabricFlags {
    std::string topology, cluster;
    io::HostOptions host;
  };
  auto flags = std::make_shared<FabricFlags>();
  CLI::App* command = import.add_subcommand(name, what);
  command->add_option("--topology", flags->topology, "The file")->required();
  command->add_option("--gpu-type", flags->host.gpu_type, "GPU type of every host");
  command->add_option("--gpus-per-host", flags->host.gpus, "0 .. 64")->capture_default_str();
  command->add_option("--cpu-milli", flags->host.cpu_milli,
                      "Thousandths of a core of every host; 0: no job that asks for CPU fits");
  command->add_option("--memory-mib", flags->host.memory_mib, "Memory of every host; 0: the same");
  command->add_option("--out-cluster", flags->cluster, "Cluster, YAML (.gz by suffix)")->required();
  command->callback([flags, format, &action] {
    action = [flags, format](const comm::Communicator& comm) {
      comm.agreed_on_root([&] {
        const auto [cluster, nameless] = io::import_fabric(format, flags->topology, flags->host);
        io::write_cluster(flags->cluster, cluster);
        fmt::print("{} machines, {} GPUs, {} racks, {} pods -> {}\n", cluster.machines(),
                   cluster.gpus(), cluster.racks.size(), cluster.pods.size(), flags->cluster);
        if (nameless > 0) fmt::print("{} host ports do not tell their host: left out\n", nameless);
      });
      return ExitCode::done;
    };
  });
}

struct PresetUsage {
  generate::Preset preset;
  const char* name;
  const char* what;
};
constexpr std::array<PresetUsage, 4> kPresets{{
    {generate::Preset::hetero, "hetero",
     "Several GPU types; gangs, shares, CPU-only tasks, type limits, home racks"},
    {generate::Preset::openb_like, "openb-like",
     "Single tasks, most of them shares of a GPU or one GPU, beside CPU-only ones"},
    {generate::Preset::philly_like, "philly-like",
     "1 to 512 GPUs; three GPU types, locality in racks and pods, home pods"},
    {generate::Preset::llm_like, "llm-like", "Gangs of 256 to 1,024 GPUs above all"},
}};

void add_preset(CLI::App& generate, const PresetUsage& words, Action& action) {
  struct PresetFlags {
    generate::GenerateOptions options;
    Output output;
  };
  auto flags = std::make_shared<PresetFlags>();
  generate::GenerateOptions& options = flags->options;
  CLI::App* command = generate.add_subcommand(words.name, words.what);
  command->add_option("--gpus", options.gpus, "GPUs of the cluster")->capture_default_str();
  command->add_option("--jobs", options.jobs, "Number of jobs; -1 = what the load needs");
  command->add_option("--seed", options.seed, "Key of every draw")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--load", options.load, "GPUs asked for / GPUs there are")
      ->capture_default_str();
  if (words.preset == generate::Preset::hetero || words.preset == generate::Preset::openb_like) {
    command->add_option("--cpu-machines", options.cpu_machines,
                        "CPU-only machines added, as a share of the GPU machines");
  }
  command->add_option("--nic-mbps", options.nic_mbps,
                      "Mbit/s of each machine's NIC per GPU, which tasks then ask for; 0: no NICs");
  command->add_option("--gpu-slices", options.gpu_slices,
                      "Cut every GPU into so many slices; 0: shares of any size");
  add_output(*command, flags->output);
  command->callback([flags, preset = words.preset, &action] {
    action = [flags, preset](const comm::Communicator& comm) {
      return make(
          comm, [&] { return generate::generate(preset, flags->options); }, flags->output);
    };
  });
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  CLI::App* import = app.add_subcommand("import", "Turn somebody else's files into Berth's");
  import->require_subcommand(1);
  add_openb(*import, action);
  add_rack_placement(*import, action);
  add_fabric(*import, action, "ibnetdiscover", "An InfiniBand fabric as ibnetdiscover prints it",
             io::FabricFormat::ibnetdiscover);
  add_fabric(*import, action, "lingjun", "Alibaba Lingjun 2023: hosts and their switches as CSV",
             io::FabricFormat::lingjun);
  add_import_slurm(*import, action);
}

void add_generate(CLI::App& app, Action& action) {
  CLI::App* generate = app.add_subcommand("generate", "Make an instance from published statistics");
  generate->require_subcommand(1);
  for (const PresetUsage& words : kPresets) add_preset(*generate, words, action);
}

}  // namespace berth::apps
