// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"
#include "strads_factors.hpp"
#include "strads_lasso.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/strads/schedule.hpp"

namespace berth::bench {
namespace {

constexpr int kRounds = 1'500;

const std::pair<const char*, LassoRule> kRules[] = {
    {"random", {.importance = false, .floor = 1.0, .dependency = 1.0, .commits = false}},
    {"unchecked 0.1", {.importance = true, .floor = 0.1, .dependency = 1.0, .commits = false}},
    {"strads 0.1", {.importance = true, .floor = 0.1, .dependency = 0.1, .commits = false}},
    {"strads 1", {.importance = true, .floor = 1.0, .dependency = 0.1, .commits = false}},
    {"berth", {.importance = true, .floor = 0.1, .dependency = 1.0, .commits = true}}};

/// Runs of one rule.
struct LassoSeries {
  ResultRow rounds, largest, reached, diverged;
};

void lasso(std::vector<ResultRow>& rows, const ExperimentOptions& options) {
  LassoSetting setting;
  if (options.smoke) setting = {.rows = 50, .columns = 200, .nonzero = 5};
  const std::vector<std::size_t> sizes =
      options.smoke ? std::vector<std::size_t>{8} : std::vector<std::size_t>{32, 128};
  const auto row = [](std::size_t parallel, const char* rule, const char* metric) {
    return ResultRow{"Lasso, " + std::to_string(parallel) + " a round", rule, metric, {}};
  };
  std::vector<LassoSeries> series;
  for (const std::size_t parallel : sizes) {
    for (const auto& [name, rule] : kRules) {
      series.push_back({row(parallel, name, "rounds to 1 % of the optimum, at most 1500"),
                        row(parallel, name, "largest objective over the optimum"),
                        row(parallel, name, "runs that reached it, share"),
                        row(parallel, name, "runs that diverged, share")});
    }
  }
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const Lasso problem(setting, seed);
    const double optimum = problem.optimum();
    auto at = series.begin();
    for (const std::size_t parallel : sizes) {
      for (const auto& [name, rule] : kRules) {
        const LassoRun run = solve_lasso(problem, optimum, rule, parallel, kRounds, seed);
        at->rounds.by_seed.push_back(run.reached ? run.rounds : kRounds);
        at->largest.by_seed.push_back(run.largest);
        at->reached.by_seed.push_back(run.reached ? 1.0 : 0.0);
        at->diverged.by_seed.push_back(run.diverged ? 1.0 : 0.0);
        ++at;
      }
    }
  }
  for (ResultRow LassoSeries::*const values : {&LassoSeries::rounds, &LassoSeries::largest,
                                               &LassoSeries::reached, &LassoSeries::diverged}) {
    for (const LassoSeries& s : series) rows.push_back(s.*values);
  }
}

/// Users in index order, the same number for each worker.
std::vector<int> even_split(std::size_t users, int workers) {
  std::vector<int> worker(users);
  for (std::size_t u = 0; u < users; ++u)
    worker[u] = static_cast<int>(u * static_cast<std::size_t>(workers) / users);
  return worker;
}

/// No assignment has a busiest worker below its largest user, nor below the mean.
double least_imbalance(std::span<const std::int64_t> loads, int workers) {
  std::int64_t all = 0;
  for (const std::int64_t load : loads) all += load;
  const double mean = static_cast<double>(all) / workers;
  return std::max(1.0, static_cast<double>(std::ranges::max(loads)) / mean);
}

void factors(std::vector<ResultRow>& rows, const ExperimentOptions& options) {
  for (const int workers : {16, 64}) {
    const std::string name = "factorisation, " + std::to_string(workers) + " workers";
    const char* metric = "busiest worker over the mean";
    ResultRow even{name, "even", metric, {}}, balanced{name, "strads", metric, {}};
    ResultRow own{name, "berth", metric, {}}, bound{name, "bound", metric, {}};
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
      RatingSetting setting;
      setting.skew = 0.6 + 0.02 * static_cast<double>(seed % 20);
      const Factorisation problem(setting, seed);
      const auto loads = problem.ratings_of_users();
      const double value = imbalance(loads, strads::dispatch(loads, workers), workers);
      even.by_seed.push_back(imbalance(loads, even_split(loads.size(), workers), workers));
      balanced.by_seed.push_back(value);
      own.by_seed.push_back(value);  // the same dispatch
      bound.by_seed.push_back(least_imbalance(loads, workers));
    }
    for (ResultRow* added : {&even, &balanced, &own, &bound}) rows.push_back(std::move(*added));
  }
}

}  // namespace

std::vector<ResultRow> run_strads(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  lasso(rows, options);
  options.ended(rows);
  factors(rows, options);
  return rows;
}

}  // namespace berth::bench
