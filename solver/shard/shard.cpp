// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/shard.hpp"

#include "shard/insertion.hpp"
#include "shard/shard_state.hpp"
#include "shard/tenancy.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "berth/parallel/loops.hpp"
#include "berth/solver/dive.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

using model::JobPlacement;

namespace {

constexpr std::size_t kBatch = 64;  ///< insertions searched on one snapshot
constexpr std::int64_t kSmallGpus = 4096;

std::vector<JobId> sorted(std::span<const JobId> jobs) {
  std::vector<JobId> result(jobs.begin(), jobs.end());
  std::ranges::sort(result);
  return result;
}

}  // namespace

/// Largest value over the types the job may use; for a CPU-only job its value anywhere.
double Shard::State::best_value(JobId job) const {
  const model::Job& record = workload().job(job);
  if (workload().gpu_milli(record) == 0) return valuation->best(job, GpuTypeId{});
  double best = 0.0;
  for (const GpuTypeId type : tenancy.index().types()) {
    if (((record.gpu_types >> type.index()) & 1) != 0) {
      best = std::max(best, valuation->best(job, type));
    }
  }
  return best;
}

/// Best value of the job less its GPUs at a price per GPU and type.
double Shard::State::profit(JobId job, std::span<const double> by_type) const {
  const model::Job& record = workload().job(job);
  const double gpus = static_cast<double>(workload().gpu_milli(record)) / 1000.0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < by_type.size(); ++t) {
    if (((record.gpu_types >> t) & 1) == 0) continue;
    best = std::max(best, valuation->best(job, GpuTypeId(t)) - gpus * by_type[t]);
  }
  return best;
}

void Shard::State::admit(model::Placement placed) {
  for (JobPlacement& p : placed) {
    unplaced.erase(p.job);
    tenancy.adopt(std::move(p));
  }
}

void Shard::State::dive_all(std::span<const JobId> jobs, std::span<const double> prices,
                            const StopToken& stop) {
  const auto [own, in_all] = model::part_of(valuation->instance().cluster, *pools, machines);
  std::vector<double> own_prices;
  for (const PoolId p : in_all) own_prices.push_back(prices[p.index()]);
  model::Room best_room = tenancy.room();
  DiveResult best = dive(*valuation, own, best_room, machines, jobs, own_prices, {.stop = stop});
  for (const double eps : more_smoothings()) {
    if (stop.requested()) break;
    model::Room room = tenancy.room();
    DiveResult other =
        dive(*valuation, own, room, machines, jobs, own_prices, {.eps = eps, .stop = stop});
    if (other.value <= best.value) continue;
    best = std::move(other);
    best_room = std::move(room);
  }
  tenancy.room() = std::move(best_room);
  admit(std::move(best.placement));
}

/// Which large gangs a dive takes first is a matter of luck, and in a small cluster one of them is
/// much: there several dives cost little.
std::span<const double> Shard::State::more_smoothings() const {
  static constexpr std::array kMore = {0.0002, 0.002, 0.006};
  if (valuation->instance().cluster.gpus() > kSmallGpus) return {};
  return kMore;
}

void Shard::State::pack_all(std::span<const JobId> jobs, const StopToken& stop) {
  PackResult result =
      pack(*valuation, tenancy.room(), machines, jobs, {.gap = options.gap, .stop = stop});
  shape_prices = std::move(result.prices);
  admit(std::move(result.placed));
}

/// Idle room to whoever is worth most per GPU; jobs worth nothing last, they still run if they can.
void Shard::State::fill_idle() {
  std::vector<std::tuple<double, std::int32_t, std::int64_t, JobId>> order;
  for (const JobId job : unplaced) {
    const model::Job& record = workload().job(job);
    const auto milli = std::max<std::int64_t>(1, workload().gpu_milli(record));
    const double density = best_value(job) / static_cast<double>(milli);
    const double rank = record.required ? std::numeric_limits<double>::infinity() : density;
    order.emplace_back(-rank, -record.priority, record.arrival, job);
  }
  std::ranges::sort(order);
  // Room only shrinks here: what found no place once finds none for an equal job later.
  std::set<std::tuple<ShapeId, std::int32_t, std::uint64_t, model::Level, std::int64_t>> hopeless;
  for (const auto& [rank, priority, arrival, job] : order) {
    if (options.stop.patient().requested()) return;
    const model::Job& record = workload().job(job);
    const model::TaskGroup& group = workload().groups_of(record).front();
    const std::tuple kind(group.shape, group.count, record.gpu_types, record.domain,
                          record.communication.mbps);
    if (record.groups == 1 && hopeless.contains(kind)) continue;
    const std::optional<double> surcharge = tenancy.ledger().surcharge(job);
    if (!surcharge || (*surcharge > best_value(job) && !record.required)) continue;
    if (place_idle(tenancy, job)) {
      unplaced.erase(job);
    } else if (record.groups == 1) {
      hopeless.insert(kind);
    }
  }
}

/// Carries an insertion out; one that the uplinks refuse is tried within a rack.
Applied Shard::State::insert(JobId job, const Insertion& found, double at_least) {
  Applied applied = apply_insertion(tenancy, job, found, at_least);
  if (applied.gain > 0.0 || !applied.crowded) return applied;
  const Insertion narrow = find_insertion(tenancy, job, {.widest = model::Level::rack});
  if (narrow.gain <= 0.0 || narrow.gain < at_least) return {};
  return apply_insertion(tenancy, job, narrow, at_least);
}

/// Searches on a frozen snapshot in parallel, commits in order of gain, then id; an insertion
/// whose machines have changed meanwhile is searched again.
double Shard::State::improve_batch(std::span<const JobId> batch) {
  std::vector<Insertion> found(batch.size());
  parallel::run_tasks(batch.size(), [&](std::size_t i) {
    if (!options.stop.requested()) found[i] = find_insertion(tenancy, batch[i]);
  });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (found[i].gain > 0.0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-found[i].gain, batch[i]); });
  double gained = 0.0;
  std::set<MachineId> touched;
  for (const std::size_t i : order) {
    if (options.stop.requested()) break;
    const auto stale = [&](MachineId m) { return touched.contains(m); };
    const auto gone = [&](JobId victim) { return !tenancy.has(victim); };
    if (std::ranges::any_of(found[i].machines, stale) ||
        std::ranges::any_of(found[i].victims, gone)) {
      found[i] = find_insertion(tenancy, batch[i]);
    }
    if (found[i].gain <= 0.0) continue;
    for (const JobId victim : found[i].victims) {
      for (const auto& task : tenancy.placed(victim).tasks) touched.insert(task.machine);
    }
    const Applied applied = insert(batch[i], found[i], 0.0);
    if (applied.gain <= 0.0) continue;
    gained += applied.gain;
    touched.insert(found[i].machines.begin(), found[i].machines.end());
    for (const JobId victim : found[i].victims) {
      if (!tenancy.has(victim)) continue;
      for (const auto& task : tenancy.placed(victim).tasks) touched.insert(task.machine);
    }
    unplaced.erase(batch[i]);
    unplaced.insert(applied.pushed_out.begin(), applied.pushed_out.end());
    pushed_out.insert(applied.pushed_out.begin(), applied.pushed_out.end());
  }
  return gained;
}

Shard::Shard(ShardId id, const model::Valuation& valuation, const model::Pools& pools,
             std::vector<MachineId> machines, const ShardOptions& options)
    : state_(
          std::make_unique<State>(State{.id = id,
                                        .valuation = &valuation,
                                        .pools = &pools,
                                        .machines = machines,
                                        .options = options,
                                        .tenancy = Tenancy(valuation, machines, options.limits)})) {
  state_->tell_links();
}

Shard::~Shard() = default;
Shard::Shard(Shard&&) noexcept = default;
Shard& Shard::operator=(Shard&&) noexcept = default;

Shard Shard::fresh(ShardId id, std::vector<MachineId> machines) const {
  return {id, *state_->valuation, *state_->pools, std::move(machines), state_->options};
}

void Shard::reserve(const JobPlacement& placement) {
  const auto groups = state_->workload().groups_of(state_->workload().job(placement.job));
  for (const auto& task : placement.tasks) {
    if (!std::ranges::binary_search(state_->machines, task.machine)) continue;
    state_->tenancy.room().take(task, state_->workload().shape(groups[task.group].shape));
  }
}

void Shard::keep(const JobPlacement& placement) {
  state_->tenancy.add(placement);
  state_->challenged = true;
}

void Shard::plan(std::span<const JobId> jobs, std::span<const double> prices,
                 const StopToken& share) {
  State& s = *state_;
  s.unplaced.insert(jobs.begin(), jobs.end());
  s.cheapest.assign(s.valuation->instance().cluster.gpu_types.size(),
                    std::numeric_limits<double>::infinity());
  for (std::size_t p = 0; p < s.pools->size(); ++p) {
    const GpuTypeId type = s.pools->pools[p].gpu_type;
    if (type.valid()) s.cheapest[type.index()] = std::min(s.cheapest[type.index()], prices[p]);
  }
  std::vector<JobId> on_gpus;
  std::vector<JobId> packable;
  for (const JobId job : sorted(jobs)) {
    if (s.workload().gpu_milli(s.workload().job(job)) > 0) on_gpus.push_back(job);
    if (s.packable(job)) packable.push_back(job);
  }
  if (share.whole().requested()) {  // idle room is all that can still be used
  } else if (std::ranges::all_of(on_gpus, [&](JobId job) { return s.packable(job); })) {
    s.pack_all(packable, share);
  } else {
    s.dive_all(on_gpus, prices, share);
  }
  s.fill_idle();
  if (!s.challenged) return;
  // The relaxation took the running jobs' room for gone: now who waits may push them out.
  s.cheapest = marginal_prices();
  s.pushed_out = s.unplaced;
  improve();
}

void Shard::refill() { state_->fill_idle(); }

void Shard::restore(ShardContent content) {
  for (JobPlacement& p : content.placed) state_->tenancy.add(std::move(p));
  state_->unplaced.insert(content.unplaced.begin(), content.unplaced.end());
  state_->pushed_out.insert(content.pushed_out.begin(), content.pushed_out.end());
  state_->cheapest.assign(state_->valuation->instance().cluster.gpu_types.size(), 0.0);
}

ShardContent Shard::content() const {
  const State& s = *state_;
  return {.placed = s.tenancy.placement(),
          .unplaced = {s.unplaced.begin(), s.unplaced.end()},
          .pushed_out = {s.pushed_out.begin(), s.pushed_out.end()}};
}

std::vector<Offer> Shard::offers() const {
  std::vector<Offer> offers;
  for (const JobId job : state_->unplaced) {
    const double regret = state_->regret(job);
    if (regret > 0.0) offers.push_back({job, state_->id, regret});
  }
  return offers;
}

bool Shard::waits(JobId job) const { return state_->unplaced.contains(job); }

std::vector<JobId> Shard::jobs() const {
  std::vector<JobId> jobs = state_->tenancy.jobs();
  jobs.insert(jobs.end(), state_->unplaced.begin(), state_->unplaced.end());
  return jobs;
}

std::vector<Quote> Shard::quotes() const {
  const Tenancy& tenancy = state_->tenancy;
  const EvictionCosts costs(tenancy, {{model::Level::cluster}});
  std::vector<Quote> quotes;
  for (const GpuTypeId type : tenancy.index().types()) {
    const Domain& whole = tenancy.index().domains(type, model::Level::cluster).front();
    Quote& quote = quotes.emplace_back(Quote{.shard = state_->id, .type = type});
    for (std::size_t k = 0; k < quote.least.size(); ++k) {
      quote.least[k] = costs.least(whole, std::int64_t{1000} << k);
    }
  }
  return quotes;
}

std::vector<Bid> Shard::bids(std::span<const JobId> jobs,
                             std::span<const std::int64_t> left) const {
  std::vector<Bid> found(jobs.size());
  const EvictionCosts costs(state_->tenancy);
  parallel::run_tasks(jobs.size(), [&](std::size_t i) {
    if (state_->options.stop.requested()) return;
    const std::int64_t milli = state_->workload().gpu_milli(state_->workload().job(jobs[i]));
    const auto quotas = state_->tenancy.ledger().quotas_of(jobs[i]);
    const bool draws = !quotas.empty() && std::ranges::all_of(quotas, [&](std::uint32_t q) {
      return q < left.size() && left[q] >= milli;
    });
    const std::int64_t drawn = draws ? milli : 0;
    const Insertion best =
        find_insertion(state_->tenancy, jobs[i], {.costs = &costs, .drawn = drawn});
    found[i] = {jobs[i], state_->id, best.gain, drawn};
  });
  std::erase_if(found, [](const Bid& bid) { return bid.gain <= 0.0; });
  return found;
}

double Shard::realise(JobId job, double at_least, std::int64_t drawn) {
  if (state_->options.stop.requested()) return 0.0;
  model::Ledger& ledger = state_->tenancy.ledger();
  const auto raise = [&](std::int64_t by) {
    for (const std::uint32_t q : ledger.quotas_of(job)) {
      if (ledger.allowance(q) != model::Ledger::kNoLimit) ledger.allow(q, ledger.allowance(q) + by);
    }
  };
  raise(drawn);
  const Insertion found = find_insertion(state_->tenancy, job);
  Applied applied;
  if (found.gain >= at_least && found.gain > 0.0) applied = state_->insert(job, found, at_least);
  if (applied.gain <= 0.0) {
    raise(-drawn);
    return 0.0;
  }
  state_->unplaced.erase(job);
  state_->unplaced.insert(applied.pushed_out.begin(), applied.pushed_out.end());
  state_->pushed_out.insert(applied.pushed_out.begin(), applied.pushed_out.end());
  return applied.gain;
}

void Shard::let_go(JobId job) { state_->unplaced.erase(job); }

std::vector<double> Shard::marginal_prices() const {
  const State& s = *state_;
  const model::Cluster& cluster = s.valuation->instance().cluster;
  std::vector<double> price(cluster.gpu_types.size(), std::numeric_limits<double>::infinity());
  for (const MachineId m : s.machines) {
    const GpuTypeId type = cluster.class_of(m).gpu_type;
    if (!type.valid()) continue;
    double& least = price[type.index()];
    if (s.tenancy.room().whole_devices(m) != 0) least = 0.0;
    for (const Resident& r : s.tenancy.on(m)) {
      if (r.milli > 0 && r.may_go) least = std::min(least, 1000.0 * r.density);
    }
  }
  return price;
}

void Shard::update_prices(std::span<const double> by_type) {
  state_->cheapest.assign(by_type.begin(), by_type.end());
}

double Shard::improve() {
  State& s = *state_;
  double total = 0.0;
  for (int sweep = 0; sweep < s.options.sweeps && !s.pushed_out.empty(); ++sweep) {
    std::vector<std::pair<double, JobId>> order;
    for (const JobId job : s.pushed_out) {
      if (s.unplaced.contains(job)) order.emplace_back(-s.regret(job), job);
    }
    std::ranges::sort(order);
    s.pushed_out.clear();
    std::vector<JobId> queue;
    for (const auto& [regret, job] : order) queue.push_back(job);
    for (std::size_t first = 0; first < queue.size(); first += kBatch) {
      const std::size_t count = std::min(kBatch, queue.size() - first);
      total += s.improve_batch(std::span(queue).subspan(first, count));
    }
  }
  return total;
}

double Shard::State::search(const model::Valuation& by, std::span<const double> prices,
                            const SearchEffort& effort, model::Ledger& ledger) {
  const auto [own, in_all] = model::part_of(by.instance().cluster, *pools, machines);
  std::vector<double> own_prices;
  for (const PoolId p : in_all) own_prices.push_back(prices[p.index()]);
  std::vector<JobId> waiting(unplaced.begin(), unplaced.end());
  model::Placement placed = tenancy.placement();
  const double gained = solver::improve(by, own, tenancy.room(), machines, waiting, placed,
                                        own_prices, effort, options.stop, &ledger);
  tenancy.replace(std::move(placed));
  unplaced = {waiting.begin(), waiting.end()};
  pushed_out.clear();
  return gained;
}

double Shard::search(std::span<const double> prices, const SearchEffort& effort) {
  State& s = *state_;
  if (s.charged()) return s.search_twice(prices, effort);
  model::Ledger ledger = s.tenancy.ledger();
  return s.search(*s.valuation, prices, effort, ledger);
}

ShardId Shard::id() const { return state_->id; }

double Shard::gpus() const {
  double sum = 0.0;
  for (const MachineId m : state_->machines) {
    sum += state_->valuation->instance().cluster.class_of(m).gpus;
  }
  return sum;
}

double Shard::value() const { return state_->tenancy.value(); }
model::Placement Shard::placement() const { return state_->tenancy.placement(); }
const std::vector<ShapePrice>& Shard::shape_prices() const { return state_->shape_prices; }

}  // namespace berth::solver
