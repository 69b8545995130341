// SPDX-License-Identifier: Apache-2.0
#include "local_search/ejection_chains.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/base/infinity.hpp"

namespace berth::solver::local_search {

using model::JobPlacement;

namespace {
constexpr int kMaxDepth = 3;       ///< an ejected job ejects others, so often
constexpr int kMaxEjections = 24;  ///< per chain
constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
}  // namespace

EjectionChains::EjectionChains(const SearchSpace& space, std::span<const double> prices)
    : space_(space),
      entries_(space.entry_positions()),
      prices_(prices.begin(), prices.end()),
      freeing_costs_(space.instance().cluster.machines()),
      last_chain_(space.jobs.size(), 0) {
  if (!space.jobs.empty()) {
    positions_.assign(space.jobs.back().index() - space.jobs.front().index() + 1, kNoPosition);
  }
  for (std::uint32_t i = 0; i < space.jobs.size(); ++i) {
    positions_[space.jobs[i].index() - space.jobs.front().index()] = i;
  }
  add_required_bonus();
  price_alternatives();
  rank_unplaced();
}

/// A required job counts for more than all others together, so that it is placed and stays.
void EjectionChains::add_required_bonus() {
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

/// Ranks the jobs by their best value per GPU; none for those that are worth nothing,
/// which may be placed all the same, in room that was idle.
void EjectionChains::rank_unplaced() {
  const auto worth = [&](std::uint32_t i) {
    return space_.option_table.options(i).front().value / static_cast<double>(milli_of(i));
  };
  for (std::uint32_t i = 0; i < space_.jobs.size(); ++i) {
    if (!space_.option_table.options(i).empty()) ranked_.push_back(i);
  }
  std::ranges::sort(ranked_, [&](std::uint32_t a, std::uint32_t b) {
    return worth(a) != worth(b) ? worth(a) > worth(b) : space_.ranks[a] < space_.ranks[b];
  });
  rank_.assign(space_.jobs.size(), kNoRank);
  for (std::uint32_t r = 0; r < ranked_.size(); ++r) {
    rank_[ranked_[r]] = r;
    if (!is_placed(ranked_[r])) unplaced_by_size_[milli_of(ranked_[r])].insert(r);
  }
}

double EjectionChains::price_of(MachineId m) const {
  return prices_[space_.pool_index.pools().of_machine[m.index()].index()];
}

/// Best value minus price over all options, the cheapest pool of each taken for its price.
void EjectionChains::price_alternatives() {
  std::vector<double> cheapest(space_.option_table.place_classes().size(), kInfinity);
  for (std::size_t s = 0; s < cheapest.size(); ++s) {
    const assignment::PlaceClass& place_class = space_.option_table.place_classes()[s];
    for (const std::int32_t p :
         space_.pool_index.pools_in(place_class.type, place_class.scope, place_class.domain)) {
      if (space_.free_pools.machines_of(p).empty()) continue;
      cheapest[s] = std::min(cheapest[s], prices_[static_cast<std::size_t>(p)]);
    }
  }
  best_priced_profit_.assign(space_.jobs.size(), 0.0);
  for (std::size_t i = 0; i < best_priced_profit_.size(); ++i) {
    const auto milli = space_.profile(i).milli;
    for (const assignment::Option& c : space_.option_table.options(i)) {
      const double profit = c.value - cheapest[c.place_class] * static_cast<double>(milli) / 1000.0;
      best_priced_profit_[i] = std::max(best_priced_profit_[i], profit + required_bonus_[i]);
    }
  }
}

double EjectionChains::cost(const JobPlacement& placement) const {
  double sum = 0.0;
  for (const model::TaskPlacement& t : placement.tasks) {
    sum += price_of(t.machine) * std::popcount(t.devices) * t.milli / 1000.0;
  }
  return sum;
}

double EjectionChains::profit(std::size_t position) const {
  return value(position) - cost(entry(position).placement);
}

double EjectionChains::loss(std::uint32_t position) const {
  return std::max(0.0, profit(position) - best_priced_profit_[position]) + 1e-9;
}

/// Keeps the sizes of unplaced jobs up to date.
void EjectionChains::record_unplaced(std::uint32_t position) {
  if (rank_[position] == kNoRank) return;
  std::set<std::uint32_t>& ranks = unplaced_by_size_[milli_of(position)];
  if (is_placed(position)) {
    ranks.erase(rank_[position]);
  } else {
    ranks.insert(rank_[position]);
  }
}

void EjectionChains::unplace(std::uint32_t position) {
  space_.occupancy.give_back(space_.jobs[position]);
  record_unplaced(position);
}

void EjectionChains::place(std::uint32_t position, JobPlacement placement) {
  space_.occupancy.take(std::move(placement));
  record_unplaced(position);
}

/// The position of the job in the option table; kNoPosition when it is not there.
std::uint32_t EjectionChains::position_of(JobId job) const {
  const auto at = static_cast<std::size_t>(job.value() - space_.jobs.front().value());
  return at < positions_.size() ? positions_[at] : kNoPosition;
}

/// Places the job (which is unplaced) where that gains most, ejecting others; they are
/// inserted again one level less deep. Returns the change of value.
double EjectionChains::insert(std::uint32_t position, int depth) {
  const auto target = best_target(position, ejections_left_ > 0 ? depth : 0);
  excluded_machine_ = MachineId();
  if (!target || target->gain <= 0.0) return 0.0;
  double change = 0.0;
  std::vector<std::uint32_t> victims;
  last_chain_[position] = chain_;
  for (const auto& [machine, gpus] : target->machine_gpus) {
    const int missing = gpus - space_.occupancy.room().whole_count(machine);
    if (missing <= 0) continue;
    std::vector<std::uint32_t> here;
    solve_ejection_knapsack(machine, &here, missing);
    for (const std::uint32_t v : here) {
      last_chain_[v] = chain_;
      change -= value(v);
      unplace(v);
      victims.push_back(v);
      --ejections_left_;
    }
  }
  std::vector<MachineId> machines;
  for (const auto& machine_tasks : target->machine_gpus) machines.push_back(machine_tasks.first);
  auto placed = space_.occupancy.fit(space_.jobs[position], machines);
  if (placed && respects_limits(*placed)) {
    place(position, std::move(*placed));
    change += value(position);
  }
  std::ranges::sort(victims, [&](std::uint32_t a, std::uint32_t b) {
    return milli_of(a) != milli_of(b) ? milli_of(a) > milli_of(b)
                                      : space_.ranks[a] < space_.ranks[b];
  });
  for (const std::uint32_t v : victims) change += insert(v, depth - 1);
  return change;
}

double EjectionChains::try_chain(std::uint32_t position) {
  ++chain_;
  ejections_left_ = kMaxEjections;
  const Occupancy::Mark mark = space_.occupancy.mark();
  double change = surcharges();
  if (is_placed(position)) {
    last_chain_[position] = chain_;
    change -= value(position);
    excluded_machine_ = entry(position).placement.tasks.front().machine;
    unplace(position);
  }
  change += insert(position, kMaxDepth);
  const std::vector<MachineId> machines = machines_touched(mark);
  for (const MachineId m : machines) change += fill_idle_capacity(m);
  change -= surcharges();
  const bool better = change > 1e-9;
  if (better) {
    space_.occupancy.keep(mark);
  } else {
    std::vector<JobId> moved;
    for (const auto& c : space_.occupancy.changes_since(mark)) moved.push_back(c.job);
    space_.occupancy.roll_back(mark);
    for (const JobId job : moved) record_unplaced(position_of(job));
  }
  // The jobs of this chain may be ejected again.
  for (const MachineId m : machines) freeing_costs_[m.index()].version = FreeingCosts::kStale;
  return better ? change : 0.0;
}

/// Machines that jobs left or were placed on since the mark, ascending.
std::vector<MachineId> EjectionChains::machines_touched(Occupancy::Mark mark) const {
  std::vector<MachineId> machines;
  const auto add = [&](std::span<const model::TaskPlacement> tasks) {
    for (const model::TaskPlacement& t : tasks) machines.push_back(t.machine);
  };
  for (const Occupancy::Change& change : space_.occupancy.changes_since(mark)) {
    add(change.left.empty() ? entry(position_of(change.job)).placement.tasks : change.left);
  }
  std::ranges::sort(machines);
  machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
  return machines;
}

bool EjectionChains::respects_limits(const JobPlacement& placement) const {
  const planner_model::LimitUsage& limit_usage = space_.occupancy.limit_usage();
  return limit_usage.surcharge(placement.job) && limit_usage.carries(placement);
}

double EjectionChains::run(int most, const StopToken& stop) {
  const double before = total() - surcharges();
  sweeps(most, stop);
  return total() - surcharges() - before;
}

double EjectionChains::total() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < entries_.size(); ++i) sum += entry(i).value;
  return sum;
}

void EjectionChains::sweeps(int most, const StopToken& stop) {
  for (int tried = 0, fruitless = 0; tried < most && fruitless < 2;) {
    std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> order;  // then rank, position
    for (std::uint32_t i = 0; i < space_.jobs.size(); ++i) {
      const double regret = best_priced_profit_[i] - (is_placed(i) ? profit(i) : 0.0);
      if (space_.option_table.options(i).empty() || regret <= 1e-6) continue;
      if (is_placed(i) || surcharge(i)) order.emplace_back(-regret, space_.ranks[i], i);
    }
    std::ranges::sort(order);
    double sweep = 0.0;
    for (const auto& [regret, rank, position] : order) {
      if (stop.requested()) return;
      if (tried++ == most) break;
      sweep += try_chain(position);
    }
    fruitless = sweep > 0.0 ? 0 : fruitless + 1;
    ++sweep_;
    if (order.empty()) break;
  }
}

}  // namespace berth::solver::local_search
