// SPDX-License-Identifier: Apache-2.0
// Where a chain inserts a job, and what fills the capacity a chain leaves idle.
#include "local_search/ejection_chains.hpp"

#include <algorithm>
#include <functional>

#include "berth/base/infinity.hpp"
#include "berth/base/random.hpp"

namespace berth::solver::local_search {

using model::Level;

namespace {
constexpr double kPriceNoise = 0.02;  ///< of the price, from the second sweep on: other paths
}  // namespace

/// Knapsack over the jobs on the machine: least loss that frees exactly f GPUs, then, for every
/// d, the best f >= d, the GPUs freed in excess charged at their price. With `victims` given, also
/// which jobs those are for `wanted`.
void EjectionChains::solve_ejection_knapsack(MachineId m, std::vector<std::uint32_t>* victims,
                                             int wanted) {
  struct Ejectable {
    std::uint32_t position;
    int gpus;
    double loss;
  };
  std::vector<Ejectable> items;
  int total = 0;
  for (const Occupant& occupant : space_.occupancy.occupants(m)) {
    if (occupant.whole_gpus == 0 || !occupant.evictable) continue;
    const std::uint32_t i = position_of(occupant.job);
    if (i == kNoPosition || last_chain_[i] == chain_) continue;
    items.push_back({i, occupant.whole_gpus, loss(i)});
    total += occupant.whole_gpus;
  }
  // Of equal losses the knapsack takes the first: the last by precedence are to go.
  std::ranges::sort(items, std::greater<>{},
                    [&](const Ejectable& item) { return space_.ranks[item.position]; });
  const auto width = static_cast<std::size_t>(total) + 1;
  std::vector<double> best(width, kInfinity);
  std::vector<char> chosen(victims != nullptr ? width * items.size() : 0, 0);
  best[0] = 0.0;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto g = static_cast<std::size_t>(items[k].gpus);
    for (std::size_t f = width; f-- > g;) {
      const double with = best[f - g] + items[k].loss;
      if (with >= best[f]) continue;
      best[f] = with;
      if (victims != nullptr) chosen[k * width + f] = 1;
    }
  }
  const double price = price_of(m);
  std::vector<double>& loss = freeing_costs_[m.index()].loss;
  loss.assign(width, kInfinity);
  std::vector<std::size_t> from(width, 0);
  double running = kInfinity;
  std::size_t source = 0;
  for (std::size_t f = width; f-- > 0;) {
    if (best[f] + price * static_cast<double>(f) < running) {
      running = best[f] + price * static_cast<double>(f);
      source = f;
    }
    loss[f] = running - price * static_cast<double>(f);
    from[f] = source;
  }
  freeing_costs_[m.index()].version = space_.occupancy.room().version(m);
  if (victims == nullptr || static_cast<std::size_t>(wanted) >= width) return;
  std::size_t f = from[static_cast<std::size_t>(wanted)];
  for (std::size_t k = items.size(); k-- > 0;) {
    if (chosen[k * width + f] == 0) continue;
    victims->push_back(items[k].position);
    f -= static_cast<std::size_t>(items[k].gpus);
  }
}

double EjectionChains::freeing_cost(MachineId m, int gpus, int depth) {
  const int missing = gpus - space_.occupancy.room().whole_count(m);
  if (missing <= 0) return 0.0;
  if (depth == 0) return kInfinity;
  FreeingCosts& costs = freeing_costs_[m.index()];
  if (costs.version != space_.occupancy.room().version(m)) solve_ejection_knapsack(m, nullptr, 0);
  return static_cast<std::size_t>(missing) < costs.loss.size()
             ? costs.loss[static_cast<std::size_t>(missing)]
             : kInfinity;
}

/// Gain = priced profit - loss of freeing + price of the idle GPUs that get used.
void EjectionChains::consider_machines(const assignment::PlaceClass& place_class,
                                       const assignment::TaskDemand& s, Target candidate,
                                       double value, int depth, std::optional<Target>& best) {
  const int gpus = static_cast<int>(s.milli / model::kGpuMilli);
  for (const std::int32_t p :
       space_.pool_index.pools_in(place_class.type, place_class.scope, place_class.domain)) {
    const planner_model::Pool& pool = space_.pool_index.pools().pools[static_cast<std::size_t>(p)];
    if (s.job_fits[pool.machine_class.index()] == 0) continue;
    const double price = prices_[static_cast<std::size_t>(p)];
    const double base = value - price * gpus;
    if (best && base + price * gpus <= best->gain) continue;
    for (const MachineId m : space_.free_pools.machines_of(p)) {
      if (m == excluded_machine_) continue;
      const int idle = std::min(gpus, space_.occupancy.room().whole_count(m));
      double gain = base + price * idle;
      if (best && gain <= best->gain) continue;
      gain -= freeing_cost(m, gpus, depth);
      if (sweep_ > 0) gain -= kPriceNoise * price * gpus * random_unit({sweep_, chain_, m.index()});
      if (best && gain <= best->gain) continue;
      if (gain == -kInfinity) continue;
      candidate.gain = gain;
      candidate.machine_gpus.assign(1, {m, gpus});
      best = candidate;
    }
  }
}

/// The same over several machines of a domain: the cheapest tasks first.
void EjectionChains::consider_domains(const assignment::PlaceClass& place_class,
                                      const assignment::TaskDemand& s, Target candidate,
                                      double value, int depth, std::optional<Target>& best) {
  if (s.gpus_per_task == 0) return;
  struct MachineTasks {
    double cost;  ///< per task
    MachineId machine;
    int tasks;
  };
  const auto domain_pools =
      space_.pool_index.pools_in(place_class.type, place_class.scope, place_class.domain);
  std::vector<MachineTasks> machines_by_cost;
  space_.pool_index.for_each_domain(
      domain_pools, place_class.width, [&](std::size_t first, std::size_t last) {
        machines_by_cost.clear();
        const double most_cost =
            best ? value - best->gain : kInfinity;  // of one task; more cannot win
        for (const std::int32_t p : domain_pools.subspan(first, last - first)) {
          const planner_model::Pool& pool =
              space_.pool_index.pools().pools[static_cast<std::size_t>(p)];
          if (s.task_fits[pool.machine_class.index()] == 0) continue;
          const int most = space_.instance().cluster.classes[pool.machine_class.index()].gpus;
          for (const MachineId m : space_.free_pools.machines_of(p)) {
            MachineTasks machine_tasks{kInfinity, m, 0};
            const int idle = space_.occupancy.room().whole_count(m);
            for (int h = 1; h * s.gpus_per_task <= most && h <= s.tasks; ++h) {
              const int used = std::min(idle, h * s.gpus_per_task);
              const double c =
                  (freeing_cost(m, h * s.gpus_per_task, depth) +
                   prices_[static_cast<std::size_t>(p)] * (h * s.gpus_per_task - used)) /
                  h;
              if (c <= machine_tasks.cost && c < kInfinity) machine_tasks = {c, m, h};
            }
            if (machine_tasks.tasks > 0 && machine_tasks.cost <= most_cost)
              machines_by_cost.push_back(machine_tasks);
          }
        }
        const auto used = std::min<std::ptrdiff_t>(std::ssize(machines_by_cost), s.tasks);
        std::ranges::partial_sort(machines_by_cost, machines_by_cost.begin() + used,
                                  [](const MachineTasks& a, const MachineTasks& b) {
                                    return a.cost != b.cost ? a.cost < b.cost
                                                            : a.machine < b.machine;
                                  });
        std::int64_t remainder = s.tasks;
        double gain = value;
        candidate.machine_gpus.clear();
        for (const MachineTasks& machine_tasks : machines_by_cost) {
          const auto tasks =
              static_cast<int>(std::min<std::int64_t>(remainder, machine_tasks.tasks));
          candidate.machine_gpus.emplace_back(machine_tasks.machine, tasks * s.gpus_per_task);
          gain -= machine_tasks.cost * tasks;
          if ((remainder -= tasks) == 0) break;
        }
        candidate.gain = gain;
        if (remainder == 0 && (!best || gain > best->gain)) best = candidate;
      });
}

std::optional<EjectionChains::Target> EjectionChains::best_target(std::uint32_t position,
                                                                  int depth) {
  const auto options = space_.option_table.options(position);
  std::optional<Target> best;
  for (std::uint32_t k = 0; k < options.size(); ++k) {  // best first
    const double worth = options[k].value + required_bonus_[position];
    if (best && worth <= best->gain) break;  // even a free place cannot beat the best target
    const assignment::PlaceClass& place_class =
        space_.option_table.place_classes()[options[k].place_class];
    const assignment::TaskDemand& s = space_.option_table.profile(place_class);
    if (s.whole_gpus() * 1000 != static_cast<std::size_t>(s.milli)) continue;
    const Target candidate{.gain = 0.0, .option = k, .machine_gpus = {}};
    if (place_class.width == Level::machine) {
      consider_machines(place_class, s, candidate, worth, depth, best);
    } else {
      consider_domains(place_class, s, candidate, worth, depth, best);
    }
  }
  return best;
}

/// The job's value on this machine alone; 0 when it must not or cannot be placed there.
double EjectionChains::value_alone_on(std::uint32_t position, MachineId m) const {
  const model::Cluster& cluster = space_.instance().cluster;
  const GpuTypeId type = cluster.class_of(m).gpu_type;
  for (const assignment::Option& c : space_.option_table.options(position)) {  // best first
    const assignment::PlaceClass& place_class = space_.option_table.place_classes()[c.place_class];
    if (place_class.type != type) continue;
    const assignment::TaskDemand& s = space_.option_table.profile(place_class);
    if (s.job_fits[cluster.machine_class[m.index()].index()] == 0) continue;
    const std::int32_t domain = place_class.scope == Level::cluster ? 0
                                : place_class.scope == Level::pod
                                    ? cluster.pod_of(m).value()
                                    : cluster.machine_rack[m.index()].value();
    if (place_class.domain == domain) return c.value;
  }
  return 0.0;
}

/// Unplaced jobs into what a chain left idle on the machine: best value per GPU first.
double EjectionChains::fill_idle_capacity(MachineId m) {
  double gained = 0.0;
  for (;;) {
    const std::int64_t idle = space_.occupancy.room().free_milli(m);
    double best = 0.0;
    std::uint32_t chosen = 0;
    for (const auto& [milli, ranks] : unplaced_by_size_) {
      if (milli > idle) break;
      for (const std::uint32_t r : ranks) {
        const std::uint32_t i = ranked_[r];
        const double size = static_cast<double>(milli);
        if (space_.option_table.options(i).front().value <= best * size) break;
        double worth = value_alone_on(i, m) / size;
        if (worth <= best) continue;
        const auto extra = surcharge(i);
        if (!extra) continue;
        worth -= *extra / size;
        if (worth > best) best = worth, chosen = i;
      }
    }
    if (best == 0.0) return gained;
    auto placed = space_.occupancy.fit(space_.jobs[chosen], std::span(&m, 1));
    if (!placed) return gained;
    place(chosen, std::move(*placed));
    gained += value(chosen);
  }
}

}  // namespace berth::solver::local_search
