// SPDX-License-Identifier: Apache-2.0
// `generate`: an instance drawn from published statistics.
#include "berth/generate/generate.hpp"

#include "commands.hpp"
#include "make_instance.hpp"
#include "options.hpp"

#include <array>
#include <memory>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace berth::apps {
namespace {

struct PresetUsage {
  generate::Preset preset;
  const char* name;
  const char* what;
};
constexpr std::array<PresetUsage, 4> kPresetUsages{{
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
      return make_instance(
          comm, [&] { return generate::generate(preset, flags->options); }, flags->output);
    };
  });
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* generate = app.add_subcommand("generate", "Make an instance from published statistics");
  generate->require_subcommand(1);
  for (const PresetUsage& words : kPresetUsages) add_preset(*generate, words, action);
  add_generate_horizon(*generate, action);
}

}  // namespace berth::apps
