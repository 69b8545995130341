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

EjectionChains::EjectionChains(const model::Valuation& valuation,
                               const assignment::OptionTable& option_table,
                               assignment::FreePools& free_pools,
                               assignment::PlacementTable& placements,
                               std::span<const double> prices)
    : valuation_(&valuation),
      option_table_(&option_table),
      free_pools_(&free_pools),
      placements_(&placements),
      prices_(prices.begin(), prices.end()),
      value_(placements.jobs.size(), 0.0),
      jobs_on_(valuation.instance().cluster.machines()),
      freeing_costs_(jobs_on_.size()),
      last_chain_(placements.jobs.size(), 0) {
  for (std::uint32_t i = 0; i < placements.jobs.size(); ++i) {
    if (!placements.is_placed(i)) continue;
    value_[i] = valuation.placed(placements.placed[i]);
    for (const model::TaskPlacement& t : placements.placed[i].tasks) {
      auto& there = jobs_on_[t.machine.index()];
      if (there.empty() || there.back() != i) there.push_back(i);
    }
  }
  add_required_bonus();
  price_alternatives();
  rank_unplaced();
}

/// A required job counts for more than all others together, so that it is placed and stays.
void EjectionChains::add_required_bonus() {
  double sum = 1.0;
  bool any = false;
  for (std::size_t i = 0; i < placements_->jobs.size(); ++i) {
    if (!option_table_->options(i).empty()) sum += option_table_->options(i).front().value;
    any = any || valuation_->instance().workload.job(placements_->jobs[i]).required;
  }
  required_bonus_.assign(placements_->jobs.size(), 0.0);
  if (!any) return;
  for (std::size_t i = 0; i < required_bonus_.size(); ++i) {
    if (!valuation_->instance().workload.job(placements_->jobs[i]).required) continue;
    required_bonus_[i] = sum;
    if (placements_->is_placed(i)) value_[i] += sum;
  }
}

/// Ranks the jobs by their best value per GPU; none for those that are worth nothing,
/// which may be placed all the same, in room that was idle.
void EjectionChains::rank_unplaced() {
  const auto worth = [&](std::uint32_t i) {
    return option_table_->options(i).front().value / static_cast<double>(milli_of(i));
  };
  for (std::uint32_t i = 0; i < placements_->jobs.size(); ++i) {
    if (!option_table_->options(i).empty()) ranked_.push_back(i);
  }
  std::ranges::sort(ranked_, [&](std::uint32_t a, std::uint32_t b) {
    return worth(a) != worth(b) ? worth(a) > worth(b) : placements_->rank[a] < placements_->rank[b];
  });
  rank_.assign(placements_->jobs.size(), kNoRank);
  for (std::uint32_t r = 0; r < ranked_.size(); ++r) {
    rank_[ranked_[r]] = r;
    if (!placements_->is_placed(ranked_[r])) unplaced_by_size_[milli_of(ranked_[r])].insert(r);
  }
}

double EjectionChains::price_of(MachineId m) const {
  return prices_[free_pools_->pool_index().pools().of_machine[m.index()].index()];
}

/// Best value minus price over all options, the cheapest pool of each taken for its price.
void EjectionChains::price_alternatives() {
  std::vector<double> cheapest(option_table_->place_classes().size(), kInfinity);
  for (std::size_t s = 0; s < cheapest.size(); ++s) {
    const assignment::PlaceClass& place_class = option_table_->place_classes()[s];
    for (const std::int32_t p : free_pools_->pool_index().pools_in(
             place_class.type, place_class.scope, place_class.domain)) {
      if (free_pools_->machines_of(p).empty()) continue;
      cheapest[s] = std::min(cheapest[s], prices_[static_cast<std::size_t>(p)]);
    }
  }
  best_priced_profit_.assign(placements_->jobs.size(), 0.0);
  for (std::size_t i = 0; i < best_priced_profit_.size(); ++i) {
    const auto milli = option_table_->profiles()[option_table_->profile_of(i)].milli;
    for (const assignment::Option& c : option_table_->options(i)) {
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
  return value_[position] - cost(placements_->placed[position]);
}

double EjectionChains::loss(std::uint32_t position) const {
  return std::max(0.0, profit(position) - best_priced_profit_[position]) + 1e-9;
}

int EjectionChains::gpus_on(std::uint32_t position, MachineId machine) const {
  int gpus = 0;
  for (const model::TaskPlacement& t : placements_->placed[position].tasks) {
    if (t.machine == machine && t.milli == model::kGpuMilli) gpus += std::popcount(t.devices);
  }
  return gpus;
}

void EjectionChains::save(std::uint32_t position) {
  if (last_chain_[position] == chain_) return;
  last_chain_[position] = chain_;
  undo_log_.emplace_back(position, placements_->placed[position]);
}

void EjectionChains::unplace(std::uint32_t position) {
  JobPlacement& placed = placements_->placed[position];
  free_pools_->release(placed);
  if (placements_->limit_usage != nullptr) placements_->limit_usage->remove(placed);
  for (const model::TaskPlacement& t : placed.tasks) {
    std::erase(jobs_on_[t.machine.index()], position);
    freeing_costs_[t.machine.index()].stale = true;
    touched_machines_.push_back(t.machine);
  }
  placed.tasks.clear();
  value_[position] = 0.0;
  if (rank_[position] != kNoRank) unplaced_by_size_[milli_of(position)].insert(rank_[position]);
}

/// The room has been taken already.
void EjectionChains::place(std::uint32_t position, JobPlacement placement) {
  for (const model::TaskPlacement& t : placement.tasks) {
    auto& there = jobs_on_[t.machine.index()];
    if (std::ranges::find(there, position) == there.end()) there.push_back(position);
    freeing_costs_[t.machine.index()].stale = true;
    touched_machines_.push_back(t.machine);
  }
  if (rank_[position] != kNoRank) unplaced_by_size_[milli_of(position)].erase(rank_[position]);
  value_[position] = valuation_->placed(placement) + required_bonus_[position];
  if (placements_->limit_usage != nullptr) placements_->limit_usage->add(placement);
  placements_->placed[position] = std::move(placement);
}

void EjectionChains::roll_back() {
  for (const auto& [position, old] : undo_log_) {
    if (placements_->is_placed(position)) unplace(position);
  }
  for (auto& [position, old] : undo_log_) {
    if (old.tasks.empty()) continue;
    free_pools_->take(old);
    place(position, std::move(old));
  }
}

/// Places the job (which is unplaced) where that gains most, ejecting others; they are
/// inserted again one level less deep. Returns the change of value.
double EjectionChains::insert(std::uint32_t position, int depth) {
  const auto target = best_target(position, ejections_left_ > 0 ? depth : 0);
  excluded_machine_ = MachineId();
  if (!target || target->gain <= 0.0) return 0.0;
  double change = 0.0;
  std::vector<std::uint32_t> victims;
  save(position);
  for (const auto& [machine, gpus] : target->machine_gpus) {
    const int missing = gpus - free_pools_->room().whole_count(machine);
    if (missing <= 0) continue;
    std::vector<std::uint32_t> here;
    solve_ejection_knapsack(machine, &here, missing);
    for (const std::uint32_t v : here) {
      save(v);
      change -= value_[v];
      unplace(v);
      victims.push_back(v);
      --ejections_left_;
    }
  }
  std::vector<MachineId> machines;
  for (const auto& machine_tasks : target->machine_gpus) machines.push_back(machine_tasks.first);
  auto placed = model::place_job(free_pools_->room(), valuation_->instance().workload,
                                 placements_->jobs[position], machines);
  if (placed && !respects_limits(*placed)) {
    model::release(free_pools_->room(), valuation_->instance().workload, *placed);
    placed.reset();
  }
  if (placed) {
    free_pools_->count_taken(*placed);
    place(position, std::move(*placed));
    change += value_[position];
  }
  std::ranges::sort(victims, [&](std::uint32_t a, std::uint32_t b) {
    return milli_of(a) != milli_of(b) ? milli_of(a) > milli_of(b)
                                      : placements_->rank[a] < placements_->rank[b];
  });
  for (const std::uint32_t v : victims) change += insert(v, depth - 1);
  return change;
}

double EjectionChains::try_chain(std::uint32_t position) {
  ++chain_;
  undo_log_.clear();
  touched_machines_.clear();
  ejections_left_ = kMaxEjections;
  double change = surcharges();
  if (placements_->is_placed(position)) {
    save(position);
    change -= value_[position];
    excluded_machine_ = placements_->placed[position].tasks.front().machine;
    unplace(position);
  }
  change += insert(position, kMaxDepth);
  std::vector<MachineId> machines = touched_machines_;
  std::ranges::sort(machines);
  machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
  for (const MachineId m : machines) change += fill_idle_capacity(m);
  change -= surcharges();
  const bool better = change > 1e-9;
  if (!better) roll_back();
  for (const MachineId m : touched_machines_)
    freeing_costs_[m.index()].stale = true;  // jobs are unmarked again
  return better ? change : 0.0;
}

/// What the job would cost beyond its price by exceeding soft quotas; empty: a hard one is full.
std::optional<double> EjectionChains::surcharge(std::uint32_t position) const {
  if (placements_->limit_usage == nullptr) return 0.0;
  return placements_->limit_usage->surcharge(placements_->jobs[position]);
}

double EjectionChains::surcharges() const {
  return placements_->limit_usage == nullptr ? 0.0 : placements_->limit_usage->surcharges();
}

bool EjectionChains::respects_limits(const JobPlacement& placement) const {
  const model::LimitUsage* limit_usage = placements_->limit_usage;
  return limit_usage == nullptr ||
         (limit_usage->surcharge(placement.job) && limit_usage->carries(placement));
}

double EjectionChains::run(int most, const StopToken& stop) {
  const double before = total() - surcharges();
  sweeps(most, stop);
  return total() - surcharges() - before;
}

double EjectionChains::total() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < value_.size(); ++i)
    sum += placements_->is_placed(i) ? value_[i] - required_bonus_[i] : 0;
  return sum;
}

void EjectionChains::sweeps(int most, const StopToken& stop) {
  for (int tried = 0, fruitless = 0; tried < most && fruitless < 2;) {
    std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> order;  // then rank, position
    for (std::uint32_t i = 0; i < placements_->jobs.size(); ++i) {
      const double regret = best_priced_profit_[i] - (placements_->is_placed(i) ? profit(i) : 0.0);
      if (option_table_->options(i).empty() || regret <= 1e-6) continue;
      if (placements_->is_placed(i) || surcharge(i))
        order.emplace_back(-regret, placements_->rank[i], i);
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
