// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/search_space.hpp"
#include "local_search/task_costs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/base/random.hpp"

namespace berth::solver::local_search {

/// A place where a job may be inserted, and the estimated gain.
struct EjectionTarget {
  double gain;
  std::vector<std::pair<MachineId, int>> machine_gpus;  ///< machine, whole GPUs wanted there
};

/// Finds the place where an ejection chain inserts a job, and the jobs that it ejects there. Jobs
/// are positions in the option table of the space.
template <SearchState State>
class EjectionTargets {
 public:
  static constexpr std::uint32_t kNoPosition = ~std::uint32_t{0};

  /// @param prices  by PoolId of the pool index
  EjectionTargets(const SearchSpace<State>& space, std::span<const double> prices)
      : space_(space),
        entries_(space.entry_positions()),
        prices_(prices.begin(), prices.end()),
        freeing_costs_(space.state.room().size()),
        task_costs_(space.state.room().size()),
        last_chain_(space.jobs.size(), 0),
        limits_resources_(space.state.limit_usage().limits_resources()) {
    add_required_bonus();
    price_alternatives();
  }

  void start_chain() { ++chain_; }
  void start_sweep() { ++sweep_; }
  /// Records that this chain has moved the job; it does not eject the job then.
  void note_move(std::uint32_t position) { last_chain_[position] = chain_; }
  /// The next target is for a job that has left this place. Its GPUs there are not free for it,
  /// because other jobs would take them.
  void note_vacated(const model::JobPlacement& placement) {
    for (const model::TaskPlacement& t : placement.tasks) {
      vacated_[t.machine] += std::popcount(t.devices);
    }
  }
  void forget_vacated() { vacated_.clear(); }
  /// Drops the freeing costs of a machine: its jobs may be ejected again.
  void forget_costs(MachineId m) {
    freeing_costs_of(m).version = FreeingCosts::kStale;
    freeing_costs_of(m).stamp = ++stamps_;
  }

  /// The target of largest gain; with depth > 0 other jobs may be ejected.
  std::optional<EjectionTarget> best(std::uint32_t position, int depth) {
    position_ = position;
    const auto options = space_.option_table.options(position);
    std::optional<EjectionTarget> found;
    for (std::uint32_t k = 0; k < options.size(); ++k) {  // best first
      const double worth = options[k].value + required_bonus_[position];
      if (found && worth <= found->gain) break;  // even a free place cannot beat the best target
      const assignment::PlaceClass& place_class =
          space_.option_table.place_classes()[options[k].place_class];
      const assignment::TaskDemand& s = space_.option_table.profile(place_class);
      if (s.whole_gpus() * 1000 != static_cast<std::size_t>(s.milli)) continue;
      const EjectionTarget candidate{.gain = 0.0, .machine_gpus = {}};
      if (place_class.width == model::Level::machine) {
        consider_machines(place_class, s, candidate, worth, depth, found);
      } else {
        consider_domains(place_class, s, worth, depth, found);
      }
    }
    return found;
  }

  /// Whole GPUs of the machine that are free, as far as limits on resources let the job use them.
  [[nodiscard]] int usable_gpus(std::uint32_t position, MachineId m) const {
    const int whole = space_.state.room().whole_count(m);
    return limits_resources_ ? gpus_within_limits(position, m, whole) : whole;
  }

  /// The jobs to eject to free `missing` more GPUs on the machine; empty if that is impossible.
  std::vector<std::uint32_t> victims(MachineId m, int missing) {
    std::vector<std::uint32_t> victims;
    solve_ejection_knapsack(m, &victims, missing);
    return victims;
  }

  [[nodiscard]] std::int64_t milli_of(std::uint32_t position) const {
    return space_.profile(position).milli;
  }
  [[nodiscard]] const JobEntry& entry(std::size_t position) const {
    return space_.state.entries()[entries_[position]];
  }
  [[nodiscard]] bool is_placed(std::size_t position) const { return entry(position).is_placed(); }
  /// Value as placed, with the bonus; 0 when unplaced.
  [[nodiscard]] double value(std::size_t position) const {
    return is_placed(position) ? entry(position).value + required_bonus_[position] : 0.0;
  }
  /// Position of the job in the option table; kNoPosition without one.
  [[nodiscard]] std::uint32_t position_of(JobId job) const {
    const auto at = std::ranges::lower_bound(space_.jobs, job);
    if (at == space_.jobs.end() || *at != job) return kNoPosition;
    return static_cast<std::uint32_t>(at - space_.jobs.begin());
  }
  /// Best priced profit that the job misses at its present place.
  [[nodiscard]] double regret(std::uint32_t position) const {
    return best_priced_profit_[position] - (is_placed(position) ? profit(position) : 0.0);
  }

 private:
  /// Share of the price that random draws subtract from estimated gains from the second sweep on,
  /// so that later sweeps try other targets. Chosen, not tuned.
  static constexpr double kPriceNoise = 0.02;
  static constexpr int kAnyDepth = 1;         ///< others may be ejected
  static constexpr double kRounding = 1e-12;  ///< relative, of sums of costs

  /// Least loss of freeing d whole GPUs on one machine: loss[d] for d = 1, 2, ...
  struct FreeingCosts {
    static constexpr std::uint32_t kStale = ~std::uint32_t{0};
    std::uint32_t version = kStale;  ///< of the machine's room
    std::uint32_t stamp = 0;         ///< another one after each change of `loss`
    std::vector<double> loss;
  };

  /// So many tasks of a job on one machine.
  struct MachineTasks {
    TaskCost cost;
    MachineId machine;
  };

  /// Of the `whole` free GPUs of the machine, those that limits on resources let the job use.
  [[nodiscard]] int gpus_within_limits(std::uint32_t position, MachineId m, int whole) const {
    const planner_model::LimitUsage& usage = space_.state.limit_usage();
    const model::WorkloadView& workload = space_.instance().workload;
    for (const model::TaskGroup& g : workload.groups_of(space_.job(position))) {
      const model::Shape& shape = workload.shape(g.shape);
      if (shape.gpus == 0) continue;
      const std::int64_t most = (whole + shape.gpus - 1) / shape.gpus;  // the last one in part
      return std::min(whole, shape.gpus * static_cast<int>(usage.count(m, shape, most)));
    }
    return whole;
  }

  [[nodiscard]] FreeingCosts& freeing_costs_of(MachineId m) {
    return freeing_costs_[space_.state.room().slot(m)];
  }

  /// Adds a bonus to required jobs that exceeds the value of all other jobs, so that they are
  /// placed and never ejected for good.
  void add_required_bonus() {
    double sum = 1.0;
    bool any = false;
    for (std::size_t i = 0; i < space_.jobs.size(); ++i) {
      if (!space_.option_table.options(i).empty())
        sum += space_.option_table.options(i).front().value;
      any = any || space_.job(i).required;
    }
    required_bonus_.assign(space_.jobs.size(), 0.0);
    if (!any) return;
    for (std::size_t i = 0; i < required_bonus_.size(); ++i) {
      if (!space_.job(i).required) continue;
      required_bonus_[i] = sum;
    }
  }

  /// Best priced profit of each job: value less the price of the cheapest pool, over all options.
  void price_alternatives() {
    std::vector<double> cheapest(space_.option_table.place_classes().size(), kInfinity);
    for (std::size_t s = 0; s < cheapest.size(); ++s) {
      const assignment::PlaceClass& place_class = space_.option_table.place_classes()[s];
      for (const std::int32_t p :
           space_.pool_index.pools_in(place_class.type, place_class.scope, place_class.domain)) {
        if (space_.machines.of(p).empty()) continue;
        cheapest[s] = std::min(cheapest[s], prices_[static_cast<std::size_t>(p)]);
      }
    }
    best_priced_profit_.assign(space_.jobs.size(), 0.0);
    for (std::size_t i = 0; i < best_priced_profit_.size(); ++i) {
      const auto milli = space_.profile(i).milli;
      for (const assignment::Option& c : space_.option_table.options(i)) {
        const double profit =
            c.value - cheapest[c.place_class] * static_cast<double>(milli) / 1000.0;
        best_priced_profit_[i] = std::max(best_priced_profit_[i], profit + required_bonus_[i]);
      }
    }
  }

  [[nodiscard]] double price_of(MachineId m) const {
    return prices_[space_.pool_index.pools().pool_of(m).index()];
  }

  [[nodiscard]] double cost(const model::JobPlacement& placement) const {
    double sum = 0.0;
    for (const model::TaskPlacement& t : placement.tasks) {
      sum += price_of(t.machine) * std::popcount(t.devices) * t.milli / 1000.0;
    }
    return sum;
  }

  /// Priced profit at the job's place; 0 when unplaced.
  [[nodiscard]] double profit(std::size_t position) const {
    return value(position) - cost(entry(position).placement);
  }

  /// Estimated loss of value when the job is ejected for these GPUs of it, by their part of it. At
  /// prices of an equilibrium it is little more than 1e-9 of that part: gangs leave before several
  /// small jobs do (decision 120).
  [[nodiscard]] double loss(std::uint32_t position, int gpus) const {
    const double part = 1000.0 * gpus / static_cast<double>(milli_of(position));
    return part * (std::max(0.0, profit(position) - best_priced_profit_[position]) + 1e-9);
  }

  /// Of the GPUs that are free on the machine, those that cost the job nothing.
  [[nodiscard]] int unpriced(MachineId m, int idle) const {
    if (vacated_.empty()) return idle;
    const auto at = vacated_.find(m);
    return at == vacated_.end() ? idle : std::max(0, idle - at->second);
  }

  /// Knapsack over the jobs on the machine: least loss that frees exactly f GPUs; then, for every
  /// d, the best f >= d, where GPUs freed in excess count at their price. If `victims` is given,
  /// also the ejected jobs for `wanted` GPUs.
  void solve_ejection_knapsack(MachineId m, std::vector<std::uint32_t>* victims, int wanted) {
    struct Ejectable {
      std::uint32_t position;
      int gpus;
      double loss;
    };
    std::vector<Ejectable> items;
    int total = 0;
    for (const Occupant& occupant : space_.state.occupants(m)) {
      if (occupant.whole_gpus == 0 || !occupant.evictable) continue;
      const std::uint32_t i = position_of(occupant.job);
      if (i == kNoPosition || last_chain_[i] == chain_) continue;
      items.push_back({i, occupant.whole_gpus, loss(i, occupant.whole_gpus)});
      total += occupant.whole_gpus;
    }
    // At equal losses the knapsack takes the first job: the last by precedence is ejected.
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
    std::vector<double>& loss = freeing_costs_of(m).loss;
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
    freeing_costs_of(m).version = space_.state.room().version(m);
    freeing_costs_of(m).stamp = ++stamps_;
    if (victims == nullptr || static_cast<std::size_t>(wanted) >= width) return;
    std::size_t f = from[static_cast<std::size_t>(wanted)];
    for (std::size_t k = items.size(); k-- > 0;) {
      if (chosen[k * width + f] == 0) continue;
      victims->push_back(items[k].position);
      f -= static_cast<std::size_t>(items[k].gpus);
    }
  }

  /// Least loss of value that leaves `gpus` whole GPUs of the machine free, `usable` of which are.
  double freeing_cost(MachineId m, int gpus, int usable, int depth) {
    const int missing = gpus - usable;
    if (missing <= 0) return 0.0;
    if (depth == 0) return kInfinity;
    FreeingCosts& costs = freeing_costs_of(m);
    if (costs.version != space_.state.room().version(m)) solve_ejection_knapsack(m, nullptr, 0);
    return static_cast<std::size_t>(missing) < costs.loss.size()
               ? costs.loss[static_cast<std::size_t>(missing)]
               : kInfinity;
  }

  /// Considers single machines. Gain = value - price of its GPUs - loss of freeing them + price of
  /// the idle GPUs that it uses.
  void consider_machines(const assignment::PlaceClass& place_class, const assignment::TaskDemand& s,
                         EjectionTarget candidate, double value, int depth,
                         std::optional<EjectionTarget>& best) {
    const int gpus = static_cast<int>(s.milli / model::kGpuMilli);
    for (const std::int32_t p :
         space_.pool_index.pools_in(place_class.type, place_class.scope, place_class.domain)) {
      const planner_model::Pool& pool =
          space_.pool_index.pools().pools[static_cast<std::size_t>(p)];
      if (s.job_fits[pool.machine_class.index()] == 0) continue;
      const double price = prices_[static_cast<std::size_t>(p)];
      const double base = value - price * gpus;
      if (best && base + price * gpus <= best->gain) continue;
      for (const MachineId m : space_.machines.of(p)) {
        const int idle = std::min(gpus, usable_gpus(position_, m));
        double gain = base + price * unpriced(m, idle);
        if (best && gain <= best->gain) continue;
        gain -= freeing_cost(m, gpus, idle, depth);
        if (sweep_ > 0)
          gain -= kPriceNoise * price * gpus * random_unit({sweep_, chain_, m.index()});
        if (best && gain <= best->gain) continue;
        if (gain == -kInfinity) continue;
        candidate.gain = gain;
        candidate.machine_gpus.assign(1, {m, gpus});
        best = candidate;
      }
    }
  }

  /// Cost per task on the machine, of the number of tasks for which it is least.
  TaskCost task_cost(MachineId m, double price, const assignment::TaskDemand& s, int depth) {
    TaskCost least;
    const int idle = usable_gpus(position_, m);
    const int most = space_.instance().cluster.class_of(m).gpus;
    for (int h = 1; h * s.gpus_per_task <= most && h <= s.most_on_machine; ++h) {
      const int used = unpriced(m, std::min(idle, h * s.gpus_per_task));
      const double each = (freeing_cost(m, h * s.gpus_per_task, idle, depth) +
                           price * (h * s.gpus_per_task - used)) /
                          h;
      if (each <= least.each && each < kInfinity) least = {each, h};
    }
    return least;
  }

  /// The same, where it does not depend on the job: kept until the machine changes. A job that has
  /// left the machine changed it, and finds no entry.
  TaskCost known_task_cost(MachineId m, double price, const assignment::TaskDemand& s,
                           std::span<KnownTaskCosts::Entry> entries) {
    const std::size_t slot = space_.state.room().slot(m);
    const std::uint32_t version = space_.state.room().version_at(slot);
    const FreeingCosts& freeing = freeing_costs_[slot];
    KnownTaskCosts::Entry& entry = entries[slot];
    if (entry.version == version && entry.stamp == freeing.stamp) return entry.cost;
    const TaskCost cost = task_cost(m, price, s, kAnyDepth);
    if (!vacated_.contains(m)) entry = {version, freeing.stamp, cost};
    return cost;
  }

  /// Lists the machines of these pools where a task has room and costs at most `most`.
  /// @return the least cost of a task; infinity without one
  double list_machines(std::span<const std::int32_t> pools, const assignment::TaskDemand& s,
                       int depth, double most) {
    const auto& classes = space_.instance().cluster.classes;
    const std::span<KnownTaskCosts::Entry> entries = task_costs_.of(s.gpus_per_task);
    double cheapest = kInfinity;
    listed_.clear();
    for (const std::int32_t p : pools) {
      const ClassId machine_class =
          space_.pool_index.pools().pools[static_cast<std::size_t>(p)].machine_class;
      if (s.task_fits[machine_class.index()] == 0) continue;
      const bool fills = s.most_on_machine * s.gpus_per_task >= classes[machine_class.index()].gpus;
      const bool known = depth > 0 && !limits_resources_ && fills;
      const double price = prices_[static_cast<std::size_t>(p)];
      for (const MachineId m : space_.machines.of(p)) {
        const TaskCost cost =
            known ? known_task_cost(m, price, s, entries) : task_cost(m, price, s, depth);
        if (cost.tasks == 0 || cost.each > most) continue;
        listed_.push_back({cost, m});
        cheapest = std::min(cheapest, cost.each);
      }
    }
    return cheapest;
  }

  /// The target on the cheapest of the listed machines; none if they have no room for all tasks.
  std::optional<EjectionTarget> cheapest_target(const assignment::TaskDemand& s, double value) {
    const auto by_cost = [](const MachineTasks& a, const MachineTasks& b) {
      return a.cost.each != b.cost.each ? a.cost.each < b.cost.each : a.machine < b.machine;
    };
    const auto enough = listed_.begin() + std::min<std::ptrdiff_t>(std::ssize(listed_), s.tasks);
    std::ranges::nth_element(listed_, enough, by_cost);
    std::sort(listed_.begin(), enough, by_cost);
    EjectionTarget target{.gain = value, .machine_gpus = {}};
    std::int64_t remainder = s.tasks;
    for (const MachineTasks& there : listed_) {
      const auto tasks = static_cast<int>(std::min<std::int64_t>(remainder, there.cost.tasks));
      target.machine_gpus.emplace_back(there.machine, tasks * s.gpus_per_task);
      target.gain -= there.cost.each * tasks;
      if ((remainder -= tasks) == 0) return target;
    }
    return std::nullopt;
  }

  /// Considers several machines of a domain, by ascending cost per task.
  void consider_domains(const assignment::PlaceClass& place_class, const assignment::TaskDemand& s,
                        double value, int depth, std::optional<EjectionTarget>& best) {
    if (s.gpus_per_task == 0) return;
    const auto pools =
        space_.pool_index.pools_in(place_class.type, place_class.scope, place_class.domain);
    const auto visit = [&](std::size_t first, std::size_t last) {
      const double most = best ? value - best->gain : kInfinity;  // for all tasks, so for one
      const double cheapest = list_machines(pools.subspan(first, last - first), s, depth, most);
      const double rounding = kRounding * std::abs(value);
      if (best && cheapest * static_cast<double>(s.tasks) > most + rounding) return;
      auto target = cheapest_target(s, value);
      if (target && (!best || target->gain > best->gain)) best = std::move(target);
    };
    space_.pool_index.for_each_domain(pools, place_class.width, visit);
  }

  SearchSpace<State> space_;
  std::vector<std::uint32_t> entries_;  ///< by position: among the entries of the state
  std::vector<double> prices_;
  std::vector<double> required_bonus_;       ///< by position: bonus of a required job, else 0
  std::vector<double> best_priced_profit_;   ///< by position: best priced profit anywhere, >= 0
  std::vector<FreeingCosts> freeing_costs_;  ///< by slot of the room
  KnownTaskCosts task_costs_;                ///< for jobs that may fill a machine, without limits
  std::vector<MachineTasks> listed_;         ///< by list_machines
  std::vector<std::uint32_t> last_chain_;    ///< by position: chain that moved it last
  bool limits_resources_;                    ///< some limit is on CPU, memory or the like
  std::uint32_t position_ = 0;               ///< of the job that looks for a target
  std::map<MachineId, int> vacated_;         ///< GPUs, of machines that the job has left
  std::uint32_t stamps_ = 0;                 ///< of freeing costs, given so far
  std::uint32_t chain_ = 0;
  std::uint64_t sweep_ = 0;
};

}  // namespace berth::solver::local_search
