// SPDX-License-Identifier: Apache-2.0
// `bench scale`: measures how planning scales with ranks.
#include "commands.hpp"
#include "options.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/parallel/threads.hpp"
#include "berth/pipeline/cores.hpp"
#include "berth/scale/sweep.hpp"
#include "berth/solver/petsc_session.hpp"

namespace berth::apps {
namespace {

// Guards against typing errors.
constexpr int kMostBenchThreads = 4096;  ///< threads per rank
constexpr int kMostRanks = 1 << 20;      ///< ranks, measured or modelled

struct BenchFlags {
  pipeline::Input input;  ///< empty = generated
  generate::Preset preset = generate::Preset::hetero;
  generate::GenerateOptions generate;
  bool weak = false;
  int threads = 1;
  scale::SweepOptions sweep{.scaling = scale::Scaling::strong,
                            .ranks = {},
                            .measure = {},
                            .network = {},
                            .modelled = {16, 64, 256, 1024, 4096}};
  std::string json, csv;
};

const std::map<std::string, generate::Preset> kPresetNames{
    {"hetero", generate::Preset::hetero},
    {"openb-like", generate::Preset::openb_like},
    {"philly-like", generate::Preset::philly_like},
    {"llm-like", generate::Preset::llm_like}};

void add_instance(CLI::App& command, BenchFlags& flags) {
  command.add_option("--preset", flags.preset, "What is generated (see berth generate)")
      ->transform(CLI::CheckedTransformer(kPresetNames, CLI::ignore_case).description(""))
      ->type_name("hetero|openb-like|philly-like|llm-like")
      ->default_str("hetero");
  auto* gpus = command.add_option("--gpus", flags.generate.gpus,
                                  "GPUs of the cluster; with --weak for each rank");
  gpus->capture_default_str();
  command.add_option("--load", flags.generate.load, "GPUs asked for / GPUs there are")
      ->capture_default_str();
  command.add_option("--seed", flags.generate.seed, "Key of every draw")
      ->check(not_negative())
      ->capture_default_str();
  auto* cluster = command
                      .add_option("--cluster", flags.input.cluster,
                                  "Cluster file instead of a generated one; needs --jobs")
                      ->check(file_name());
  auto* jobs = command.add_option("--jobs", flags.input.jobs, "Jobs file; needs --cluster")
                   ->check(file_name());
  cluster->needs(jobs)->excludes(gpus);
  jobs->needs(cluster);
  auto* weak = command.add_flag("--weak", flags.weak,
                                "The cluster grows with the ranks (default: one cluster for all)");
  weak->excludes(cluster);
}

void add_sweep(CLI::App& command, BenchFlags& flags) {
  command
      .add_option("--ranks", flags.sweep.ranks,
                  "Numbers of ranks to measure, e.g. 1,2,3,4; default 1, 2, 4, ... and all")
      ->delimiter(',')
      ->check(CLI::Range(1, kMostRanks).description(""));
  command
      .add_option("--repeat", flags.sweep.measure.repeats,
                  "Plans for each number; the median counts")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  command.add_option("--threads", flags.threads, "Threads per rank")
      ->check(CLI::Range(1, kMostBenchThreads).description(""))
      ->capture_default_str();
  for (const char* const name : {"shards", "gap"}) {
    add_plan_option(command, flags.sweep.measure.plan, pipeline::option_named(name));
  }
  command.add_option("--out-json", flags.json, "Everything measured and modelled, JSON")
      ->check(file_name());
  command.add_option("--out-csv", flags.csv, "One line per point, stage and rank, CSV")
      ->check(file_name());
}

void add_model(CLI::App& command, BenchFlags& flags) {
  command
      .add_option("--model-ranks", flags.sweep.modelled,
                  "Numbers of ranks the LogGP model speaks of")
      ->delimiter(',')
      ->check(CLI::Range(1, kMostRanks).description(""))
      ->capture_default_str();
  const auto time = [&](const char* flag, double& value, const char* what) {
    command.add_option(flag, value, what)
        ->check(CLI::Range(0.0, 1e9).description(""))
        ->capture_default_str();
  };
  scale::Network& network = flags.sweep.network;
  time("--latency-us", network.latency, "Model: L, latency of a message, microseconds");
  time("--overhead-us", network.overhead, "Model: o, of the processor at either end");
  time("--gap-us", network.gap, "Model: g, between two messages of a rank");
  time("--byte-us", network.gap_per_byte, "Model: G, 1 / bandwidth; 1e-4 is 10 GB/s");
  time("--polling-us", network.polling, "Model: how late a finished collective is noticed");
}

/// Refuses bad flags and files before any work is done.
void refuse_early(const comm::Communicator& world, const BenchFlags& flags) {
  world.agreed([&] {
    validate(flags.sweep.measure.plan);
    for (const int ranks : flags.sweep.ranks) {
      if (ranks > world.size()) {
        throw InputError({.file = "", .line = 0, .field = "--ranks"},
                         fmt::format("{} is more than the {} there are", ranks, world.size()),
                         fmt::format("start it with mpiexec -n {}", ranks));
      }
    }
    if (world.rank() != 0) return;
    for (const Named& out : {Named{"--out-json", flags.json}, Named{"--out-csv", flags.csv}}) {
      if (out.path.empty()) continue;
      keep_input(out, flags.input);
      io::expect_writable(out.path);
    }
  });
}

std::string in_words(const BenchFlags& flags) {
  if (!flags.input.cluster.empty()) return flags.input.cluster + " " + flags.input.jobs;
  std::string name;
  for (const auto& [known, preset] : kPresetNames) {
    if (preset == flags.preset) name = known;
  }
  return fmt::format("{} {} GPUs{}, load {}, seed {}", name, flags.generate.gpus,
                     flags.weak ? " a rank" : "", flags.generate.load, flags.generate.seed);
}

model::Instance make(const BenchFlags& flags, int ranks) {
  if (!flags.input.cluster.empty()) {
    return io::read_instance(flags.input.cluster, flags.input.jobs);
  }
  generate::GenerateOptions options = flags.generate;
  if (flags.weak) options.gpus *= ranks;
  return generate::generate(flags.preset, options);
}

void write(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  io::write_atomically(path, [&](io::AtomicFile& file) { file.write(text); });
}

ExitCode run_scale(const comm::Communicator& world, BenchFlags& flags) {
  scale::SweepOptions& options = flags.sweep;
  refuse_early(world, flags);
  if (options.ranks.empty()) options.ranks = scale::usual_ranks(world.size());
  std::ranges::sort(options.ranks);
  const auto repeated = std::ranges::unique(options.ranks);
  options.ranks.erase(repeated.begin(), repeated.end());
  options.scaling = flags.weak ? scale::Scaling::weak : scale::Scaling::strong;
  const auto petsc = world.agreed([] { return std::make_unique<solver::PetscSession>(); });
  const parallel::ThreadLimit threads(pipeline::share_cores(world, flags.threads));
  scale::ScalingSweep sweep = scale::run_sweep(
      world, [&](int ranks) { return make(flags, ranks); }, options);
  world.agreed_on_root([&] {
    sweep.instance = in_words(flags);
    fmt::print("{}", scale::table_text(sweep));
    write(flags.json, scale::json_text(sweep));
    write(flags.csv, scale::csv_text(sweep));
  });
  return ExitCode::done;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure Berth itself");
  bench->require_subcommand(1);
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = bench->add_subcommand(
      "scale", "Time, messages and memory on 1, 2, 4, ... ranks of one launch, and a model beyond");
  add_instance(*command, *flags);
  add_sweep(*command, *flags);
  add_model(*command, *flags);
  command->callback([flags, &action] {
    action = [flags](const comm::Communicator& world) { return run_scale(world, *flags); };
  });
}

}  // namespace berth::apps
