// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "berth_flags.hpp"
#include "simulate_world.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/policy/policy.hpp"
#include "berth/sim/berth_policy.hpp"
#include "berth/sim/trace.hpp"

namespace berth::apps {

inline constexpr const char* kBerth = "berth";  ///< the policy that is in no table of policies

/// Several replays in one run of the program.
struct SweepFlags {
  bool on = false;
  std::vector<std::int64_t> seeds;  ///< empty: the one of --seed
  std::vector<double> loads;        ///< empty: the arrivals of the file
};

/// Options of `berth simulate`.
struct SimulateFlags {
  pipeline::Input input;
  std::string policy;
  std::string out;
  std::string estimates = "exact";
  std::string residual = "gittins";
  sim::ReplayOptions trace;
  WorldFlags world;
  std::int64_t restart_cost = 60;  // seconds
  std::int64_t round = 360;        // seconds
  std::int64_t now = -1;           // second; -1: not given
  BerthFlags berth;
  bool bound = false;
  bool quiet = false;
  SweepFlags sweep;
};

/// What --estimates and --residual take, in the order of their enumerations.
std::vector<std::string> estimate_names();
std::vector<std::string> residual_names();

/// All that --policy takes; pop-4 stands for pop-K.
std::vector<std::string> simulated_policies();

sim::ReplayOptions trace_options(const SimulateFlags& flags);

/// Options that change the run, as the summary states them.
std::map<std::string, std::string> record_of(const SimulateFlags& flags);

/// @throws InputError for an unknown name, with the nearest one
void expect_policy(const SimulateFlags& flags);

/// One line on stderr for keys of the files that the simulation ignores.
void tell_ignored(const SimulateFlags& flags, const model::Instance& instance);

/// The instance with pinned jobs as jobs that run, not as content of machines.
model::Instance read_simulated(const SimulateFlags& flags);

/// @param counts  of `berth`; it and the world must outlive the policy
/// @throws InputError for an unknown name, and what a paper's scheduler lacks or does not keep
std::unique_ptr<policy::Policy> make_policy(const SimulateFlags& flags, sim::BerthCounts& counts,
                                            const papers::PaperWorld& world);

/// @throws InputError when jobs have rules about machines and the scheduler chooses its own
void expect_rules_kept(const papers::PaperPolicyRow& row, const model::Instance& instance);

/// What a run is a function of, for checkpoints.
std::string input_of(const model::Instance& instance, const std::string& policy,
                     const std::map<std::string, std::string>& options);

}  // namespace berth::apps
