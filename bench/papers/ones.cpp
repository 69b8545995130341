// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/ones.hpp"

#include "experiment.hpp"
#include "ones_proof.hpp"

#include <algorithm>
#include <numeric>

#include "berth/papers/berth_elastic.hpp"

namespace berth::bench {
namespace {

struct Contender {
  const char* name;
  /// Completion times less arrivals, by job.
  std::vector<double> (*run)(OnesWorld& world, const OnesSetting& setting, std::uint64_t seed);
};

std::vector<double> run_ones(OnesWorld& world, const OnesSetting& setting, std::uint64_t seed,
                             papers::RemainingWork remaining) {
  papers::OnesOptions options;
  options.monitor.remaining = remaining;
  options.monitor.history = world.history;
  const auto policy =
      papers::make_ones({world.instance, world.profiles, seed}, world.training, options);
  return world.run(*policy, setting.restart, setting.resize);
}

std::vector<double> run_berth(OnesWorld& world, const OnesSetting& setting, std::uint64_t seed,
                              papers::ElasticKnowledge knowledge) {
  papers::ElasticOptions options;
  options.knowledge = knowledge;
  options.monitor.history = world.history;
  const auto policy =
      papers::make_berth_elastic({world.instance, world.profiles, seed}, world.training, options);
  return world.run(*policy, setting.restart, setting.resize);
}

constexpr policy::Micros kInterval = 60 * policy::kSecond;

/// @param interval  between its decisions; @param change  seconds of a resize
std::vector<double> run_optimus(OnesWorld& world, const OnesSetting& setting, std::uint64_t seed,
                                policy::Micros interval, double change) {
  const auto policy =
      papers::make_optimus_elastic({world.instance, world.profiles, seed}, interval);
  return world.run(*policy, setting.restart, change);
}

std::vector<double> run_fixed(OnesWorld& world, const OnesSetting& setting, const char* policy) {
  return world.run(*policy::policy_row(policy).make({}), setting.restart, setting.restart);
}

constexpr Contender kContenders[] = {
    {"ones",
     [](OnesWorld& world, const OnesSetting& setting, std::uint64_t seed) {
       return run_ones(world, setting, seed, papers::RemainingWork::drawn);
     }},
    {"ones, work known",
     [](OnesWorld& world, const OnesSetting& setting, std::uint64_t seed) {
       return run_ones(world, setting, seed, papers::RemainingWork::estimate);
     }},
    {"optimus, work known",
     [](OnesWorld& world, const OnesSetting& setting, std::uint64_t seed) {
       return run_optimus(world, setting, seed, kInterval, setting.restart);
     }},
    {"tiresias", [](OnesWorld& world, const OnesSetting& setting,
                    std::uint64_t) { return run_fixed(world, setting, "las"); }},
    {"srsf, work known", [](OnesWorld& world, const OnesSetting& setting,
                            std::uint64_t) { return run_fixed(world, setting, "srsf"); }},
    {"berth",
     [](OnesWorld& world, const OnesSetting& setting, std::uint64_t seed) {
       return run_berth(world, setting, seed, papers::ElasticKnowledge::training);
     }},
    {"berth, work known",
     [](OnesWorld& world, const OnesSetting& setting, std::uint64_t seed) {
       return run_berth(world, setting, seed, papers::ElasticKnowledge::profiles);
     }},
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Adds the rows of a setting; they are kept after each seed, as one takes minutes.
void compare(const OnesSetting& setting, const ExperimentOptions& options,
             std::vector<ResultRow>& rows) {
  const std::size_t first = rows.size(), contenders = std::size(kContenders);
  for (const Contender& contender : kContenders)
    rows.push_back({setting.name, contender.name, "mean JCT, s", {}});
  rows.push_back({setting.name, "bound", "mean JCT, s", {}});
  for (const Contender& contender : kContenders)
    rows.push_back({setting.name, contender.name, "median JCT, s", {}});
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    for (std::size_t c = 0; c < contenders; ++c) {
      OnesWorld world(setting, seed);
      const std::vector<double> times = kContenders[c].run(world, setting, seed);
      rows[first + c].by_seed.push_back(mean(times));
      rows[first + contenders + 1 + c].by_seed.push_back(median(times));
    }
    rows[first + contenders].by_seed.push_back(proved_mean(OnesWorld(setting, seed)));
    options.ended(rows);
  }
}

}  // namespace

std::vector<ResultRow> run_ones(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  if (options.smoke) {
    compare({.name = "smoke", .jobs = 6, .machines = 4}, options, rows);
    return rows;
  }
  for (const OnesSetting& setting :
       {OnesSetting{.name = "4 x compute, batch as submitted", .faster = 4, .grown = false},
        OnesSetting{.name = "4 x compute, batch grows", .faster = 4},
        OnesSetting{.name = "1 x compute, batch as submitted", .grown = false},
        OnesSetting{.name = "1 x compute, batch grows"},
        OnesSetting{.name = "as the first, noise scale 8 batches",
        .faster = 4,
        .grown = false,
        .noise_batches = 8}}) {
    compare(setting, options, rows);
  }
  return rows;
}

}  // namespace berth::bench
