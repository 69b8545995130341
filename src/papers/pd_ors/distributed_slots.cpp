// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/distributed_slots.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "berth/base/option_range.hpp"
#include "berth/papers/randomised_rounding.hpp"
#include "berth/solver/packing_covering.hpp"

namespace berth::papers::pd_ors {
namespace {

using solver::PackingCoveringProgram;

/// Tasks that the relaxation covers: fractions, or those of the smallest crew that trains enough.
struct LeastTasks {
  double workers = 0.0, servers = 0.0;
};

LeastTasks least_tasks(const TrainingJob& job, double samples) {
  if (job.crews.empty()) {
    const double workers = samples * job.external_cost;
    return {workers, workers / job.workers_per_server};
  }
  const double workers = job.workers_for(samples, job.external_cost);
  return {workers, static_cast<double>(job.servers_for(static_cast<std::int32_t>(workers)))};
}

/// Adds workers and servers of each machine to the rows of the whole job.
PackingCoveringProgram program_of(const SlotMarket& market, const LeastTasks& least) {
  const TrainingJob& job = *market.job;
  PackingCoveringProgram program;
  const std::size_t least_workers = program.add_covering_row(least.workers);
  const std::size_t least_servers = program.add_covering_row(least.servers);
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
double least_cost(const SlotMarket& market, const LeastTasks& least) {
  return least.workers * std::ranges::min(market.worker_price) +
         least.servers * std::ranges::min(market.server_price);
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

/// Machines by ascending price of a kind of task.
std::vector<std::size_t> by_price(std::span<const double> price) {
  std::vector<std::size_t> order(price.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t h) { return price[h]; });
  return order;
}

/// A rounding on the way to counts that the job may have.
class Completion {
 public:
  Completion(const SlotMarket& market, double samples)
      : market_(market),
        needed_(market.job->workers_for(samples, market.job->external_cost)),
        worker_order_(by_price(market.worker_price)),
        server_order_(by_price(market.server_price)) {}

  /// Adds the workers that its crew and the servers that its ratio wants, and takes away servers
  /// beyond those of its crew; false: it breaks a row.
  [[nodiscard]] bool complete(std::vector<std::int64_t>& x) const {
    const TrainingJob& job = *market_.job;
    std::int64_t workers = 0, servers = 0;
    for (std::size_t h = 0; h < market_.machines(); ++h) {
      workers += x[2 * h];
      servers += x[2 * h + 1];
    }
    if (static_cast<double>(workers) < needed_ || workers > job.max_workers) return false;
    for (std::size_t h = 0; h < market_.machines(); ++h) {
      if (!fits(x, h)) return false;
    }
    auto wanted = static_cast<std::int32_t>(workers);
    while (!job.allows(wanted)) ++wanted;
    if (!add(wanted - workers, 0, worker_order_, x)) return false;
    const std::int64_t missing = job.servers_for(wanted) - servers;
    if (missing < 0 && !job.crews.empty()) take_servers(-missing, x);
    return add(missing, 1, server_order_, x);
  }

 private:
  [[nodiscard]] bool fits(const std::vector<std::int64_t>& x, std::size_t h) const {
    return market_.fits(h, static_cast<std::int32_t>(x[2 * h]),
                        static_cast<std::int32_t>(x[2 * h + 1]));
  }

  /// @param kind  0: workers, 1: servers
  bool add(std::int64_t count, std::size_t kind, std::span<const std::size_t> order,
           std::vector<std::int64_t>& x) const {
    for (const std::size_t h : order) {
      for (; count > 0; --count) {
        ++x[2 * h + kind];
        if (fits(x, h)) continue;
        --x[2 * h + kind];
        break;
      }
    }
    return count <= 0;
  }

  /// The dearest first.
  void take_servers(std::int64_t count, std::vector<std::int64_t>& x) const {
    for (auto h = server_order_.rbegin(); h != server_order_.rend(); ++h) {
      const std::int64_t here = std::min(count, x[2 * *h + 1]);
      x[2 * *h + 1] -= here;
      count -= here;
    }
  }

  const SlotMarket& market_;
  double needed_;
  std::vector<std::size_t> worker_order_, server_order_;
};

}  // namespace

std::optional<DistributedRelaxation> relax_distributed(const SlotMarket& market, double samples) {
  const TrainingJob& job = *market.job;
  if (job.workers_for(samples, job.external_cost) > job.max_workers) return std::nullopt;
  const LeastTasks least = least_tasks(job, samples);
  const solver::PackingCoveringSolution solution = solver::solve(program_of(market, least));
  if (solution.status == solver::PackingCoveringStatus::infeasible) return std::nullopt;
  return DistributedRelaxation{.x = solution.x,
                               .cost = solution.cost,
                               .width_packing = packing_width(market),
                               .width_covering = std::min(least.workers, least.servers)};
}

DistributedSlots::DistributedSlots(const DistributedOptions& options) : options_(options) {
  expect_option("pd-ors: gain", options.gain, above(0.0));
  expect_option("pd-ors: delta", options.delta, {.least = 0.0, .most = 1.0, .without_least = true});
  expect_option("pd-ors: attempts", static_cast<double>(options.attempts), at_least(1.0));
}

SlotOffer DistributedSlots::rounded(const SlotMarket& market, double samples) const {
  const auto relaxation = relax_distributed(market, samples);
  if (!relaxation) return {};
  const Completion completion(market, samples);
  std::vector<std::int64_t> taken;
  const RoundingTries tries{gain_of(options_, market, *relaxation), options_.attempts,
                            options_.seed};
  const auto chosen = round_until(relaxation->x, tries, [&](std::span<const std::int64_t> x) {
    taken.assign(x.begin(), x.end());
    return completion.complete(taken);
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
  if (market.job->workers_for(samples, market.job->external_cost) > market.job->max_workers)
    return near;
  const LeastTasks tasks = least_tasks(*market.job, samples);
  const double least = least_cost(market, tasks);
  // Also where no schedule with this slot could pay, or all machines together lack the room.
  if (least >= near.cost || least >= market.job->utility(market.job->arrival) ||
      tasks.workers > room_for_workers(market))
    return near;
  SlotOffer far = rounded(market, samples);
  return far.cost < near.cost ? far : near;
}

}  // namespace berth::papers::pd_ors
