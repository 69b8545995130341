// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"
#include "smd_world.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/papers/slot_proof.hpp"
#include "berth/papers/smd/smd_schedule.hpp"

namespace berth::bench {
namespace {

using papers::Knapsack;
using papers::KnapsackChoice;
using papers::smd::Crew;
using papers::smd::OptimusGain;
using papers::smd::SmdInstance;
using papers::smd::SmdJob;

std::vector<Crew> optimus_crews(const SmdInstance& instance, OptimusGain gain) {
  std::vector<Crew> crews;
  for (const SmdJob& job : instance.jobs) {
    crews.push_back(papers::smd::optimus_crew(job, gain, instance.time_unit));
  }
  return crews;
}

std::vector<Crew> by_utility(const SmdInstance& instance, std::uint64_t) {
  return optimus_crews(instance, OptimusGain::utility);
}
std::vector<Crew> by_time(const SmdInstance& instance, std::uint64_t) {
  return optimus_crews(instance, OptimusGain::seconds);
}
std::vector<Crew> equal(const SmdInstance& instance, std::uint64_t) {
  std::vector<Crew> crews;
  for (const SmdJob& job : instance.jobs) crews.push_back(papers::smd::equal_crew(job));
  return crews;
}
std::vector<Crew> exact(const SmdInstance& instance, std::uint64_t) {
  return papers::smd::fastest_crews(instance);
}
std::vector<Crew> rounded(const SmdInstance& instance, std::uint64_t seed) {
  return papers::smd::rounded_crews(instance, {.epsilon = 0.05, .rounding = {1.0, 10, seed}});
}

KnapsackChoice best(const Knapsack& knapsack) { return papers::best_knapsack(knapsack); }
KnapsackChoice scheme(const Knapsack& knapsack) {
  return papers::frieze_clarke_knapsack(knapsack, 1);
}
KnapsackChoice dearest_first(const Knapsack& knapsack) {
  return papers::first_fit_knapsack(knapsack, true);
}
KnapsackChoice in_order(const Knapsack& knapsack) {
  return papers::first_fit_knapsack(knapsack, false);
}

/// Who chooses crews, and how they are admitted.
struct CrewScheduler {
  const char* name;
  std::vector<Crew> (*crews)(const SmdInstance&, std::uint64_t seed);
  KnapsackChoice (*admit)(const Knapsack&);
};

// A job's utility falls with its time, so gains of utility and of time have one order; doubles of
// the utility are flat far behind the target time, where the greedy by them stops at once. All but
// the last three admit by the same knapsack. SMD with exact solvers is the optimum, and Berth's
// way: fastest crews, admission proved.
constexpr CrewScheduler kCrewSchedulers[] = {
    {"smd", exact, best},
    {"smd-rounded", rounded, best},
    {"optimus", by_time, best},
    {"optimus-in-doubles", by_utility, best},
    {"esw", equal, best},
    {"berth", exact, best},
    {"smd-rounded-scheme", rounded, scheme},
    {"optimus-dearest-first", by_time, dearest_first},
    {"optimus-in-order", by_time, in_order},
};

std::vector<std::pair<std::string, SmdSetting>> smd_settings(bool smoke) {
  if (smoke) return {{"sync, 10 jobs", {.jobs = 10}}};
  std::vector<std::pair<std::string, SmdSetting>> settings;
  for (const bool synchronous : {true, false}) {
    const std::string kind = synchronous ? "sync" : "async";
    for (const int units : {1, 3, 5}) {
      settings.push_back(
          {kind + ", 50 jobs, " + std::to_string(units) + (units == 1 ? " unit" : " units"),
           {.units = static_cast<double>(units), .synchronous = synchronous}});
    }
    settings.push_back(
        {kind + ", 200 jobs, 3 units", {.jobs = 200, .units = 3, .synchronous = synchronous}});
    settings.push_back({kind + ", 3 units, small machines",
                        {.units = 3, .synchronous = synchronous, .machine = kSmallMachine}});
    settings.push_back({kind + ", 3 units, large machines",
                        {.units = 3, .synchronous = synchronous, .machine = kLargeMachine}});
    for (const int median : {4, 15}) {
      settings.push_back(
          {kind + ", 3 units, median time " + std::to_string(median),
           {.units = 3, .synchronous = synchronous, .median_time = static_cast<double>(median)}});
    }
  }
  return settings;
}

void add_smd_rows(const std::string& name, const SmdSetting& setting, std::size_t seeds,
                  std::vector<ResultRow>& rows) {
  const std::size_t first = rows.size();
  for (const CrewScheduler& s : kCrewSchedulers)
    rows.push_back({name, s.name, "total utility", {}});
  rows.push_back({name, "bound", "total utility", {}});
  rows.push_back({name, "berth", "part of seeds with proved optimum", {}});
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const SmdInstance instance = smd_instance(setting, seed);
    std::size_t row = first;
    for (const CrewScheduler& s : kCrewSchedulers) {
      papers::smd::SmdSchedule schedule{s.crews(instance, seed), {}};
      schedule.admitted = s.admit(outer_knapsack(instance, schedule.crews));
      rows[row++].by_seed.push_back(total_utility(instance, schedule));
      if (s.name == std::string_view("berth")) {
        rows.back().by_seed.push_back(schedule.admitted.proved ? 1.0 : 0.0);
      }
    }
    const Knapsack whole = outer_knapsack(instance, papers::smd::fastest_crews(instance));
    rows[row].by_seed.push_back(papers::proved_utility(whole, papers::relax(whole).price));
  }
}

}  // namespace

std::vector<ResultRow> run_smd(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  for (const auto& [name, setting] : smd_settings(options.smoke)) {
    add_smd_rows(name, setting, options.seeds, rows);
    options.ended(rows);
  }
  return rows;
}

}  // namespace berth::bench
