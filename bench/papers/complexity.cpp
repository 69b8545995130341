// SPDX-License-Identifier: Apache-2.0
/// Growth of the papers' schedulers beside the bounds that they state: user CPU time of one
/// decision over doubling sizes, and the exponent of the power law through it.
#include "experiment.hpp"
#include "gadget_world.hpp"
#include "pd_ors_world.hpp"
#include "ring_world.hpp"
#include "smd_world.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/papers/gadget/ring_relaxation.hpp"
#include "berth/papers/gadget/slot_embedding.hpp"
#include "berth/papers/ones_schedule.hpp"
#include "berth/papers/pd_ors/best_schedule.hpp"
#include "berth/papers/pd_ors/distributed_slots.hpp"
#include "berth/papers/quality_allocation.hpp"
#include "berth/papers/sjf_bco/sjf_bco.hpp"
#include "berth/papers/smd/smd_job.hpp"
#include "berth/papers/smd/smd_schedule.hpp"
#include "berth/strads/dependency.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::bench {
namespace {

namespace gadget = papers::gadget;
namespace pd_ors = papers::pd_ors;

/// One decision, ready to be made again and again.
using Decision = std::function<void()>;

struct Growth {
  const char* name;
  double bound;                    ///< exponent of the paper's bound in the size
  std::vector<std::size_t> sizes;  ///< doubling
  Decision (*prepare)(std::size_t size, std::uint64_t seed);
};

constexpr double kLeastSeconds = 0.02;  ///< of a measurement
constexpr std::size_t kMostSeeds = 5;   ///< times vary less than gains

double seconds_of(const Decision& decision) {
  decision();  // fills caches
  const std::clock_t begin = std::clock();
  for (int calls = 1;; ++calls) {
    decision();
    const double spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (spent >= kLeastSeconds) return spent / calls;
  }
}

/// Slope of the least squares line through (log size, log seconds).
double exponent_of(std::span<const std::size_t> sizes, std::span<const double> seconds) {
  const auto n = static_cast<double>(sizes.size());
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double u = std::log(static_cast<double>(sizes[i])), v = std::log(seconds[i]);
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/// A job of the synthetic workload at drawn prices, which no two slots share.
struct SlotCase {
  SlotWorld world;
  std::unique_ptr<pd_ors::SlotLedger> ledger;
  std::unique_ptr<pd_ors::SlotSolver> solver;
  pd_ors::ScheduleQuery query;

  SlotCase(std::int32_t slots, std::size_t machines, std::int32_t units, bool apart,
           std::uint64_t seed)
      : world(make_slot_world({.slots = slots, .machines = machines, .jobs = 1}, seed)) {
    pd_ors::TrainingJob& job = world.instance.jobs.front();
    job.arrival = 0;
    job.max_workers = 64;
    job.samples = static_cast<double>(job.max_workers) / job.external_cost;  // one slot of it
    job.c1 = 1e6;
    std::vector<double> prices(static_cast<std::size_t>(slots) * world.instance.capacity.size());
    for (std::size_t k = 0; k < prices.size(); ++k) prices[k] = 1.0 + random_unit({seed, 11, k});
    ledger = std::make_unique<pd_ors::SlotLedger>(world.instance, std::move(prices));
    if (apart) {
      solver = std::make_unique<pd_ors::SeparateSlots>(machines / 2);
    } else {
      solver = std::make_unique<pd_ors::DistributedSlots>(
          pd_ors::DistributedOptions{.attempts = 50, .seed = seed});
    }
    query = {.from = 0, .samples = job.samples, .units = units};
  }

  void decide() const {
    static_cast<void>(pd_ors::best_schedule(world.instance.jobs.front(), *ledger, *solver, query));
  }
};

Decision slots(std::int32_t count, std::size_t machines, std::int32_t units, bool apart,
               std::uint64_t seed) {
  const auto made = std::make_shared<SlotCase>(count, machines, units, apart, seed);
  return [made] { made->decide(); };
}

Decision rings(std::size_t servers, std::size_t thin, std::int64_t horizon, std::uint64_t seed) {
  const std::shared_ptr<RingWorld> world = draw_rings(RingSetting::capped, servers, thin, seed);
  const papers::SjfBcoOptions options{.horizon = horizon};
  return [world, options] { static_cast<void>(papers::sjf_bco(world->batch, options)); };
}

struct SlotOfRings {
  GadgetWorld world;
  std::vector<gadget::SlotJob> jobs;

  SlotOfRings(std::size_t servers, std::size_t count, std::uint64_t seed)
      : world(draw_gadget_world({.servers = servers, .jobs = count}, seed)) {
    for (std::size_t j = 0; j < count; ++j) {
      const gadget::RingJob& job = world.instance.jobs[j];
      jobs.push_back({&job, midway(job, seed, j), j});
    }
  }
};

Decision embedding(std::size_t servers, std::size_t count, bool relaxed, std::uint64_t seed) {
  const auto made = std::make_shared<SlotOfRings>(servers, count, seed);
  const gadget::RingCluster& cluster = made->world.instance.cluster;
  if (relaxed) return [made, &cluster] { (void)gadget::relax_slot(cluster, made->jobs); };
  return [made, &cluster] { (void)gadget::slot_greedy(cluster, made->jobs); };
}

Decision crews(std::size_t points, std::uint64_t seed) {
  const auto instance =
      std::make_shared<papers::smd::SmdInstance>(smd_instance({.jobs = 1, .units = 100.0}, seed));
  const double epsilon = 1.0 / static_cast<double>(points);
  return [instance, epsilon] { (void)papers::smd::sum_of_ratios(instance->jobs.front(), epsilon); };
}

Decision admission(std::size_t items, std::uint64_t seed) {
  const auto instance = smd_instance({.jobs = items, .units = 3.0}, seed);
  const auto knapsack = std::make_shared<papers::Knapsack>(
      papers::smd::outer_knapsack(instance, papers::smd::fastest_crews(instance)));
  return [knapsack] { (void)papers::frieze_clarke_knapsack(*knapsack, 1); };
}

Decision division(std::size_t jobs, std::int64_t cores, std::uint64_t seed) {
  std::vector<papers::QualityJob> known(jobs);
  for (std::size_t j = 0; j < jobs; ++j) {
    known[j].fit = papers::LossFit{};
    known[j].fit->curve = {.b = 0.05 + random_unit({seed, 21, j}), .c = 1.0};
    known[j].iteration = 20.0 * random_unit({seed, 22, j});
    known[j].iterations_per_core = 0.1;
  }
  return [known, cores] { (void)papers::divide_by_quality(known, cores); };
}

Decision order(std::size_t gpus, std::size_t jobs, std::uint64_t seed) {
  papers::OnesSchedule schedule(gpus), current(gpus);
  for (std::size_t g = 0; g < gpus; ++g) {
    schedule[g] = static_cast<std::int32_t>(g < jobs ? g : random_below(jobs, {seed, 31, g}));
    current[g] = static_cast<std::int32_t>(random_below(jobs, {seed, 32, g}));
  }
  return [schedule, current] { (void)papers::reorder(schedule, current); };
}

/// Candidates of which none depend on each other: all pairs are looked at.
Decision check(std::size_t candidates, std::uint64_t seed) {
  std::vector<std::size_t> drawn;
  for (std::size_t c = 0; c < candidates; ++c) drawn.push_back(c);
  return [drawn, seed] {
    const auto conflict = [seed](std::size_t a, std::size_t b) { return a + b + 1 == seed; };
    (void)strads::without_conflicts(drawn, conflict);
  };
}

Decision sample(std::size_t blocks, std::uint64_t seed) {
  std::vector<strads::Block> all;
  for (std::size_t b = 0; b < blocks; ++b)
    all.push_back({.id = static_cast<std::int64_t>(b), .importance = random_unit({seed, 41, b})});
  return [all, seed] { (void)strads::schedule(all, all.size() / 10, 1, seed); };
}

const Growth kGrowths[] = {
    {"PD-ORS: slots T",
     1,
     {5, 10, 20, 40},
     [](std::size_t n, std::uint64_t s) {
       return slots(static_cast<std::int32_t>(n), 6, 8, false, s);
     }},
    {"PD-ORS: parts of the work, K E",
     1,
     {8, 16, 32, 64},
     [](std::size_t n, std::uint64_t s) {
       return slots(4, 6, static_cast<std::int32_t>(n), false, s);
     }},
    {"PD-ORS: machines H",
     3,
     {4, 8, 16, 32},
     [](std::size_t n, std::uint64_t s) { return slots(2, n, 4, false, s); }},
    {"OASiS: slots T",
     1,
     {20, 40, 80, 160},
     [](std::size_t n, std::uint64_t s) {
       return slots(static_cast<std::int32_t>(n), 20, 40, true, s);
     }},
    {"OASiS: parts of the work, N E",
     2,
     {40, 80, 160, 320},
     [](std::size_t n, std::uint64_t s) {
       return slots(10, 20, static_cast<std::int32_t>(n), true, s);
     }},
    {"OASiS: machines H + K",
     1,
     {20, 40, 80, 160},
     [](std::size_t n, std::uint64_t s) { return slots(10, n, 40, true, s); }},
    {"SJF-BCO: jobs",
     1,
     {20, 40, 80, 160},
     [](std::size_t n, std::uint64_t s) { return rings(20, 160 / n, 1200, s); }},
    {"SJF-BCO: servers, N log N",
     1,
     {10, 20, 40, 80},
     [](std::size_t n, std::uint64_t s) { return rings(n, 2, 1200, s); }},
    {"SJF-BCO: limits T, log T",
     0,
     {1200, 2400, 4800, 9600},
     [](std::size_t n, std::uint64_t s) { return rings(20, 4, static_cast<std::int64_t>(n), s); }},
    {"GADGET: jobs, LP",
     3,
     {5, 10, 20, 40},
     [](std::size_t n, std::uint64_t s) { return embedding(10, n, true, s); }},
    {"GADGET: servers, LP",
     3,
     {5, 10, 20, 40},
     [](std::size_t n, std::uint64_t s) { return embedding(n, 10, true, s); }},
    {"GADGET: jobs, greedy",
     3,
     {20, 40, 80, 160},
     [](std::size_t n, std::uint64_t s) { return embedding(50, n, false, s); }},
    {"SMD: points of the grid, 1 / epsilon",
     2,
     {5, 10, 20, 40},
     [](std::size_t n, std::uint64_t s) { return crews(n, s); }},
    {"SMD: jobs of the knapsack, k = 1", 6, {10, 20, 40, 80}, admission},
    {"SLAQ: jobs",
     1,
     {250, 500, 1000, 2000},
     [](std::size_t n, std::uint64_t s) { return division(n, 4000, s); }},
    {"SLAQ: cores, C log J",
     1,
     {2000, 4000, 8000, 16000},
     [](std::size_t n, std::uint64_t s) { return division(500, static_cast<std::int64_t>(n), s); }},
    {"ONES: jobs of a schedule",
     2,
     {8, 16, 32, 64},
     [](std::size_t n, std::uint64_t s) { return order(128, n, s); }},
    {"ONES: GPUs",
     1,
     {32, 64, 128, 256},
     [](std::size_t n, std::uint64_t s) { return order(n, 16, s); }},
    {"STRADS: candidates checked", 2, {200, 400, 800, 1600}, check},
    {"STRADS: blocks sampled, J log J", 1, {2000, 4000, 8000, 16000}, sample},
};

void measure(const Growth& growth, std::size_t seeds, std::vector<ResultRow>& rows) {
  ResultRow bound{growth.name, "the paper's bound", "exponent of CPU time", {}};
  ResultRow measured{growth.name, "measured", "exponent of CPU time", {}};
  std::vector<ResultRow> times;
  for (const std::size_t size : growth.sizes)
    times.push_back({growth.name, std::to_string(size), "CPU time of a decision, ms", {}});
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < growth.sizes.size(); ++i) {
      seconds.push_back(seconds_of(growth.prepare(growth.sizes[i], seed)));
      times[i].by_seed.push_back(1e3 * seconds.back());
    }
    bound.by_seed.push_back(growth.bound);
    measured.by_seed.push_back(exponent_of(growth.sizes, seconds));
  }
  rows.push_back(std::move(measured));
  rows.push_back(std::move(bound));
  rows.insert(rows.end(), times.begin(), times.end());
}

}  // namespace

std::vector<ResultRow> run_complexity(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  for (const Growth& growth : kGrowths) {
    Growth measured = growth;
    if (options.smoke) measured.sizes.resize(2);
    measure(measured, std::min(options.seeds, kMostSeeds), rows);
    options.ended(rows);
  }
  return rows;
}

}  // namespace berth::bench
