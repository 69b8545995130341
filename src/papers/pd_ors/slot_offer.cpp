// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/slot_offer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace berth::papers::pd_ors {
namespace {

/// Fills `count` equal tasks into machines [first, last) by ascending price; the cost, or infinity.
double fill(const SlotMarket& market, std::size_t first, std::size_t last,
            std::span<const double> price, std::span<const double> demand, std::int32_t count,
            std::int32_t MachineShare::*kind, std::vector<MachineShare>& shares) {
  std::vector<std::size_t> order(last - first);
  std::iota(order.begin(), order.end(), first);
  std::ranges::stable_sort(order, {}, [&](std::size_t h) { return price[h]; });
  double cost = 0.0;
  for (const std::size_t h : order) {
    const std::int32_t here = std::min(count, market.room(h, demand));
    if (here <= 0) continue;
    MachineShare share{.machine = static_cast<std::uint32_t>(h)};
    share.*kind = here;
    shares.push_back(share);
    cost += price[h] * here;
    count -= here;
  }
  return count > 0 ? std::numeric_limits<double>::infinity() : cost;
}

void sort_by_machine(std::vector<MachineShare>& shares) {
  std::ranges::sort(shares, {}, &MachineShare::machine);
}

/// Theta of one job: least cost by slot and parts left, and how it came about.
class Programme {
 public:
  Programme(const TrainingJob& job, const SlotLedger& ledger, const SlotSolver& solver,
            const ScheduleQuery& query)
      : units_(static_cast<std::size_t>(query.units)),
        from_(query.from),
        part_(query.samples / query.units) {
    const double most = solver.most_samples(job) / part_ * (1.0 + kRoundingSlack);
    most_ = static_cast<std::size_t>(std::min(most, static_cast<double>(units_)));
    least_.assign(units_ + 1, std::numeric_limits<double>::infinity());
    least_[0] = 0.0;
    for (std::int32_t t = from_; t < ledger.instance().slots; ++t)
      add_slot(market_of(job, ledger, t, query.room), solver);
  }

  [[nodiscard]] double cost(std::int32_t completion) const {
    return totals_[static_cast<std::size_t>(completion - from_)];
  }

  [[nodiscard]] JobSchedule schedule(std::int32_t completion) const {
    JobSchedule result;
    std::size_t left = units_;
    for (std::int32_t t = completion; t >= from_ && left > 0; --t) {
      const auto s = static_cast<std::size_t>(t - from_);
      const std::size_t v = choice_[s][left];
      if (v > 0) result.push_back({t, offers_[s][v].machines});
      left -= v;
    }
    std::ranges::reverse(result);
    return result;
  }

 private:
  void add_slot(const SlotMarket& market, const SlotSolver& solver) {
    std::vector<SlotOffer>& offers = offers_.emplace_back(most_ + 1);
    offers[0].cost = 0.0;
    for (std::size_t v = 1; v <= most_; ++v)
      offers[v] = solver.cheapest(market, part_ * static_cast<double>(v));
    std::vector<std::size_t>& choice = choice_.emplace_back(units_ + 1, 0);
    std::vector<double> next = least_;
    for (std::size_t left = 1; left <= units_; ++left) {
      for (std::size_t v = 1; v <= std::min(most_, left); ++v) {
        const double cost = offers[v].cost + least_[left - v];
        if (cost >= next[left]) continue;
        next[left] = cost;
        choice[left] = v;
      }
    }
    least_ = std::move(next);
    totals_.push_back(least_[units_]);
  }

  std::size_t units_, most_ = 0;
  std::int32_t from_;
  double part_;
  std::vector<double> least_;                     ///< by parts trained
  std::vector<double> totals_;                    ///< by slot: Theta(t, V)
  std::vector<std::vector<SlotOffer>> offers_;    ///< by slot, parts
  std::vector<std::vector<std::size_t>> choice_;  ///< by slot, parts trained until then
};

}  // namespace

bool SlotMarket::fits(std::size_t machine, std::int32_t workers, std::int32_t servers) const {
  for (std::size_t r = 0; r < resources; ++r) {
    const double amount = free[machine * resources + r];
    const double used = job->worker[r] * workers + job->server[r] * servers;
    if (used > amount + kRoundingSlack * (1.0 + used)) return false;
  }
  return true;
}

std::int32_t SlotMarket::room(std::size_t machine, std::span<const double> demand) const {
  double most = 1e9;
  for (std::size_t r = 0; r < resources; ++r) {
    if (demand[r] > 0.0)
      most = std::min(most, free[machine * resources + r] / demand[r] + kRoundingSlack);
  }
  return static_cast<std::int32_t>(most);
}

SlotMarket market_of(const TrainingJob& job, const SlotLedger& ledger, std::int32_t slot,
                     Room room) {
  const SlotInstance& instance = ledger.instance();
  SlotMarket market{.job = &job, .resources = instance.resources};
  market.worker_price.assign(instance.machines(), 0.0);
  market.server_price.assign(instance.machines(), 0.0);
  market.free.resize(instance.capacity.size());
  for (std::size_t e = 0; e < market.free.size(); ++e) {
    const std::size_t h = e / instance.resources, r = e % instance.resources;
    market.free[e] = room == Room::all ? instance.capacity[e] : ledger.free(slot, e);
    market.worker_price[h] += ledger.price(slot, e) * job.worker[r];
    market.server_price[h] += ledger.price(slot, e) * job.server[r];
  }
  return market;
}

SlotOffer ColocatedSlots::cheapest(const SlotMarket& market, double samples) const {
  const TrainingJob& job = *market.job;
  SlotOffer best;
  const double needed = job.workers_for(samples, job.internal_cost);
  if (needed > job.max_workers) return best;
  const auto workers = static_cast<std::int32_t>(needed);
  const std::int32_t servers = job.servers_for(workers);
  for (std::size_t h = 0; h < market.machines(); ++h) {
    const double cost = market.worker_price[h] * workers + market.server_price[h] * servers;
    if (cost >= best.cost || !market.fits(h, workers, servers)) continue;
    best = {cost, {{static_cast<std::uint32_t>(h), workers, servers}}};
  }
  return best;
}

SlotOffer SeparateSlots::cheapest(const SlotMarket& market, double samples) const {
  const TrainingJob& job = *market.job;
  const double needed = job.workers_for(samples, job.external_cost);
  if (needed > job.max_workers) return {};
  const auto workers = static_cast<std::int32_t>(needed);
  SlotOffer offer{.cost = 0.0};
  offer.cost += fill(market, 0, worker_machines_, market.worker_price, job.worker, workers,
                     &MachineShare::workers, offer.machines);
  offer.cost += fill(market, worker_machines_, market.machines(), market.server_price, job.server,
                     job.servers_for(workers), &MachineShare::servers, offer.machines);
  if (!std::isfinite(offer.cost)) return {};
  sort_by_machine(offer.machines);
  return offer;
}

SlotOffer ExhaustiveSlots::cheapest(const SlotMarket& market, double samples) const {
  const TrainingJob& job = *market.job;
  SlotOffer best = ColocatedSlots().cheapest(market, samples);
  const double needed = job.workers_for(samples, job.external_cost);
  if (needed > job.max_workers) return best;
  const auto workers = static_cast<std::int32_t>(needed);
  std::vector<MachineShare> shares;
  const std::function<void(std::size_t, std::int32_t, std::int32_t, double)> place =
      [&](std::size_t h, std::int32_t w, std::int32_t s, double cost) {
        if (cost >= best.cost) return;
        if (w == 0 && s == 0) {
          best = {cost, shares};
          return;
        }
        if (h == market.machines()) return;
        for (std::int32_t x = 0; x <= w; ++x) {
          for (std::int32_t y = 0; y <= s && market.fits(h, x, y); ++y) {
            if (x + y > 0) shares.push_back({static_cast<std::uint32_t>(h), x, y});
            place(h + 1, w - x, s - y,
                  cost + market.worker_price[h] * x + market.server_price[h] * y);
            if (x + y > 0) shares.pop_back();
          }
        }
      };
  place(0, workers, job.servers_for(workers), 0.0);
  return best;
}

ScheduleOffer best_schedule(const TrainingJob& job, const SlotLedger& ledger,
                            const SlotSolver& solver, const ScheduleQuery& query) {
  const Programme programme(job, ledger, solver, query);
  ScheduleOffer best;
  std::int32_t completion = -1;
  for (std::int32_t t = query.from; t < ledger.instance().slots; ++t) {
    const double payoff = job.utility(t) - programme.cost(t);
    if (payoff <= best.payoff) continue;
    best.payoff = payoff;
    best.cost = programme.cost(t);
    completion = t;
  }
  if (completion >= 0) best.schedule = programme.schedule(completion);
  return best;
}

}  // namespace berth::papers::pd_ors
