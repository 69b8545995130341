// SPDX-License-Identifier: Apache-2.0
#include "simulate_world.hpp"

#include "options.hpp"

#include <algorithm>

#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"
#include "berth/sim/checkpoint_file.hpp"
#include "berth/sim/outages.hpp"

namespace berth::apps {
namespace {

constexpr std::int64_t kYear = 31'557'600;  // seconds

void add_costs(CLI::App& command, WorldFlags& flags) {
  const auto seconds = [&](const char* flag, std::int64_t& value, const char* help) {
    command.add_option(flag, value, help)->check(CLI::Range(std::int64_t{0}, kYear));
  };
  seconds("--slot", flags.slot, "Decide every so many seconds instead of at events");
  seconds("--move-cost", flags.move_cost,
          "Seconds without progress after a move (default: as restarts)");
  seconds("--resize-cost", flags.resize_cost,
          "Seconds without progress after a new size or batch (default: as restarts)");
  seconds("--checkpoint-every", flags.saved_every,
          "Seconds of work between the states that survive a failure, of jobs that name none "
          "(default: a failure takes all of the run)");
}

}  // namespace

void add_world_options(CLI::App& command, WorldFlags& flags) {
  command.add_option("--profiles", flags.profiles, "Speeds of jobs by placement: profiles.jsonl")
      ->check(file_name());
  command.add_option("--failures", flags.failures, "When machines are down: failures.jsonl")
      ->check(file_name());
  command.add_option("--mtbf", flags.mtbf, "Mean seconds between failures of a machine, drawn")
      ->transform(positive_seconds());
  command.add_option("--mttr", flags.mttr, "Mean seconds until it is repaired")
      ->transform(positive_seconds())
      ->capture_default_str();
  command
      .add_option("--interference", flags.interference,
                  "Part of the speed that jobs lose while they share a machine")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  command.add_flag("--best-k-of", flags.best_k_of,
                   "Coded jobs wait for the best number of workers, not for k_of");
  add_costs(command, flags);
  command
      .add_option("--checkpoint", flags.checkpoint,
                  "File for the simulation when a signal or --stop-at ends it early")
      ->check(file_name());
  command.add_option("--resume", flags.resume, "Go on from this checkpoint")->check(file_name());
  command.add_option("--stop-at", flags.stop_at, "Simulated second after which it ends early")
      ->check(CLI::NonNegativeNumber);
}

void add_world_record(const WorldFlags& flags, std::map<std::string, std::string>& options) {
  const auto file = [&](const char* key, const std::string& path) {
    if (!path.empty()) options[key] = model::Sha256().text(io::read_file(path)).hex();
  };
  file("profiles", flags.profiles);
  file("failures", flags.failures);
  if (flags.mtbf > 0.0) options["mtbf"] = fmt::format("{} {}", flags.mtbf, flags.mttr);
  if (flags.interference > 0.0) options["interference"] = fmt::format("{}", flags.interference);
  if (flags.best_k_of) options["best_k_of"] = "yes";
  const auto seconds = [&](const char* key, std::int64_t value, std::int64_t usual) {
    if (value != usual) options[key] = std::to_string(value);
  };
  seconds("slot", flags.slot, 0);
  seconds("move_cost", flags.move_cost, -1);
  seconds("resize_cost", flags.resize_cost, -1);
  seconds("checkpoint_every", flags.saved_every, -1);
}

void set_costs(const WorldFlags& flags, sim::ReplayOptions& options) {
  if (flags.move_cost >= 0) options.move_cost = flags.move_cost * sim::kSecond;
  if (flags.resize_cost >= 0) options.resize_cost = flags.resize_cost * sim::kSecond;
  if (flags.saved_every >= 0) options.saved_every = flags.saved_every * sim::kSecond;
}

std::unique_ptr<PreparedWorld> prepare_world(const model::Instance& instance,
                                             const WorldFlags& flags, std::uint64_t seed) {
  auto prepared = std::make_unique<PreparedWorld>();
  if (flags.profiles.empty() && flags.interference == 0.0) return prepared;
  if (!flags.profiles.empty()) {
    prepared->profiles =
        io::parse_profiles(io::read_file(flags.profiles), flags.profiles, instance);
  }
  prepared->profiles.seed = seed;
  if (flags.best_k_of) {
    for (speed::CodedJob& job : prepared->profiles.coded)
      job.needed = speed::best_k_of(job.workers, job.tail);
  }
  prepared->profiles.jobs.resize(instance.workload.size());
  prepared->speeds =
      std::make_unique<sim::WorldSpeeds>(instance, prepared->profiles, flags.interference);
  return prepared;
}

void finish_world(const model::Instance& instance, const sim::Trace& trace, const WorldFlags& flags,
                  std::uint64_t seed, const std::string& input, PreparedWorld& prepared) {
  if (!flags.failures.empty()) {
    prepared.failures =
        io::parse_failures(io::read_file(flags.failures), flags.failures, instance.cluster);
  }
  if (flags.mtbf > 0.0) {
    sim::Micros last = 0, longest = 0;
    for (const policy::Job& job : trace.jobs) last = std::max(last, job.arrival);
    for (const sim::Micros work : trace.work) longest = std::max(longest, work);
    const auto drawn = sim::draw_failures(
        instance.cluster, {flags.mtbf, flags.mttr, seed, (last + longest) / sim::kSecond});
    prepared.failures.insert(prepared.failures.end(), drawn.begin(), drawn.end());
  }
  prepared.world.closings = sim::closings(instance.cluster, prepared.failures);
  prepared.world.slot = flags.slot * sim::kSecond;
  prepared.world.speeds = prepared.speeds.get();
  if (flags.stop_at >= 0.0) {
    prepared.world.stop_at =
        static_cast<sim::Micros>(flags.stop_at * static_cast<double>(sim::kSecond));
  }
  if (!flags.resume.empty()) prepared.resumed = sim::read_checkpoint(flags.resume, input);
  prepared.world.resume = prepared.resumed;
}

}  // namespace berth::apps
