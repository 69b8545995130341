// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/base/printable.hpp"
#include "berth/base/similar.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/papers/slot_relaxation.hpp"
#include "berth/sim/share_policy.hpp"

namespace berth::apps {
namespace {

/// Options of policies that share time: max-min, max-sum, pop-K, and berth with the objective fair.
std::optional<sim::SharePolicyOptions> share_options(const SimulateFlags& flags) {
  const bool fair = flags.policy == kBerth && flags.berth.objective == "fair";
  auto options = sim::share_policy_options(fair ? "max-min" : flags.policy);
  if (options) options->round = flags.round * sim::kSecond;
  return options;
}

}  // namespace

std::vector<std::string> estimate_names() {
  return {"exact", "limits", "noisy", "walltimes", "history"};
}
std::vector<std::string> residual_names() { return {"gittins", "mean", "median", "p90"}; }

std::vector<std::string> simulated_policies() {
  std::vector<std::string> names{kBerth};
  for (const policy::PolicyRow& row : policy::policy_table()) names.emplace_back(row.name);
  for (const papers::PaperPolicyRow& row : papers::paper_policies()) names.emplace_back(row.name);
  for (const char* name : {"max-min", "max-sum", "pop-4"}) names.emplace_back(name);
  return names;
}

sim::ReplayOptions trace_options(const SimulateFlags& flags) {
  sim::ReplayOptions options = flags.trace;
  const auto estimates = estimate_names(), residuals = residual_names();
  for (std::size_t e = 0; e < estimates.size(); ++e) {
    if (flags.estimates == estimates[e]) options.estimates = static_cast<sim::Estimates>(e);
  }
  for (std::size_t r = 0; r < residuals.size(); ++r) {
    if (flags.residual == residuals[r]) options.residual = static_cast<policy::Residual>(r);
  }
  options.restart_cost = flags.restart_cost * sim::kSecond;
  set_costs(flags.world, options);
  const bool paper = papers::find_paper_policy(flags.policy) != nullptr;
  const bool rates = !flags.world.profiles.empty() || flags.world.interference > 0.0;
  options.start_running = !paper && !rates && flags.sweep.loads.empty();
  if (flags.now >= 0) options.begin = flags.now * sim::kSecond;
  return options;
}

/// Options that change the run, as the summary states them.
std::map<std::string, std::string> record_of(const SimulateFlags& flags) {
  std::map<std::string, std::string> options{
      {"estimates", flags.estimates},
      {"preemptible", flags.trace.only_marked ? "marked" : "all"},
      {"restart_cost", std::to_string(flags.restart_cost)}};
  if (flags.estimates == "noisy") options["noise"] = fmt::format("{}", flags.trace.noise);
  if (flags.now >= 0) options["now"] = std::to_string(flags.now);
  if (flags.estimates == "history") options["residual"] = flags.residual;
  if (flags.estimates == "noisy" || flags.estimates == "walltimes") {
    options["seed"] = std::to_string(flags.trace.seed);
  }
  const bool draws = flags.world.mtbf > 0.0 || !flags.world.profiles.empty();
  if (draws) options["seed"] = std::to_string(flags.trace.seed);
  add_world_record(flags.world, options);
  if (flags.policy == kBerth) record_berth(flags.berth, options);
  if (share_options(flags)) options["round"] = std::to_string(flags.round);
  return options;
}

void expect_policy(const SimulateFlags& flags) {
  if (share_options(flags) || flags.policy == kBerth) return;
  const std::vector<std::string> known = simulated_policies();
  if (std::ranges::find(known, flags.policy) != known.end()) return;
  throw InputError({.file = "", .line = 0, .field = "policy"}, "no policy \"" + flags.policy + "\"",
                   did_you_mean(flags.policy, known));
}

void tell_ignored(const SimulateFlags& flags, const model::Instance& instance) {
  const bool for_value = flags.policy == kBerth && flags.berth.objective == "value";
  const sim::HeededKeys heeded{.running = trace_options(flags).start_running,
                               .utility = for_value || papers::earns_utility(flags.policy)};
  const std::string keys = sim::ignored_keys(instance, heeded);
  if (keys.empty()) return;
  std::fputs(("warning: a simulation ignores: " + printable(keys) + "\n").c_str(), stderr);
}

model::Instance read_simulated(const SimulateFlags& flags) {
  model::Instance instance = io::read_instance(flags.input.cluster, flags.input.jobs);
  sim::release_pinned(instance.cluster);
  return instance;
}

void expect_rules_kept(const papers::PaperPolicyRow& row, const model::Instance& instance) {
  if (!row.chooses_machines) return;
  if (std::ranges::none_of(instance.workload.rules, model::concern_machines)) return;
  throw InputError({.file = "", .line = 0, .field = "policy"},
                   std::string(row.name) +
                       " does not respect: rules about machines (max_tasks_per, min_domains, "
                       "exclusive, not_with)",
                   "take another policy, or leave them out");
}

std::unique_ptr<policy::Policy> make_policy(const SimulateFlags& flags, sim::BerthCounts& counts,
                                            const papers::PaperWorld& world) {
  if (auto shares = share_options(flags)) return sim::make_share_policy(*shares);
  if (flags.policy == kBerth)
    return sim::make_berth(berth_options(flags.berth), counts, &world.instance.workload);
  if (const papers::PaperPolicyRow* row = papers::find_paper_policy(flags.policy)) {
    expect_rules_kept(*row, world.instance);
    return row->make(world);
  }
  return policy::policy_row(flags.policy).make({});
}

std::string input_of(const model::Instance& instance, const std::string& policy,
                     const std::map<std::string, std::string>& options) {
  std::string text = model::instance_digest(instance) + " " + policy;
  for (const auto& [name, value] : options) text += " " + name + "=" + value;
  return text;
}

}  // namespace berth::apps
