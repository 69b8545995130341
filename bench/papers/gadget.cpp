// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"
#include "gadget_world.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/papers/gadget/ring_relaxation.hpp"
#include "berth/papers/gadget/slot_rules.hpp"
#include "berth/papers/slot_proof.hpp"

namespace berth::bench {
namespace {

namespace gadget = papers::gadget;
using gadget::BudgetReading;
using gadget::WorkUtility;

/// Below it a slot earns nothing that counts, and ratios say nothing.
constexpr double kWorthASlot = 1e-3;

/// GADGET, and the least part of a slot's optimum that it had.
struct WatchedSlots {
  double least = 1.0;

  std::vector<gadget::Ring> operator()(const gadget::SlotView& view) {
    std::vector<gadget::Ring> rings = gadget::gadget_slot(view);
    const double most = gadget::slot_optimum(view.jobs, view.instance->cluster.total_gpus());
    if (most > kWorthASlot) least = std::min(least, gadget::slot_gain(view.jobs, rings) / most);
    return rings;
  }
};

double judged_utility(const gadget::RingInstance& instance, const gadget::SlotRule& rule,
                      double bound) {
  const gadget::RingSchedule schedule = gadget::run_slots(instance, rule);
  if (const std::string fault = gadget::fault_of(instance, schedule); !fault.empty())
    throw std::logic_error(fault);
  const double utility = gadget::total_utility(instance, schedule);
  if (utility > bound * (1.0 + 1e-9)) throw std::logic_error("utility above its bound");
  return utility;
}

/// All rules over all slots.
void compare_runs(std::vector<ResultRow>& rows, const std::string& name,
                  const GadgetSetting& setting, std::size_t seeds) {
  const char* metric = "total utility";
  std::vector<ResultRow> added;
  for (const char* scheduler : {"gadget", "fifo", "drf", "las", "berth", "bound"})
    added.push_back({name, scheduler, metric, {}});
  ResultRow least{name, "gadget", "least slot of a run, part of its optimum", {}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const GadgetWorld world = draw_gadget_world(setting, seed);
    const double bound =
        papers::proved_utility(world.instance, gadget::utility_prices(world.instance).price);
    WatchedSlots watched;
    const gadget::SlotRule rules[] = {std::ref(watched), gadget::fifo_rule(world.fixed),
                                      gadget::drf_slot, gadget::las_rule(world.fixed),
                                      gadget::berth_slot};
    for (std::size_t r = 0; r < std::size(rules); ++r)
      added[r].by_seed.push_back(judged_utility(world.instance, rules[r], bound));
    added.back().by_seed.push_back(bound);
    least.by_seed.push_back(watched.least);
  }
  rows.insert(rows.end(), added.begin(), added.end());
  rows.push_back(std::move(least));
}

/// Jobs of one slot that are somewhere before the turn of their sigmoid.
std::vector<gadget::SlotJob> jobs_midway(const GadgetWorld& world, std::uint64_t seed) {
  std::vector<gadget::SlotJob> jobs;
  for (std::size_t j = 0; j < world.instance.jobs.size(); ++j) {
    const gadget::RingJob& job = world.instance.jobs[j];
    jobs.push_back({&job, midway(job, seed, j), j});
  }
  return jobs;
}

/// Rules of one slot as parts of its optimum.
void compare_slots(std::vector<ResultRow>& rows, const std::string& name,
                   const GadgetSetting& setting, std::size_t seeds) {
  std::vector<ResultRow> added;
  for (const char* rule : {"gadget", "LP 1 draw", "LP 10 draws", "LP spread 1 draw",
                           "LP spread 10 draws", "LP spread 100 draws", "LP value"})
    added.push_back({name, rule, "utility of a slot, part of its optimum", {}});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const GadgetWorld world = draw_gadget_world(setting, seed);
    const auto& cluster = world.instance.cluster;
    const auto jobs = jobs_midway(world, seed);
    const double most = gadget::slot_optimum(jobs, cluster.total_gpus());
    const gadget::RingRelaxation all = gadget::relax_slot(cluster, jobs);
    const auto vertex = gadget::relax_slot(cluster, jobs, gadget::select_sizes(jobs.size(), all));
    const auto wide = gadget::spread(cluster, vertex, seed, 32);
    const auto rounded = [&](const gadget::RingRelaxation& relaxation, std::uint64_t draws) {
      return gadget::slot_gain(jobs, gadget::round_rings(cluster, jobs, relaxation, seed, draws));
    };
    const double values[] = {gadget::slot_gain(jobs, gadget::slot_greedy(cluster, jobs)),
                             rounded(vertex, 1),
                             rounded(vertex, 10),
                             rounded(wide, 1),
                             rounded(wide, 10),
                             rounded(wide, 100),
                             all.value};
    for (std::size_t r = 0; r < added.size(); ++r) added[r].by_seed.push_back(values[r] / most);
  }
  rows.insert(rows.end(), added.begin(), added.end());
}

/// GADGET, and how many of the jobs with budget left it embeds, by slot with any.
struct EmbeddedShare {
  double sum = 0.0;
  int slots = 0;

  std::vector<gadget::Ring> operator()(const gadget::SlotView& view) {
    std::vector<gadget::Ring> rings = gadget::gadget_slot(view);
    if (view.jobs.empty()) return rings;
    const auto embedded =
        std::ranges::count_if(rings, [](const auto& ring) { return gadget::workers_of(ring) > 0; });
    sum += static_cast<double>(embedded) / static_cast<double>(view.jobs.size());
    ++slots;
    return rings;
  }
};

/// One point of the paper's figures 5 and 6.
struct EmbeddingPoint {
  std::size_t units = 4;     ///< of 100 GPUs: 27 servers of 3.75 on average
  double rack_units = -1.0;  ///< of 200 Gbps, every link of a rack; < 0: as drawn
  std::size_t jobs = 40;
};

void add_embedded(std::vector<ResultRow>& rows, const std::string& name,
                  const EmbeddingPoint& point, const ExperimentOptions& options) {
  ResultRow row{name, std::to_string(point.jobs) + " jobs", "jobs embedded, % of active", {}};
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    GadgetSetting setting{
        .servers = 27 * point.units, .jobs = point.jobs, .reading = BudgetReading::worker_slots};
    if (options.smoke) setting.slots = 10;
    GadgetWorld world = draw_gadget_world(setting, seed);
    for (double& link : world.instance.cluster.rack_link)
      link = point.rack_units < 0.0 ? link : 200.0 * point.rack_units;
    EmbeddedShare share;
    static_cast<void>(gadget::run_slots(world.instance, std::ref(share)));
    row.by_seed.push_back(100.0 * share.sum / std::max(share.slots, 1));
  }
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<ResultRow> run_gadget_figures(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  const std::vector<std::size_t> jobs =
      options.smoke ? std::vector<std::size_t>{10} : std::vector<std::size_t>{40, 60, 80, 100};
  for (const std::size_t units : {4, 3, 2, 1}) {
    for (const std::size_t count : jobs)
      add_embedded(rows, std::to_string(100 * units) + " GPUs", {units, -1.0, count}, options);
    options.ended(rows);
  }
  for (const double units : {4.0, 2.0, 1.0, 0.5}) {
    const std::string name =
        "links of racks of " + std::to_string(static_cast<int>(200 * units)) + " Gbps";
    for (const std::size_t count : jobs) add_embedded(rows, name, {4, units, count}, options);
    options.ended(rows);
  }
  return rows;
}

std::vector<ResultRow> run_gadget(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  const GadgetSetting stated{};
  for (const std::size_t jobs : {40, 100}) {
    const std::string name = std::to_string(jobs) + " jobs";
    GadgetSetting setting = stated;
    setting.jobs = options.smoke ? 10 : jobs;
    compare_runs(rows, name + ", as stated", setting, options.seeds);
    setting.servers = 12;
    setting.reading = BudgetReading::worker_slots;
    compare_runs(rows, name + ", scarce, sigmoid", setting, options.seeds);
    setting.family = WorkUtility::square_root;
    compare_runs(rows, name + ", scarce", setting, options.seeds);
    options.ended(rows);
  }
  for (const std::size_t jobs : {10, 30, 50}) {
    GadgetSetting setting = stated;
    setting.servers = 10;
    setting.jobs = jobs;
    compare_slots(rows, "one slot, 10 servers, " + std::to_string(jobs) + " jobs", setting,
                  options.seeds);
    options.ended(rows);
  }
  return rows;
}

}  // namespace berth::bench
