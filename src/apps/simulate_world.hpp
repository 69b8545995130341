// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "berth/io/profiles_file.hpp"
#include "berth/sim/simulate.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::apps {

/// Options of the world of a simulation: speeds, failures, slots, checkpoints.
struct WorldFlags {
  std::string profiles;
  std::string failures;
  double mtbf = 0.0;  ///< seconds; 0: no drawn failures
  double mttr = 3600.0;
  double interference = 0.0;
  bool best_k_of = false;
  std::int64_t slot = 0;          ///< seconds
  std::int64_t move_cost = -1;    ///< seconds; -1: the restart cost
  std::int64_t resize_cost = -1;  ///< the same
  std::int64_t saved_every = -1;  ///< seconds; -1: a failure takes all
  double stop_at = -1.0;          ///< seconds on the axis of arrivals; -1: at the end
  std::string checkpoint, resume;
};

void add_world_options(CLI::App& command, WorldFlags& flags);

/// Options that change the run, as the summary states them: those not at their default.
void add_world_record(const WorldFlags& flags, std::map<std::string, std::string>& options);

/// What the flags say about one instance.
struct PreparedWorld {
  speed::Profiles profiles;
  std::unique_ptr<sim::WorldSpeeds> speeds;  ///< refers to `profiles`; null: none are needed
  std::vector<io::MachineFailure> failures;
  std::string resumed;  ///< bytes of the checkpoint
  sim::World world;     ///< refers to the above
};

/// Reads profiles; null when speeds are those of the jobs file. @throws InputError
std::unique_ptr<PreparedWorld> prepare_world(const model::Instance& instance,
                                             const WorldFlags& flags, std::uint64_t seed);

/// Sets failures, slots and the checkpoint. @param input  what the run is a function of
/// @throws InputError
void finish_world(const model::Instance& instance, const sim::Trace& trace, const WorldFlags& flags,
                  std::uint64_t seed, const std::string& input, PreparedWorld& prepared);

/// Costs and checkpoints of jobs.
void set_costs(const WorldFlags& flags, sim::ReplayOptions& options);

}  // namespace berth::apps
