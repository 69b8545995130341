// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/offline_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/horizon/problem_builder.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/policy/demand.hpp"

namespace berth::sim {
namespace {

using horizon::Problem;

std::vector<horizon::PoolSetId> add_types(const model::Cluster& cluster,
                                          horizon::ProblemBuilder& builder) {
  std::vector<horizon::PoolSetId> sets;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    const PoolId pool = builder.add_pool(horizon::CurveId(t), 0, 0);
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const model::MachineClass& equipment = cluster.class_of(MachineId(m));
      if (equipment.gpu_type == GpuTypeId(t)) builder.add_machines(1, equipment.gpus);
    }
    sets.push_back(builder.add_pool_set(std::span(&pool, 1)));
  }
  return sets;
}

double to_seconds(std::int64_t micros) {
  return static_cast<double>(micros) / static_cast<double>(model::kMicros);
}

/// What a job may buy: a share of its work in one interval of a GPU type at a price of all of it.
struct Purchase {
  double price;
  double share;
};

/// Step prices of the curves on a grid.
class StepPrices {
 public:
  StepPrices(const Problem& problem, const solver::HorizonBound& prices)
      : nodes_(prices.grid.begin(), prices.grid.end()), count_(nodes_.size() - 1) {
    for (std::size_t i = 0; i < problem.curves * count_; ++i) {
      mean_.push_back(0.5 * (prices.ends[2 * i] + prices.ends[2 * i + 1]));
    }
  }
  [[nodiscard]] std::size_t intervals() const { return count_; }  ///< then a free one without end
  [[nodiscard]] double begin(std::size_t k) const { return nodes_[k]; }
  [[nodiscard]] double end(std::size_t k) const {
    return k < count_ ? nodes_[k + 1] : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double price(std::size_t curve, std::size_t k) const {
    return k < count_ ? mean_[curve * count_ + k] : 0.0;
  }
  [[nodiscard]] double capacity_cost(const Problem& problem) const {
    double cost = 0.0;
    for (const horizon::Pool& pool : problem.pools) {
      const auto gpus = static_cast<double>(pool.capacity.front().gpus);
      for (std::size_t k = 0; k < count_; ++k) {
        cost += gpus * price(pool.curve.index(), k) * (end(k) - begin(k));
      }
    }
    return cost;
  }

 private:
  std::vector<double> nodes_;
  std::size_t count_;
  std::vector<double> mean_;  ///< [curve * count + interval]
};

/// The least completion time and rent of one job that may stop and move for nothing.
class CheapestSeconds {
 public:
  CheapestSeconds(const Problem& problem, const StepPrices& prices, const horizon::Job& job)
      : problem_(problem), prices_(prices), options_(problem.options_of(job)) {
    release_ = static_cast<double>(job.release);
  }

  double find() {
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto& o : options_) shortest = std::min(shortest, static_cast<double>(o.duration));
    time_ = release_ + shortest;
    const std::size_t first = buy_until_time();
    best_ = time_ - release_ + rent_;
    for (std::size_t k = first; !bought_.empty(); ++k) {
      if (std::max(time_, prices_.begin(std::min(k, prices_.intervals()))) - release_ >= best_)
        break;
      sell_for(k);
      if (k == prices_.intervals()) break;
    }
    return best_;
  }

 private:
  [[nodiscard]] double price(const horizon::Option& option, std::size_t k) const {
    const PoolId pool = problem_.pools_of(option).front();
    const double of_gpu = prices_.price(problem_.pools[pool.index()].curve.index(), k);
    return of_gpu * static_cast<double>(option.gpus) * static_cast<double>(option.duration);
  }

  /// The cheapest purchases of all work within [release, time). Returns the interval of time.
  std::size_t buy_until_time() {
    std::size_t k = 0;
    for (; prices_.begin(k) < time_; ++k) {
      const double length = std::min(prices_.end(k), time_) - std::max(prices_.begin(k), release_);
      if (length > 0.0) {
        for (const auto& option : options_) {
          bought_.push_back({price(option, k), length / static_cast<double>(option.duration)});
        }
      }
      if (k == prices_.intervals()) break;
    }
    std::ranges::sort(bought_, {}, &Purchase::price);
    double left = 1.0;
    std::size_t kept = 0;
    for (; kept < bought_.size() && left > 0.0; ++kept) {
      bought_[kept].share = std::min(bought_[kept].share, left);
      left -= bought_[kept].share;
      rent_ += bought_[kept].price * bought_[kept].share;
    }
    bought_.resize(kept);
    return prices_.begin(k) < time_ ? k : k - 1;
  }

  /// Moves the completion to the end of interval k, and work there from dearer seconds.
  void sell_for(std::size_t k) {
    time_ = std::max(time_, prices_.begin(k));
    while (time_ < prices_.end(k) && !bought_.empty()) {
      const double dearest = bought_.back().price;
      double rate = 0.0, gain = 0.0;
      for (const auto& option : options_) {
        const double cheaper = dearest - price(option, k);
        if (cheaper <= 0.0) continue;
        rate += 1.0 / static_cast<double>(option.duration);
        gain += cheaper / static_cast<double>(option.duration);
      }
      if (rate == 0.0) break;
      const bool all = bought_.back().share <= rate * (prices_.end(k) - time_);
      const double step = all ? bought_.back().share / rate : prices_.end(k) - time_;
      bought_.back().share -= rate * step;
      if (all) bought_.pop_back();
      for (const auto& option : options_) {
        const double cost = price(option, k);
        if (cost < dearest) insert({cost, step / static_cast<double>(option.duration)});
      }
      time_ += step;
      rent_ -= gain * step;
      best_ = std::min(best_, time_ - release_ + rent_);
      if (!all) break;
    }
  }

  void insert(const Purchase& purchase) {
    const auto at = std::ranges::lower_bound(bought_, purchase.price, {}, &Purchase::price);
    if (at != bought_.end() && at->price == purchase.price) {
      at->share += purchase.share;
    } else {
      bought_.insert(at, purchase);
    }
  }

  const Problem& problem_;
  const StepPrices& prices_;
  std::span<const horizon::Option> options_;
  double release_ = 0.0, time_ = 0.0, rent_ = 0.0, best_ = 0.0;
  std::vector<Purchase> bought_;  ///< by price
};

}  // namespace

OfflineProblem offline_problem(const model::Instance& instance,
                               std::span<const model::JobRecord> records) {
  OfflineProblem made;
  horizon::ProblemBuilder builder;
  const auto sets = add_types(instance.cluster, builder);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const model::JobRecord& record : records) {
    if (record.finished()) first = std::min(first, record.arrival);
  }
  for (const model::JobRecord& record : records) {
    if (!record.finished()) continue;
    ++made.finished;
    const auto gpus = static_cast<std::int32_t>(record.milli / model::kGpuMilli);
    if (gpus == 0 || record.alone < model::kMicros) {
      made.outside += to_seconds(record.alone);
      continue;
    }
    const policy::Demand demand = policy::demand_of(instance, instance.workload.job(record.job));
    const horizon::Seconds release = (record.arrival - first) / model::kMicros;
    made.outside -= to_seconds((record.arrival - first) % model::kMicros);  // released earlier
    builder.add_job(release);
    const horizon::CostPiece cost = horizon::flow_cost(release, 1.0);
    const horizon::IndexRange pieces = builder.add_cost(std::span(&cost, 1));
    const horizon::TaskGroup tasks{.tasks = gpus, .gpus = 1};
    for (std::size_t t = 0; t < demand.types.size(); ++t) {
      if (!demand.types[t].valid()) continue;
      const double length = std::floor(to_seconds(record.work) / demand.speeds[t]);
      builder.add_option(sets[demand.types[t].index()],
                         std::max<horizon::Seconds>(1, static_cast<horizon::Seconds>(length)),
                         std::span(&tasks, 1), pieces);
    }
  }
  made.problem = builder.build();
  return made;
}

double preemptive_bound(const Problem& problem, const solver::HorizonBound& prices) {
  const StepPrices steps(problem, prices);
  std::vector<double> least(problem.jobs.size());
  parallel::sweep(problem.jobs.size(), [&](std::size_t j) {
    least[j] = CheapestSeconds(problem, steps, problem.jobs[j]).find();
  });
  double bound = -steps.capacity_cost(problem);
  for (const double cost : least) bound += cost;
  return bound;
}

}  // namespace berth::sim
