// SPDX-License-Identifier: Apache-2.0
// `generate horizon-*` and `generate zero-waste`: instances for plans in time.
#include "commands.hpp"
#include "make_instance.hpp"
#include "options.hpp"

#include <array>
#include <memory>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "berth/base/error.hpp"
#include "berth/generate/horizon.hpp"

namespace berth::apps {
namespace {

struct HorizonUsage {
  generate::HorizonPreset preset;
  const char* name;
  const char* what;
};
constexpr std::array<HorizonUsage, 3> kHorizonPresets{{
    {generate::HorizonPreset::queue, "horizon-queue",
     "Jobs with durations for 2,496 GPUs of one type, for plans in time"},
    {generate::HorizonPreset::big, "horizon-big",
     "The same on 32,768 GPUs of two types in 8 pods, gangs up to 512, maintenance"},
    {generate::HorizonPreset::huge, "horizon-huge", "The same jobs in 32 pods of 1,024 GPUs"},
}};

CLI::App* add_made(CLI::App& generate, const char* name, const char* what, std::size_t& jobs,
                   std::uint64_t& seed) {
  CLI::App* command = generate.add_subcommand(name, what);
  command->add_option("--jobs", jobs, "Number of jobs")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--seed", seed, "Key of every draw")
      ->check(not_negative())
      ->capture_default_str();
  return command;
}

void add_horizon_preset(CLI::App& generate, const HorizonUsage& words, Action& action) {
  struct HorizonFlags {
    generate::HorizonOptions options;
    Output output;
  };
  auto flags = std::make_shared<HorizonFlags>();
  generate::HorizonOptions& options = flags->options;
  options.outages = words.preset != generate::HorizonPreset::queue;
  CLI::App* command = add_made(generate, words.name, words.what, options.jobs, options.seed);
  command->add_option("--load", options.load,
                      "Jobs arrive so that they ask for this share of the cluster; 0: all wait");
  add_output(*command, flags->output);
  command->callback([flags, preset = words.preset, &action] {
    action = [flags, preset](const comm::Communicator& comm) {
      const auto source = [&] {
        return generate::instance_of(generate::generate_horizon(preset, flags->options));
      };
      return make_instance(comm, source, flags->output);
    };
  });
}

void add_zero_waste(CLI::App& generate, Action& action) {
  struct ZeroWasteFlags {
    generate::ZeroWasteOptions options;
    Output output;
  };
  auto flags = std::make_shared<ZeroWasteFlags>();
  generate::ZeroWasteOptions& options = flags->options;
  CLI::App* command = add_made(generate, "zero-waste",
                               "Jobs that fill GPUs x time without a gap, for plans in time",
                               options.jobs, options.seed);
  command->add_option("--gpus", options.gpus, "GPUs, one a machine")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--length", options.length, "Seconds that the jobs fill: the --horizon")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--windows", options.windows, "Share of the pieces that are maintenance")
      ->check(CLI::Range(0.0, 0.5));
  add_output(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& comm) {
      const generate::ZeroWasteOptions& sheet = flags->options;
      if (static_cast<std::int64_t>(sheet.jobs) > sheet.gpus * sheet.length) {
        throw InputError({.file = "", .line = 0, .field = "jobs"},
                         "more than the GPU-seconds of the sheet");
      }
      const auto source = [&] {
        return generate::instance_of(generate::generate_zero_waste(sheet).problem);
      };
      return make_instance(comm, source, flags->output);
    };
  });
}

}  // namespace

void add_generate_horizon(CLI::App& generate, Action& action) {
  for (const HorizonUsage& words : kHorizonPresets) add_horizon_preset(generate, words, action);
  add_zero_waste(generate, action);
}

}  // namespace berth::apps
