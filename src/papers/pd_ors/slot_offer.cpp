// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/slot_offer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

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

/// The cheapest machine for all; of equal ones that which has least room for more.
SlotOffer fullest_machine(const SlotMarket& market, double samples) {
  const TrainingJob& job = *market.job;
  const double needed = job.workers_for(samples, job.internal_cost);
  SlotOffer best;
  if (needed > job.max_workers) return best;
  const auto workers = static_cast<std::int32_t>(needed);
  const std::int32_t servers = job.servers_for(workers);
  std::int32_t least = 0;
  for (std::size_t h = 0; h < market.machines(); ++h) {
    const double cost = market.worker_price[h] * workers + market.server_price[h] * servers;
    if (cost > best.cost || !market.fits(h, workers, servers)) continue;
    const std::int32_t room = market.room(h, job.worker);
    if (cost == best.cost && room >= least) continue;
    least = room;
    best = {cost, {{static_cast<std::uint32_t>(h), workers, servers}}};
  }
  return best;
}

/// Servers, then workers, by ascending price, then most room for workers.
SlotOffer spread(const SlotMarket& market, std::int32_t workers) {
  const TrainingJob& job = *market.job;
  std::vector<std::int32_t> room(market.machines());
  for (std::size_t h = 0; h < room.size(); ++h) room[h] = market.room(h, job.worker);
  std::vector<std::size_t> order(market.machines());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](std::size_t h) { return std::pair(market.worker_price[h], -room[h]); });
  SlotOffer offer{.cost = 0.0};
  std::int32_t servers = job.servers_for(workers);
  for (const std::size_t h : order) {
    MachineShare share{.machine = static_cast<std::uint32_t>(h)};
    share.servers = std::min(servers, market.room(h, job.server));
    while (share.workers < std::min(workers, room[h]) &&
           market.fits(h, share.workers + 1, share.servers))
      ++share.workers;
    if (share.workers + share.servers == 0) continue;
    workers -= share.workers;
    servers -= share.servers;
    offer.cost += market.worker_price[h] * share.workers + market.server_price[h] * share.servers;
    offer.machines.push_back(share);
  }
  if (workers > 0 || servers > 0) return {};
  sort_by_machine(offer.machines);
  return offer;
}

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

SlotMarket market_of(const TrainingJob& job, const SlotLedger& ledger, std::int32_t slot, Room room,
                     double price_factor) {
  const SlotInstance& instance = ledger.instance();
  SlotMarket market{.job = &job, .resources = instance.resources};
  market.worker_price.assign(instance.machines(), 0.0);
  market.server_price.assign(instance.machines(), 0.0);
  market.free.resize(instance.capacity.size());
  for (std::size_t e = 0; e < market.free.size(); ++e) {
    const std::size_t h = e / instance.resources, r = e % instance.resources;
    market.free[e] = room == Room::all ? instance.capacity[e] : ledger.free(slot, e);
    market.worker_price[h] += price_factor * ledger.price(slot, e) * job.worker[r];
    market.server_price[h] += price_factor * ledger.price(slot, e) * job.server[r];
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

SlotOffer PackedSlots::cheapest(const SlotMarket& market, double samples) const {
  const TrainingJob& job = *market.job;
  SlotOffer near = fullest_machine(market, samples);
  const double needed = job.workers_for(samples, job.external_cost);
  if (needed > job.max_workers) return near;
  SlotOffer far = spread(market, static_cast<std::int32_t>(needed));
  return far.cost < near.cost ? far : near;
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

}  // namespace berth::papers::pd_ors
