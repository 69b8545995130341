// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/sjf_bco/sjf_bco.hpp"

#include "experiment.hpp"
#include "ring_world.hpp"

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

using Scheduler = std::function<RingSchedule(const RingBatch&, std::uint64_t)>;

const papers::SjfBcoOptions kOptions;

std::vector<std::size_t> submission(const RingBatch& batch) {
  std::vector<std::size_t> order(batch.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

const std::vector<std::pair<const char*, Scheduler>>& schedulers() {
  static const std::vector<std::pair<const char*, Scheduler>> table = {
      {"sjf-bco", [](const RingBatch& b, std::uint64_t) { return papers::sjf_bco(b, kOptions); }},
      {"ff, submission order",
       [](const RingBatch& b, std::uint64_t) {
         return papers::first_fit(b, submission(b), kOptions);
       }},
      {"ls, submission order",
       [](const RingBatch& b, std::uint64_t) {
         return papers::list_scheduling(b, submission(b), kOptions);
       }},
      {"rand, submission order",
       [](const RingBatch& b, std::uint64_t seed) {
         return papers::random_gpus(b, submission(b), seed);
       }},
      {"ff, smallest first",
       [](const RingBatch& b, std::uint64_t) {
         return papers::first_fit(b, papers::smallest_first(b), kOptions);
       }},
      {"ls, smallest first",
       [](const RingBatch& b, std::uint64_t) {
         return papers::list_scheduling(b, papers::smallest_first(b), kOptions);
       }},
      {"rand, smallest first",
       [](const RingBatch& b, std::uint64_t seed) {
         return papers::random_gpus(b, papers::smallest_first(b), seed);
       }},
      {"berth", [](const RingBatch& b,
                   std::uint64_t seed) { return papers::berth_batch(b, {.seed = seed}); }},
  };
  return table;
}

void compare(std::vector<ResultRow>& rows, const std::string& name, RingSetting setting,
             const ExperimentOptions& options) {
  const std::size_t servers = options.smoke ? 5 : 20;
  const std::size_t thin = options.smoke ? 8 : 1;
  const std::size_t first = rows.size();
  for (const auto& [scheduler, run] : schedulers())
    rows.push_back({name, scheduler, "makespan, slots", {}});
  rows.push_back({name, "bound", "makespan, slots", {}});
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const auto world = draw_rings(setting, servers, thin, seed);
    const auto bound = static_cast<double>(papers::makespan_bound(world->batch));
    rows.back().by_seed.push_back(bound);
    for (std::size_t s = 0; s < schedulers().size(); ++s) {
      const RingSchedule made = schedulers()[s].second(world->batch, seed);
      const auto makespan = static_cast<double>(made.makespan);
      if (!made.complete || makespan < bound)
        throw std::logic_error(rows[first + s].scheduler + ": incomplete, or below the bound");
      rows[first + s].by_seed.push_back(makespan);
    }
  }
}

}  // namespace

std::vector<ResultRow> run_sjf_bco(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  compare(rows, "cap15", RingSetting::capped, options);
  compare(rows, "weak", RingSetting::weak, options);
  return rows;
}

}  // namespace berth::bench
