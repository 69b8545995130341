// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/pooled_bound.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/solver/packing_covering.hpp"

namespace berth::papers::pd_ors {
namespace {

std::vector<double> pooled_capacity(const SlotInstance& instance) {
  std::vector<double> total(instance.resources, 0.0);
  for (std::size_t e = 0; e < instance.capacity.size(); ++e)
    total[e % instance.resources] += instance.capacity[e];
  return total;
}

bool holds(const SlotInstance& instance, const TrainingJob& job, std::size_t machine,
           std::int32_t workers) {
  for (std::size_t r = 0; r < instance.resources; ++r) {
    const double used = job.worker[r] * workers + job.server[r] * job.servers_for(workers);
    if (used > instance.capacity[machine * instance.resources + r] * (1.0 + kRoundingSlack))
      return false;
  }
  return true;
}

/// Most workers that some empty machine holds with their servers.
std::int32_t workers_of_one_machine(const SlotInstance& instance, const TrainingJob& job) {
  std::int32_t most = 0;
  for (std::size_t h = 0; h < instance.machines(); ++h) {
    while (most < job.max_workers && holds(instance, job, h, most + 1)) ++most;
  }
  return most;
}

/// Work of one slot that has one price: `samples` at most, at `rent` a sample.
struct Segment {
  double rent = 0.0, samples = 0.0, workers = 0.0;
  std::size_t slot = 0;
};

void add_segments(const SlotRate& rate, double worker_price, std::size_t slot,
                  std::vector<Segment>& segments) {
  const auto add = [&](double workers, double samples) {
    if (samples > 0.0)
      segments.push_back({worker_price * workers / samples, samples, workers, slot});
  };
  add(rate.near_workers, rate.near_samples);
  add(rate.far_workers, rate.far_samples);
}

/// Fills the cheapest segments; the rent, or infinity. @param segments  ascending rent
double fill(std::span<const Segment> segments, double samples, std::vector<double>* workers) {
  double rent = 0.0;
  for (const Segment& segment : segments) {
    const double here = std::min(samples, segment.samples);
    rent += here * segment.rent;
    if (workers != nullptr) (*workers)[segment.slot] += segment.workers * here / segment.samples;
    samples -= here;
    if (samples <= 0.0) return rent;
  }
  // What rounding leaves of full slots is no reason to refuse: the bound may only rise.
  return samples > kRoundingSlack * (1.0 + samples) ? std::numeric_limits<double>::infinity()
                                                    : rent;
}

/// The linear programme over schedules in the pool, column by column.
class Generation {
 public:
  Generation(const SlotInstance& instance, std::span<const OpenJob> jobs, std::int32_t from)
      : instance_(&instance),
        jobs_(jobs),
        from_(from),
        capacity_(pooled_capacity(instance)),
        slots_(static_cast<std::size_t>(instance.slots - from)) {
    for (std::size_t t = 0; t < slots_; ++t) {
      for (const double amount : capacity_) program_.add_packing_row(amount);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) program_.add_packing_row(1.0);
  }

  /// Adds the best column of each job at these prices; their dual bound.
  double price(std::span<const double> price) {
    double bound = 0.0;
    for (std::size_t e = 0; e < price.size(); ++e) {
      if (e >= static_cast<std::size_t>(from_) * capacity_.size())
        bound += price[e] * capacity_[e % capacity_.size()];
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const TrainingJob& job = instance_->jobs[jobs_[i].job];
      const PooledOffer offer = pooled_offer(*instance_, job, price, from_, jobs_[i].samples);
      bound += offer.payoff;
      if (offer.payoff > 0.0) add_column(i, job, offer);
    }
    return bound;
  }

  /// Least cost is most utility.
  [[nodiscard]] solver::PackingCoveringSolution solve() const { return solver::solve(program_); }

  /// Prices of all slots, those that are over included (0).
  [[nodiscard]] std::vector<double> spread(std::span<const double> row_price) const {
    std::vector<double> price(static_cast<std::size_t>(instance_->slots) * capacity_.size(), 0.0);
    std::copy_n(row_price.begin(), slots_ * capacity_.size(),
                price.begin() + from_ * static_cast<std::ptrdiff_t>(capacity_.size()));
    return price;
  }

  [[nodiscard]] bool empty() const { return program_.columns().empty(); }

 private:
  void add_column(std::size_t i, const TrainingJob& job, const PooledOffer& offer) {
    const std::vector<double> demand = worker_with_server(job);
    solver::PackingCoveringProgram::Column column;
    column.cost = -offer.utility;
    for (std::size_t t = 0; t < slots_; ++t) {
      const double workers = offer.workers[t + static_cast<std::size_t>(from_)];
      for (std::size_t r = 0; r < demand.size(); ++r) {
        if (workers * demand[r] <= 0.0) continue;
        column.packing.push_back({t * demand.size() + r, workers * demand[r]});
      }
    }
    column.packing.push_back({slots_ * demand.size() + i, 1.0});
    program_.add_column(std::move(column));
  }

  const SlotInstance* instance_;
  std::span<const OpenJob> jobs_;
  std::int32_t from_;
  std::vector<double> capacity_;
  std::size_t slots_;
  solver::PackingCoveringProgram program_;
};

}  // namespace

std::vector<double> worker_with_server(const TrainingJob& job) {
  std::vector<double> demand = job.worker;
  for (std::size_t r = 0; r < demand.size(); ++r)
    demand[r] += job.server[r] / job.workers_per_server;
  return demand;
}

SlotRate pooled_rate(const SlotInstance& instance, const TrainingJob& job) {
  const std::vector<double> total = pooled_capacity(instance), demand = worker_with_server(job);
  double most = job.max_workers;
  for (std::size_t r = 0; r < demand.size(); ++r) {
    if (demand[r] > 0.0) most = std::min(most, total[r] / demand[r] * (1.0 + kRoundingSlack));
  }
  SlotRate rate;
  rate.near_workers = std::min(most, static_cast<double>(workers_of_one_machine(instance, job)));
  rate.near_samples = rate.near_workers / job.internal_cost;
  if (most / job.external_cost > rate.near_samples) {
    rate.far_workers = most - rate.near_workers;
    rate.far_samples = most / job.external_cost - rate.near_samples;
  }
  return rate;
}

PooledOffer pooled_offer(const SlotInstance& instance, const TrainingJob& job,
                         std::span<const double> price, std::int32_t from, double samples) {
  const SlotRate rate = pooled_rate(instance, job);
  const std::vector<double> demand = worker_with_server(job);
  PooledOffer best;
  std::vector<Segment> segments, best_segments;
  for (std::int32_t t = std::max(from, job.arrival); t < instance.slots; ++t) {
    const auto slot = static_cast<std::size_t>(t);
    const double worker_price =
        std::inner_product(demand.begin(), demand.end(),
                           price.begin() + static_cast<std::ptrdiff_t>(slot * demand.size()), 0.0);
    add_segments(rate, worker_price, slot, segments);
    std::ranges::stable_sort(segments, {}, &Segment::rent);
    const double payoff = job.utility(t) - fill(segments, samples, nullptr);
    if (payoff <= best.payoff) continue;
    best.payoff = payoff;
    best.utility = job.utility(t);
    best_segments = segments;
  }
  if (best.payoff <= 0.0) return best;
  best.workers.assign(static_cast<std::size_t>(instance.slots), 0.0);
  fill(best_segments, samples, &best.workers);
  return best;
}

double pooled_rent(const SlotInstance& instance, std::span<const double> price) {
  const std::vector<double> total = pooled_capacity(instance);
  double rent = 0.0;
  for (std::size_t e = 0; e < price.size(); ++e) {
    BERTH_EXPECT(price[e] >= 0.0);
    rent += price[e] * total[e % total.size()];
  }
  return rent;
}

double pooled_bound(const SlotInstance& instance, std::span<const double> price) {
  double bound = pooled_rent(instance, price);
  for (const TrainingJob& job : instance.jobs)
    bound += pooled_offer(instance, job, price, 0, job.samples).payoff;
  return bound;
}

PooledPrices pooled_prices(const SlotInstance& instance, std::span<const OpenJob> jobs,
                           std::int32_t from, const PooledOptions& options) {
  Generation generation(instance, jobs, from);
  PooledPrices best;
  std::vector<double> price(static_cast<std::size_t>(instance.slots) * instance.resources, 0.0);
  best.price = price;
  best.bound = generation.price(price);
  while (best.rounds < options.rounds && !generation.empty() &&
         best.bound - best.relaxed > options.gap * best.bound) {
    ++best.rounds;
    const solver::PackingCoveringSolution solution = generation.solve();
    best.relaxed = std::max(best.relaxed, -solution.cost);
    price = generation.spread(solution.packing_price);
    const double bound = generation.price(price);
    if (bound >= best.bound) continue;
    best.bound = bound;
    best.price = price;
  }
  return best;
}

PooledPrices offline_prices(const SlotInstance& instance, const PooledOptions& options) {
  std::vector<OpenJob> jobs;
  for (std::size_t j = 0; j < instance.jobs.size(); ++j)
    jobs.push_back({j, instance.jobs[j].samples});
  PooledPrices result = pooled_prices(instance, jobs, 0, options);
  result.bound = pooled_bound(instance, result.price);
  return result;
}

}  // namespace berth::papers::pd_ors
