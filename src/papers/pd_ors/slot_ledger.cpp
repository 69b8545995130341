// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/slot_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"

namespace berth::papers::pd_ors {
namespace {

/// Which tasks the machines of a family hold.
struct Family {
  std::size_t first, last;  ///< machines
  bool workers, servers;
  double divisor;  ///< of L: 2 for one family, 4 for two
};

double sum_of_demands(const TrainingJob& job, const Family& family) {
  double sum = 0.0;
  for (std::size_t r = 0; r < job.worker.size(); ++r) {
    if (family.workers) sum += job.worker[r];
    if (family.servers) sum += job.server[r];
  }
  return sum;
}

/// ceil(E K q(e)) sum_r demand: most that the job can take in all.
double largest_use(const TrainingJob& job, const Family& family) {
  return std::ceil(job.samples * job.external_cost) * sum_of_demands(job, family);
}

/// Utility of the job at the earliest completion that full width allows.
double best_utility(const TrainingJob& job, double cost, std::int32_t slots) {
  const double needed = std::ceil(job.samples * cost / job.max_workers * (1.0 - kRoundingSlack));
  const double last = static_cast<double>(job.arrival) + std::max(needed, 1.0) - 1.0;
  return job.utility(static_cast<std::int32_t>(std::min(last, 2.0 * slots)));
}

double highest_price(const SlotInstance& instance, const Family& family, std::size_t r) {
  double highest = 0.0;
  for (const TrainingJob& job : instance.jobs) {
    double least = std::numeric_limits<double>::infinity();
    if (family.workers && job.worker[r] > 0.0) least = job.worker[r];
    if (family.servers && job.server[r] > 0.0) least = std::min(least, job.server[r]);
    // OASiS's machines of one kind never hold a whole job, so that its cost is the external one.
    const double cost = family.workers && family.servers ? job.internal_cost : job.external_cost;
    highest = std::max(highest, best_utility(job, cost, instance.slots) / least);
  }
  return highest;
}

double lowest_price(const SlotInstance& instance, const Family& family, double least_utility) {
  double capacity = 0.0, best = 0.0, mu = 0.0;
  for (std::size_t e = family.first * instance.resources; e < family.last * instance.resources; ++e)
    capacity += instance.capacity[e];
  for (const TrainingJob& job : instance.jobs) {
    best = std::max(best, job.utility(job.arrival));
    mu = std::max(mu, instance.slots * capacity / largest_use(job, family));
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (const TrainingJob& job : instance.jobs) {
    const double worst = std::max(job.utility(instance.slots - 1), least_utility * best);
    lowest = std::min(lowest, worst / (family.divisor * mu * largest_use(job, family)));
  }
  return lowest;
}

void set_prices(const SlotInstance& instance, const Family& family, double least_utility,
                PriceRange& range) {
  const double lowest = lowest_price(instance, family, least_utility);
  for (std::size_t r = 0; r < instance.resources; ++r) {
    const double highest = std::max(lowest, highest_price(instance, family, r));
    for (std::size_t h = family.first; h < family.last; ++h) {
      range.lowest[h * instance.resources + r] = lowest;
      range.highest[h * instance.resources + r] = highest;
    }
  }
}

constexpr OptionRange kShare{.least = 0.0, .most = 1.0, .without_least = true};

PriceRange empty_range(const SlotInstance& instance) {
  BERTH_EXPECT(!instance.jobs.empty());
  return {std::vector<double>(instance.capacity.size()),
          std::vector<double>(instance.capacity.size())};
}

}  // namespace

PriceRange pd_ors_prices(const SlotInstance& instance, double least_utility) {
  expect_option("pd-ors: least_utility", least_utility, kShare);
  PriceRange range = empty_range(instance);
  set_prices(instance, {0, instance.machines(), true, true, 2.0}, least_utility, range);
  return range;
}

PriceRange oasis_prices(const SlotInstance& instance, std::size_t worker_machines,
                        double least_utility) {
  expect_option("oasis: least_utility", least_utility, kShare);
  expect_option("oasis: worker_machines", static_cast<double>(worker_machines),
                {.least = 1.0, .most = static_cast<double>(instance.machines()) - 1.0});
  PriceRange range = empty_range(instance);
  set_prices(instance, {0, worker_machines, true, false, 4.0}, least_utility, range);
  set_prices(instance, {worker_machines, instance.machines(), false, true, 4.0}, least_utility,
             range);
  return range;
}

SlotLedger::SlotLedger(const SlotInstance& instance, PriceRange range)
    : instance_(&instance),
      range_(std::move(range)),
      committed_(static_cast<std::size_t>(instance.slots) * instance.capacity.size(), 0.0) {
  BERTH_EXPECT(range_.lowest.size() == instance.capacity.size() &&
               range_.highest.size() == instance.capacity.size());
  price_.reserve(committed_.size());
  for (std::int32_t t = 0; t < instance.slots; ++t)
    price_.insert(price_.end(), range_.lowest.begin(), range_.lowest.end());
}

SlotLedger::SlotLedger(const SlotInstance& instance, std::vector<double> prices)
    : instance_(&instance), committed_(prices.size(), 0.0), price_(std::move(prices)) {
  BERTH_EXPECT(price_.size() ==
               static_cast<std::size_t>(instance.slots) * instance.capacity.size());
}

double SlotLedger::price_of(std::size_t entry, double amount) const {
  const double capacity = instance_->capacity[entry];
  if (capacity <= 0.0) return range_.highest[entry];
  return range_.lowest[entry] *
         std::pow(range_.highest[entry] / range_.lowest[entry], amount / capacity);
}

double SlotLedger::rent() const {
  double sum = 0.0;
  for (std::size_t k = 0; k < price_.size(); ++k)
    sum += price_[k] * instance_->capacity[k % instance_->capacity.size()];
  return sum;
}

std::vector<double> SlotLedger::mean_prices() const {
  const std::size_t width = instance_->capacity.size(), resources = instance_->resources;
  std::vector<double> mean(price_.size() / instance_->machines(), 0.0);
  for (std::size_t k = 0; k < price_.size(); ++k)
    mean[k / width * resources + k % resources] +=
        price_[k] / static_cast<double>(instance_->machines());
  return mean;
}

double SlotLedger::cost(const TrainingJob& job, const JobSchedule& schedule) const {
  double sum = 0.0;
  for (const SlotShare& share : schedule) {
    for (const MachineShare& m : share.machines) {
      for (std::size_t r = 0; r < instance_->resources; ++r) {
        sum += price(share.slot, m.machine * instance_->resources + r) *
               (job.worker[r] * m.workers + job.server[r] * m.servers);
      }
    }
  }
  return sum;
}

void SlotLedger::commit(const TrainingJob& job, const JobSchedule& schedule) {
  add(job, schedule, 1.0);
}

void SlotLedger::release(const TrainingJob& job, const JobSchedule& schedule) {
  add(job, schedule, -1.0);
}

void SlotLedger::add(const TrainingJob& job, const JobSchedule& schedule, double sign) {
  for (const SlotShare& share : schedule) {
    for (const MachineShare& m : share.machines) {
      for (std::size_t r = 0; r < instance_->resources; ++r) {
        const std::size_t entry = m.machine * instance_->resources + r;
        double& amount = committed_[index(share.slot, entry)];
        amount += sign * (job.worker[r] * m.workers + job.server[r] * m.servers);
        BERTH_EXPECT(amount <= instance_->capacity[entry] * (1.0 + kRoundingSlack) &&
                     amount >= -kRoundingSlack * instance_->capacity[entry]);
        if (!range_.lowest.empty()) price_[index(share.slot, entry)] = price_of(entry, amount);
      }
    }
  }
}

}  // namespace berth::papers::pd_ors
