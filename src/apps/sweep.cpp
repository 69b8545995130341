// SPDX-License-Identifier: Apache-2.0
#include "sweep.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/comm/messages.hpp"
#include "berth/io/file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/io/sweep_file.hpp"
#include "berth/sim/offered_load.hpp"
#include "berth/sim/write_run.hpp"

namespace berth::apps {
namespace {

using Row = io::SweepRow;

/// One replay and where it is in the table.
struct PlannedReplay {
  std::string name;
  std::string policy;
  std::int64_t seed = 0;
  double load = 0.0;  ///< asked for; 0: as the file
};

std::vector<std::string> split_policies(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::vector<PlannedReplay> planned_replays(const SimulateFlags& flags) {
  const std::vector<std::int64_t> seeds =
      flags.sweep.seeds.empty()
          ? std::vector<std::int64_t>{static_cast<std::int64_t>(flags.trace.seed)}
          : flags.sweep.seeds;
  const std::vector<double> loads =
      flags.sweep.loads.empty() ? std::vector<double>{0.0} : flags.sweep.loads;
  std::vector<PlannedReplay> replays;
  std::set<std::string> names;
  for (const std::string& policy : split_policies(flags.policy)) {
    for (const std::int64_t seed : seeds) {
      for (const double load : loads) {
        std::string name = fmt::format("{}-seed{}", policy, seed);
        if (load > 0.0) name += fmt::format("-load{}", load);
        if (!names.insert(name).second) {
          throw InputError({.file = "", .line = 0, .field = "sweep"}, name + " is given twice", "");
        }
        replays.push_back({std::move(name), policy, seed, load});
      }
    }
  }
  return replays;
}

/// Unknown policies, before anything runs.
void check_sweep(const SimulateFlags& flags, const std::vector<PlannedReplay>& replays) {
  const InputError::Where where{.file = "", .line = 0, .field = "sweep"};
  if (!flags.world.checkpoint.empty() || !flags.world.resume.empty() || flags.bound ||
      flags.world.stop_at >= 0.0) {
    throw InputError(where, "has neither checkpoints nor bounds",
                     "simulate single runs with --checkpoint, --resume, --stop-at or --bound");
  }
  for (const PlannedReplay& replay : replays) {
    SimulateFlags one = flags;
    one.policy = replay.policy;
    expect_policy(one);
  }
}

std::string jobs_path(const SimulateFlags& flags, double load) {
  return (std::filesystem::path(flags.out) / fmt::format("jobs-load{}.jsonl", load)).string();
}

/// The instance of a load: with the arrivals of the file, or stretched.
model::Instance loaded(const SimulateFlags& flags, const model::Instance& read, double load) {
  model::Instance instance = read;
  if (load == 0.0) return instance;
  const auto prepared = prepare_world(instance, flags.world, flags.trace.seed);
  const double own = sim::offered_load(
      instance.cluster, sim::make_trace(instance, trace_options(flags), prepared->speeds.get()));
  if (own == 0.0) {
    throw InputError({.file = flags.input.jobs, .line = 0, .field = "arrival"},
                     "all jobs arrive at one moment, or none needs GPUs",
                     "without --loads the file is replayed as it is");
  }
  sim::stretch_arrivals(instance.workload, own / load);
  return instance;
}

Row replay(const SimulateFlags& flags, const model::Instance& instance) {
  sim::BerthCounts counts;
  const auto prepared = prepare_world(instance, flags.world, flags.trace.seed);
  const auto policy = make_policy(flags, counts, {instance, prepared->profiles, flags.trace.seed});
  const sim::Trace trace = sim::make_trace(instance, trace_options(flags), prepared->speeds.get());
  const auto options = record_of(flags);
  finish_world(instance, trace, flags.world, flags.trace.seed,
               input_of(instance, flags.policy, options), *prepared);
  const sim::Run run = sim::simulate(instance.cluster, trace, *policy, {}, prepared->world);
  sim::write_rounds(flags.out, counts.rounds);
  const auto summary =
      sim::write_run(flags.out, instance, run, flags.policy, options, prepared->failures);
  Row row;
  row.policy = flags.policy;
  row.seed = static_cast<std::int64_t>(flags.trace.seed);
  row.load = sim::offered_load(instance.cluster, trace);
  row.run_digest = summary.run_digest;
  for (const model::RunFigureRow& figure : model::kRunFigureRows) {
    row.figures.push_back(summary.figures.*figure.value);
  }
  return row;
}

/// The replays of this rank.
std::vector<Row> replay_mine(const comm::Communicator& comm, const SimulateFlags& flags,
                             const std::vector<PlannedReplay>& replays) {
  const model::Instance read = read_simulated(flags);
  if (comm.rank() == 0) tell_ignored(flags, read);
  const auto step = static_cast<std::size_t>(comm.size());
  std::vector<Row> rows;
  for (auto i = static_cast<std::size_t>(comm.rank()); i < replays.size(); i += step) {
    SimulateFlags one = flags;
    one.policy = replays[i].policy;
    one.trace.seed = static_cast<std::uint64_t>(replays[i].seed);
    one.out = (std::filesystem::path(flags.out) / replays[i].name).string();
    rows.push_back(replay(one, loaded(flags, read, replays[i].load)));
    rows.back().number = i;
    rows.back().name = replays[i].name;
  }
  return rows;
}

/// The jobs of each load, for `berth check`, which needs the arrivals of the run.
void write_loaded_jobs(const SimulateFlags& flags) {
  if (flags.sweep.loads.empty()) return;
  const model::Instance read = io::read_instance(flags.input.cluster, flags.input.jobs);
  for (const double load : flags.sweep.loads)
    io::write_jobs(jobs_path(flags, load), loaded(flags, read, load));
}

void write_table(const SimulateFlags& flags, std::vector<Row> rows) {
  std::ranges::sort(rows, {}, &Row::number);
  const auto write = [&](const char* name, const std::string& text) {
    io::write_atomically((std::filesystem::path(flags.out) / name).string(),
                         [&](io::AtomicFile& file) { file.write(text); });
  };
  write("sweep.csv", io::sweep_csv(rows));
  write("sweep.json", io::sweep_json(rows));
  fmt::print("  {:<28}{:>8}{:>14}{:>14}{:>14}\n", "replay", "load", "JCT, mean, s", "JCT, 95 %, s",
             "makespan, s");
  for (const Row& row : rows) {
    const auto figure = [&](std::string_view key) {
      const auto at = std::ranges::find(model::kRunFigureRows, key, &model::RunFigureRow::key);
      return row.figures[static_cast<std::size_t>(at - model::kRunFigureRows.begin())];
    };
    fmt::print("  {:<28}{:>8.3f}{:>14.6g}{:>14.6g}{:>14.6g}\n", row.name, row.load,
               figure("jct_mean"), figure("jct_p95"), figure("makespan"));
  }
  fmt::print("  {:<28}{}\n", "written", flags.out);
  std::fflush(stdout);
}

}  // namespace

void refuse_lists_without_sweep(const SimulateFlags& flags) {
  if (flags.sweep.seeds.empty() && flags.sweep.loads.empty()) return;
  throw InputError({.file = "", .line = 0, .field = flags.sweep.seeds.empty() ? "loads" : "seeds"},
                   "is a list of a sweep", "add --sweep");
}

ExitCode run_sweep(const comm::Communicator& comm, const SimulateFlags& flags) {
  const auto replays = comm.agreed([&] {
    auto planned = planned_replays(flags);
    check_sweep(flags, planned);
    return planned;
  });
  comm.agreed_on_root([&] {
    std::error_code error;
    std::filesystem::create_directories(flags.out, error);
    if (error) throw SystemError(flags.out + ": cannot be made: " + error.message());
    write_loaded_jobs(flags);
  });
  const std::vector<Row> mine = comm.agreed([&] { return replay_mine(comm, flags, replays); });
  std::vector<Row> rows = comm::gather<Row>(comm, mine);
  comm.agreed_on_root([&] { write_table(flags, std::move(rows)); });
  return ExitCode::done;
}

}  // namespace berth::apps
