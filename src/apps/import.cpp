// SPDX-License-Identifier: Apache-2.0
// `import`: somebody else's files as an instance in Berth's formats.
#include "berth/io/import.hpp"

#include "commands.hpp"
#include "make_instance.hpp"
#include "options.hpp"

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/base/printable.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/file.hpp"
#include "berth/io/import_inventory.hpp"
#include "berth/io/import_profiles.hpp"

namespace berth::apps {
namespace {

/// Two input files and the output files.
struct TraceImportFlags {
  std::string first, second;
  std::string required = "0";
  io::ImportOptions options;
  Output output;
};

void add_files(CLI::App& command, TraceImportFlags& flags, std::array<const char*, 4> files) {
  command.add_option(files[0], flags.first, files[1])->check(file_name())->required();
  command.add_option(files[2], flags.second, files[3])->check(file_name())->required();
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
  command->group("Clusters with jobs");
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
      return make_instance(
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
  command->group("Clusters with jobs");
  add_files(*command, *flags, {"--jobs", "jobs.csv", "--racks", "racks.csv"});
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) {
      return make_instance(
          comm, [&] { return io::import_rack_placement(flags->first, flags->second); },
          flags->output);
    };
  });
}

void add_fabric(CLI::App& import, const io::FabricDescription& format, Action& action) {
  struct FabricFlags {
    std::string topology, cluster;
    io::HostOptions host;
  };
  auto flags = std::make_shared<FabricFlags>();
  CLI::App* command = import.add_subcommand(std::string(format.name), std::string(format.what));
  command->group("Topologies");
  command->add_option("--topology", flags->topology, "The file")->check(file_name())->required();
  command->add_option("--gpu-type", flags->host.gpu_type, "GPU type of every host");
  command->add_option("--gpus-per-host", flags->host.gpus, "0 .. 64")->capture_default_str();
  command->add_option("--cpu-milli", flags->host.cpu_milli,
                      "Thousandths of a core of every host; 0: no job that asks for CPU fits");
  command->add_option("--memory-mib", flags->host.memory_mib, "Memory of every host; 0: the same");
  command->add_option("--out-cluster", flags->cluster, "Cluster, YAML (.gz by suffix)")
      ->check(file_name())
      ->required();
  command->callback([flags, &format, &action] {
    action = [flags, &format](const comm::Communicator& comm) {
      comm.agreed_on_root([&] {
        const auto [cluster, nameless, notes] =
            io::import_fabric(format.name, flags->topology, flags->host);
        io::write_cluster(flags->cluster, cluster);
        fmt::print("{} machines, {} GPUs, {} racks, {} pods -> {}\n", cluster.machines(),
                   cluster.gpus(), cluster.racks.size(), cluster.pods.size(), flags->cluster);
        if (nameless > 0) fmt::print("{} host ports do not tell their host: left out\n", nameless);
        for (const std::string& note : notes) fmt::print("note {}\n", printable(note));
      });
      return ExitCode::done;
    };
  });
}

void add_inventory(CLI::App& import, const io::InventoryFormat& format, Action& action) {
  struct InventoryFlags {
    std::string machines, cluster;
  };
  auto flags = std::make_shared<InventoryFlags>();
  CLI::App* command = import.add_subcommand(std::string(format.name), std::string(format.what));
  command->group("Machine lists");
  command->add_option("--machines", flags->machines, std::string(format.file))
      ->check(file_name())
      ->required();
  command->add_option("--out-cluster", flags->cluster, "Cluster, YAML (.gz by suffix)")
      ->check(file_name())
      ->required();
  command->callback([flags, &format, &action] {
    action = [flags, &format](const comm::Communicator& comm) {
      comm.agreed_on_root([&] {
        const model::Cluster cluster = format.import(flags->machines);
        io::write_cluster(flags->cluster, cluster);
        fmt::print("{} machines, {} GPUs -> {}\n", cluster.machines(), cluster.gpus(),
                   flags->cluster);
      });
      return ExitCode::done;
    };
  });
}

void add_profiles(CLI::App& import, const io::ProfileFormat& format, Action& action) {
  struct ProfileFlags {
    std::string profiles, gpu_type, out;
  };
  auto flags = std::make_shared<ProfileFlags>();
  flags->gpu_type = format.gpu_type;
  CLI::App* command = import.add_subcommand(std::string(format.name), std::string(format.what));
  command->group("Profiles");
  command->add_option("--profiles", flags->profiles, std::string(format.file))
      ->check(file_name())
      ->required();
  if (!format.gpu_type.empty()) {
    command->add_option("--gpu-type", flags->gpu_type, "On which it was measured")
        ->capture_default_str();
  }
  command->add_option("--out-profiles", flags->out, "Profiles, JSON lines")
      ->check(file_name())
      ->required();
  command->callback([flags, &format, &action] {
    action = [flags, &format](const comm::Communicator& comm) {
      comm.agreed_on_root([&] {
        const io::ProfileImport found = format.read(flags->profiles, flags->gpu_type);
        io::write_atomically(flags->out, [&](io::AtomicFile& file) { file.write(found.text); });
        fmt::print("{} profiles of {} of {} measurements -> {}\n", found.profiles, found.taken,
                   found.rows, flags->out);
        for (const io::TraceNote& note : found.skipped)
          fmt::print("skipped {}: {}\n", note.count, printable(note.what));
        for (const io::TraceNote& note : found.changed)
          fmt::print("note {}: {}\n", note.count, printable(note.what));
      });
      return ExitCode::done;
    };
  });
}

/// Every format of `import`, by group and name.
std::string list_of_formats(const CLI::App& import) {
  const auto formats = import.get_subcommands([](const CLI::App*) { return true; });
  std::map<std::string, std::map<std::string, std::string>> groups;
  for (const CLI::App* format : formats) {
    groups[format->get_group()][format->get_name()] = format->get_description();
  }
  std::string text;
  for (const auto& [group, rows] : groups) {
    text += group + '\n';
    for (const auto& [name, what] : rows) text += fmt::format("  {:<20} {}\n", name, what);
  }
  return text;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("import", "Turn somebody else's files into Berth's");
  command->require_subcommand(0, 1);
  command->add_flag("--list")->description("All formats and what they read");
  add_openb(*command, action);
  add_rack_placement(*command, action);
  for (const auto& format : io::fabric_formats()) add_fabric(*command, format, action);
  for (const auto& format : io::inventory_formats()) add_inventory(*command, format, action);
  add_import_traces(*command, action);
  for (const auto& format : io::profile_formats()) add_profiles(*command, format, action);
  add_import_slurm(*command, action);
  command->callback([command, &action] {
    if (!command->get_subcommands().empty()) return;
    if (command->count("--list") == 0) throw CLI::RequiredError("A format");
    action = [text = list_of_formats(*command)](const comm::Communicator& comm) {
      comm.agreed_on_root([&] { fmt::print("{}", text); });
      return ExitCode::done;
    };
  });
}

}  // namespace berth::apps
