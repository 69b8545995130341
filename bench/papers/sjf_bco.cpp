// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/sjf_bco/sjf_bco.hpp"

#include "experiment.hpp"
#include "ring_proof.hpp"

#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/papers/sjf_bco/berth_batch.hpp"

namespace berth::bench {
namespace {

using papers::RingBatch;
using papers::RingSchedule;

using papers::SjfBcoOptions;

using Scheduler =
    std::function<RingSchedule(const RingBatch&, std::uint64_t, const SjfBcoOptions&)>;

std::vector<std::size_t> submission(const RingBatch& batch) {
  std::vector<std::size_t> order(batch.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

const std::vector<std::pair<const char*, Scheduler>>& schedulers() {
  static const std::vector<std::pair<const char*, Scheduler>> table = {
      {"sjf-bco", [](const RingBatch& b, std::uint64_t,
                     const SjfBcoOptions& options) { return papers::sjf_bco(b, options); }},
      {"ff, submission order",
       [](const RingBatch& b, std::uint64_t, const SjfBcoOptions& options) {
         return papers::first_fit(b, submission(b), options);
       }},
      {"ls, submission order",
       [](const RingBatch& b, std::uint64_t, const SjfBcoOptions& options) {
         return papers::list_scheduling(b, submission(b), options);
       }},
      {"rand, submission order",
       [](const RingBatch& b, std::uint64_t seed, const SjfBcoOptions&) {
         return papers::random_gpus(b, submission(b), seed);
       }},
      {"ff, smallest first",
       [](const RingBatch& b, std::uint64_t, const SjfBcoOptions& options) {
         return papers::first_fit(b, papers::smallest_first(b), options);
       }},
      {"ls, smallest first",
       [](const RingBatch& b, std::uint64_t, const SjfBcoOptions& options) {
         return papers::list_scheduling(b, papers::smallest_first(b), options);
       }},
      {"rand, smallest first",
       [](const RingBatch& b, std::uint64_t seed, const SjfBcoOptions&) {
         return papers::random_gpus(b, papers::smallest_first(b), seed);
       }},
      {"berth", [](const RingBatch& b, std::uint64_t seed,
                   const SjfBcoOptions&) { return papers::berth_batch(b, {.seed = seed}); }},
  };
  return table;
}

void compare(std::vector<ResultRow>& rows, const std::string& name, RingSetting setting,
             std::size_t most_servers, const ExperimentOptions& options) {
  const std::size_t servers = options.smoke ? 5 : most_servers;
  const std::size_t thin = options.smoke ? 8 : 1;
  const SjfBcoOptions limits{.horizon = most_servers < 20 ? 1500 : 1200};  // T of the paper
  const std::size_t first = rows.size();
  for (const auto& [scheduler, run] : schedulers())
    rows.push_back({name, scheduler, "makespan, slots", {}});
  rows.push_back({name, "bound", "makespan, slots", {}});
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const auto world = draw_rings(setting, servers, thin, seed);
    const auto bound = static_cast<double>(proved_makespan(*world));
    rows.back().by_seed.push_back(bound);
    for (std::size_t s = 0; s < schedulers().size(); ++s) {
      const RingSchedule made = schedulers()[s].second(world->batch, seed, limits);
      const auto makespan = static_cast<double>(made.makespan);
      if (!made.complete || makespan < bound)
        throw std::logic_error(rows[first + s].scheduler + ": incomplete, or below the bound");
      rows[first + s].by_seed.push_back(makespan);
    }
  }
}

/// SJF-BCO alone under some options, beside it as it is.
struct Variant {
  std::string name;
  papers::SjfBcoOptions options;
};

void vary(std::vector<ResultRow>& rows, const std::string& name, RingSetting setting,
          const std::vector<Variant>& variants, const ExperimentOptions& options) {
  const std::size_t first = rows.size();
  for (const Variant& variant : variants)
    rows.push_back({name, variant.name, "makespan, slots", {}});
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const auto world = draw_rings(setting, options.smoke ? 5 : 20, options.smoke ? 8 : 1, seed);
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const RingSchedule made = papers::sjf_bco(world->batch, variants[v].options);
      if (!made.complete) throw std::logic_error(variants[v].name + ": incomplete");
      rows[first + v].by_seed.push_back(static_cast<double>(made.makespan));
    }
  }
}

/// Figures 5 and 7 of the paper: thresholds, and the spread lambda at the threshold 1, which sends
/// all jobs but the smallest to the least busy servers.
void vary_all(std::vector<ResultRow>& rows, const std::string& name, RingSetting setting,
              const ExperimentOptions& options) {
  std::vector<Variant> thresholds{{"searched", {}}}, spreads;
  for (const int kappa : {1, 2, 4, 8, 16, 32})
    thresholds.push_back({"kappa " + std::to_string(kappa), {.kappa = kappa}});
  for (const int lambda : {1, 2, 4, 8}) {
    spreads.push_back(
        {"lambda " + std::to_string(lambda), {.spread = static_cast<double>(lambda), .kappa = 1}});
  }
  vary(rows, name + ", thresholds", setting, thresholds, options);
  vary(rows, name + ", kappa 1", setting, spreads, options);
}

}  // namespace

std::vector<ResultRow> run_sjf_bco(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  compare(rows, "cap15", RingSetting::capped, 20, options);
  options.ended(rows);
  compare(rows, "weak", RingSetting::weak, 20, options);
  return rows;
}

std::vector<ResultRow> run_sjf_bco_figures(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  vary_all(rows, "cap15", RingSetting::capped, options);
  options.ended(rows);
  vary_all(rows, "weak", RingSetting::weak, options);
  options.ended(rows);
  for (const std::size_t servers : {10, 15}) {  // figure 6; 20 are above
    const std::string name = std::to_string(servers) + " servers";
    compare(rows, "cap15, " + name, RingSetting::capped, servers, options);
    compare(rows, "weak, " + name, RingSetting::weak, servers, options);
    options.ended(rows);
  }
  return rows;
}

}  // namespace berth::bench
