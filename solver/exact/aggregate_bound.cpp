// SPDX-License-Identifier: Apache-2.0
#include "exact/aggregate_bound.hpp"

#include "local_search/candidate_domains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth::solver::exact {
namespace {

constexpr std::size_t kGpuRow = model::kResources;
constexpr std::int64_t kFunctions = 4;  ///< u_1 .. u_4; chosen, not tuned
constexpr int kSubgradientSteps = 300;  ///< chosen, not tuned
constexpr int kPatience = 15;           ///< steps without gain before the step is halved

std::int64_t amount_of(const model::Shape& shape, std::size_t row) {
  return row == kGpuRow ? shape.total_milli() : shape.needs[row];
}

/// u_k of `amount` of `largest`; k = 0: the share itself.
double function_value(std::int64_t amount, std::int64_t largest, std::int64_t k) {
  const double share = static_cast<double>(amount) / static_cast<double>(largest);
  if (k == 0 || amount > largest || (k + 1) * amount % largest == 0) return share;
  return static_cast<double>((k + 1) * amount / largest) / static_cast<double>(k);
}

}  // namespace

AggregateBound::AggregateBound(const Occupancy& empty, std::span<const JobId> jobs,
                               std::span<const double> bonus) {
  add_resources(empty);
  add_quotas(empty);
  for (std::size_t j = 0; j < jobs.size(); ++j) add_job(empty, jobs[j], bonus[j]);
}

void AggregateBound::add_resources(const Occupancy& empty) {
  const model::Cluster& cluster = empty.valuation().instance().cluster;
  for (const GpuTypeId type : empty.index().types()) {
    if (!type.valid()) continue;
    for (std::size_t row = 0; row <= kGpuRow; ++row) {
      std::int64_t largest = 0, machines = 0;
      double free = 0.0;
      for (const MachineId m : empty.machines()) {
        const model::MachineClass& c = cluster.class_of(m);
        if (c.gpu_type != type || !empty.room()[m].is_up()) continue;
        const bool gpus = row == kGpuRow;
        largest = std::max(largest, gpus ? std::int64_t{1000} * c.gpus : c.capacity[row]);
        free += static_cast<double>(gpus ? empty.room().free_milli(m)
                                         : empty.room().free_resources(m)[row]);
        ++machines;
      }
      if (largest <= 0 || largest == model::kNoLimit) continue;
      for (std::int64_t k = 0; k <= kFunctions; ++k) {
        resources_.push_back({type, row, largest, k});
        capacity_.push_back(k == 0 ? free / static_cast<double>(largest)
                                   : static_cast<double>(machines));
      }
    }
  }
}

void AggregateBound::add_quotas(const Occupancy& empty) {
  const planner_model::CouplingLimits* limits = empty.limit_usage().limits();
  if (limits == nullptr) return;
  for (std::size_t l = 0; l < limits->of_queues(); ++l) {
    if (!std::isinf(limits->penalty(l))) continue;
    quotas_.push_back(static_cast<std::uint32_t>(l));
    capacity_.push_back(static_cast<double>(limits->capacity(l)) / 1000.0);
  }
}

double AggregateBound::use_of(const Resource& resource, const model::WorkloadView& workload,
                              const model::Job& job) const {
  double sum = 0.0;
  std::int64_t together = 0;
  for (const model::TaskGroup& group : workload.groups_of(job)) {
    const model::Shape& shape = workload.shape(group.shape);
    if (!shape.uses_gpu()) continue;
    const std::int64_t amount = amount_of(shape, resource.row);
    sum += static_cast<double>(group.count) * function_value(amount, resource.largest, resource.k);
    together += group.count * amount;
  }
  if (job.domain != model::Level::machine) return sum;
  return function_value(together, resource.largest, resource.k);  // one machine holds them all
}

void AggregateBound::add_job(const Occupancy& empty, JobId id, double bonus) {
  const planner_model::Valuation& valuation = empty.valuation();
  const model::WorkloadView& workload = valuation.instance().workload;
  const model::Job& job = workload.job(id);
  const model::Running* running = workload.running_of(job);
  std::vector<double> quota_use(quotas_.size(), 0.0);
  for (const std::uint32_t limit : empty.limit_usage().quotas_of(id)) {
    const auto at = std::ranges::find(quotas_, limit);
    if (at == quotas_.end()) continue;
    quota_use[static_cast<std::size_t>(at - quotas_.begin())] =
        static_cast<double>(workload.gpu_milli(job)) / 1000.0;
  }
  auto& options = options_.emplace_back();
  for (const GpuTypeId type : local_search::candidate_types(empty.index(), workload, job)) {
    TypeOption option{.type = type, .value = bonus, .use = {}};
    double value = type.valid() ? valuation.best(id, type) : valuation.best(id);
    if (running != nullptr) {
      value =
          std::max(value, valuation.placed(planner_model::current_placement(workload, *running)));
    }
    option.value += value;
    for (const Resource& r : resources_) {
      option.use.push_back(r.type == type ? use_of(r, workload, job) : 0.0);
    }
    option.use.insert(option.use.end(), quota_use.begin(), quota_use.end());
    options.push_back(std::move(option));
  }
}

std::span<const double> AggregateBound::use(std::size_t job, GpuTypeId type) const {
  const auto& options = options_[job];
  const auto option = std::ranges::find(options, type, &TypeOption::type);
  return option == options.end() ? std::span<const double>() : option->use;
}

const AggregateBound::TypeOption* AggregateBound::best_option(std::size_t job,
                                                              std::span<const double> price,
                                                              double& profit) const {
  const TypeOption* best = nullptr;
  profit = 0.0;
  for (const TypeOption& option : options_[job]) {
    double left = option.value;
    for (std::size_t r = 0; r < price.size(); ++r) left -= price[r] * option.use[r];
    if (left > profit) profit = left, best = &option;
  }
  return best;
}

void AggregateBound::add_prices(std::size_t depth, std::span<const double> left, double target) {
  std::vector<double> price(capacity_.size(), 0.0), best_price = price, slope(price.size());
  double best = std::numeric_limits<double>::infinity(), step = 1.0;
  int stalled = 0;
  for (int k = 0; k < kSubgradientSteps; ++k) {
    double value = 0.0;
    for (std::size_t r = 0; r < price.size(); ++r) value += price[r] * left[r], slope[r] = left[r];
    for (std::size_t j = depth; j < options_.size(); ++j) {
      double profit = 0.0;
      const TypeOption* option = best_option(j, price, profit);
      value += profit;
      for (std::size_t r = 0; option != nullptr && r < price.size(); ++r)
        slope[r] -= option->use[r];
    }
    if (value < best) {
      best = value, best_price = price, stalled = 0;
    } else if (++stalled == kPatience) {
      step /= 2.0, stalled = 0, price = best_price;
    }
    // Polyak's step, in units of each resource's capacity
    double square = 0.0;
    for (std::size_t r = 0; r < price.size(); ++r) {
      if (price[r] <= 0.0 && slope[r] >= 0.0) slope[r] = 0.0;
      square += slope[r] * slope[r];
    }
    if (square <= 0.0 || value <= target) break;
    const double length = step * (value - target) / square;
    for (std::size_t r = 0; r < price.size(); ++r) {
      price[r] = std::max(0.0, price[r] - length * slope[r]);
    }
  }
  std::vector<double> profits(options_.size() + 1, 0.0);
  for (std::size_t j = options_.size(); j-- > 0;) {
    double profit = 0.0;
    (void)best_option(j, best_price, profit);
    profits[j] = profits[j + 1] + profit;
  }
  prices_.push_back({std::move(best_price), std::move(profits)});
}

double AggregateBound::bound(std::size_t depth, std::span<const double> left) const {
  double least = std::numeric_limits<double>::infinity();
  for (const AggregatePrices& prices : prices_) {
    double value = prices.profit[depth];
    for (std::size_t r = 0; r < left.size(); ++r) value += prices.price[r] * left[r];
    least = std::min(least, value);
  }
  return least;
}

}  // namespace berth::solver::exact
