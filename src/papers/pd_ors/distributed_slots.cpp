// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/distributed_slots.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "berth/papers/randomised_rounding.hpp"
#include "berth/solver/packing_covering.hpp"

namespace berth::papers::pd_ors {
namespace {

using solver::PackingCoveringProgram;

/// Adds workers and servers of each machine to the rows of the whole job.
PackingCoveringProgram program_of(const SlotMarket& market, double workers) {
  const TrainingJob& job = *market.job;
  PackingCoveringProgram program;
  const std::size_t least_workers = program.add_covering_row(workers);
  const std::size_t least_servers = program.add_covering_row(workers / job.workers_per_server);
  const std::size_t most_workers = program.add_packing_row(job.max_workers);
  for (std::size_t h = 0; h < market.machines(); ++h) {
    PackingCoveringProgram::Column worker, server;
    worker.cost = market.worker_price[h];
    server.cost = market.server_price[h];
    worker.covering = {{least_workers, 1.0}};
    worker.packing = {{most_workers, 1.0}};
    server.covering = {{least_servers, 1.0}};
    for (std::size_t r = 0; r < market.resources; ++r) {
      if (job.worker[r] <= 0.0 && job.server[r] <= 0.0) continue;
      const std::size_t row =
          program.add_packing_row(std::max(market.free[h * market.resources + r], 0.0));
      if (job.worker[r] > 0.0) worker.packing.push_back({row, job.worker[r]});
      if (job.server[r] > 0.0) server.packing.push_back({row, job.server[r]});
    }
    program.add_column(std::move(worker));
    program.add_column(std::move(server));
  }
  return program;
}

/// W_b over rows that a variable can be positive in.
double packing_width(const SlotMarket& market) {
  const TrainingJob& job = *market.job;
  double width = job.max_workers;
  for (std::size_t e = 0; e < market.free.size(); ++e) {
    const double demand =
        std::max(job.worker[e % market.resources], job.server[e % market.resources]);
    if (demand > 0.0 && market.free[e] >= demand) width = std::min(width, market.free[e] / demand);
  }
  return width;
}

/// No rounding is cheaper than all tasks at the cheapest machines.
double least_cost(const SlotMarket& market, double workers) {
  return workers * (std::ranges::min(market.worker_price) +
                    std::ranges::min(market.server_price) / market.job->workers_per_server);
}

double room_for_workers(const SlotMarket& market) {
  double room = 0.0;
  for (std::size_t h = 0; h < market.machines(); ++h) {
    double here = market.job->max_workers;
    for (std::size_t r = 0; r < market.resources; ++r) {
      if (market.job->worker[r] > 0.0)
        here = std::min(here, market.free[h * market.resources + r] / market.job->worker[r]);
    }
    room += std::max(here, 0.0);
  }
  return room * (1.0 + kRoundingSlack) + kRoundingSlack;
}

double gain_of(const DistributedOptions& options, const SlotMarket& market,
               const DistributedRelaxation& relaxation) {
  if (options.rule == GainRule::given) return options.gain;
  const auto capacities = static_cast<double>(market.free.size());
  if (options.rule == GainRule::packing) {
    return packing_gain(relaxation.width_packing,
                        {.delta = options.delta, .rows = capacities + 1.0, .bad_events = 3.0});
  }
  return covering_gain(relaxation.width_covering,
                       {.delta = options.delta, .rows = 2.0, .bad_events = 3.0});
}

std::vector<MachineShare> shares_of(std::span<const std::int64_t> x) {
  std::vector<MachineShare> shares;
  for (std::size_t h = 0; 2 * h < x.size(); ++h) {
    if (x[2 * h] + x[2 * h + 1] == 0) continue;
    shares.push_back({static_cast<std::uint32_t>(h), static_cast<std::int32_t>(x[2 * h]),
                      static_cast<std::int32_t>(x[2 * h + 1])});
  }
  return shares;
}

/// Counts of a rounding with the servers that its ratio wants; false: it breaks a row.
bool complete(const SlotMarket& market, double samples, std::span<const std::size_t> by_price,
              std::vector<std::int64_t>& x) {
  const TrainingJob& job = *market.job;
  std::int64_t workers = 0, servers = 0;
  for (std::size_t h = 0; h < market.machines(); ++h) {
    workers += x[2 * h];
    servers += x[2 * h + 1];
  }
  if (static_cast<double>(workers) < job.workers_for(samples, job.external_cost) ||
      workers > job.max_workers)
    return false;
  const auto fits = [&](std::size_t h, std::int64_t more) {
    return market.fits(h, static_cast<std::int32_t>(x[2 * h]),
                       static_cast<std::int32_t>(x[2 * h + 1] + more));
  };
  for (const std::size_t h : by_price) {
    if (!fits(h, 0)) return false;
  }
  std::int64_t missing = job.servers_for(static_cast<std::int32_t>(workers)) - servers;
  for (const std::size_t h : by_price) {
    for (; missing > 0 && fits(h, 1); --missing) ++x[2 * h + 1];
  }
  return missing <= 0;
}

}  // namespace

std::optional<DistributedRelaxation> relax_distributed(const SlotMarket& market, double samples) {
  const double workers = samples * market.job->external_cost;
  if (market.job->workers_for(samples, market.job->external_cost) > market.job->max_workers)
    return std::nullopt;
  const solver::PackingCoveringSolution solution = solver::solve(program_of(market, workers));
  if (solution.status == solver::PackingCoveringStatus::infeasible) return std::nullopt;
  return DistributedRelaxation{
      .x = solution.x,
      .cost = solution.cost,
      .width_packing = packing_width(market),
      .width_covering = std::min(workers, workers / market.job->workers_per_server)};
}

SlotOffer DistributedSlots::rounded(const SlotMarket& market, double samples) const {
  const auto relaxation = relax_distributed(market, samples);
  if (!relaxation) return {};
  std::vector<std::size_t> by_price(market.machines());
  std::iota(by_price.begin(), by_price.end(), std::size_t{0});
  std::ranges::stable_sort(by_price, {}, [&](std::size_t h) { return market.server_price[h]; });
  std::vector<std::int64_t> taken;
  const RoundingTries tries{gain_of(options_, market, *relaxation), options_.attempts,
                            options_.seed};
  const auto chosen = round_until(relaxation->x, tries, [&](std::span<const std::int64_t> x) {
    taken.assign(x.begin(), x.end());
    return complete(market, samples, by_price, taken);
  });
  if (!chosen) return {};
  SlotOffer offer{.cost = 0.0, .machines = shares_of(taken)};
  for (const MachineShare& share : offer.machines)
    offer.cost += market.worker_price[share.machine] * share.workers +
                  market.server_price[share.machine] * share.servers;
  return offer;
}

SlotOffer DistributedSlots::cheapest(const SlotMarket& market, double samples) const {
  SlotOffer near = ColocatedSlots().cheapest(market, samples);
  const double workers = samples * market.job->external_cost;
  const double least = least_cost(market, workers);
  // Also where no schedule with this slot could pay, or all machines together lack the room.
  if (least >= near.cost || least >= market.job->utility(market.job->arrival) ||
      workers > room_for_workers(market))
    return near;
  SlotOffer far = rounded(market, samples);
  return far.cost < near.cost ? far : near;
}

}  // namespace berth::papers::pd_ors
