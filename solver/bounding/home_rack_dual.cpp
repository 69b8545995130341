// SPDX-License-Identifier: Apache-2.0
#include "bounding/home_rack_dual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::bounding {

using model::Level;

HomeRackDual::HomeRackDual(const planner_model::Valuation& valuation,
                           const planner_model::Pools& pools, std::span<const JobId> jobs)
    : valuation_(valuation),
      cluster_(valuation.instance().cluster),
      types_(cluster_.gpu_types.size()),
      gpus_(types_ * cluster_.pods.size(), 0.0),
      in_any_pod_(types_, 0.0),
      rack_milli_(types_ * cluster_.racks.size(), 0),
      capacity_(cluster_.racks.size(), 0),
      candidates_(cluster_.racks.size()) {
  for (const planner_model::Pool& pool : pools.pools) {
    if (!pool.gpu_type.valid()) continue;
    gpus_[market(pool)] += static_cast<double>(pool.gpu_milli) / model::kGpuMilli;
    rack_milli_[pool.rack.index() * types_ + pool.gpu_type.index()] += pool.gpu_milli;
    capacity_[pool.rack.index()] += pool.gpu_milli;
  }
  for (const JobId job : jobs) add(job);
  unit_ = std::max<std::int64_t>(1, unit_);
  for (std::int64_t& capacity : capacity_) capacity /= unit_;
  for (const HomeJob& job : jobs_) {
    if (!job.home.empty()) cells_ += static_cast<double>(capacity_[job.rack.index()]);
  }
}

void HomeRackDual::add(JobId id) {
  const model::WorkloadView& workload = valuation_.instance().workload;
  const model::Job& record = workload.job(id);
  HomeJob job;
  job.id = id;
  job.milli = workload.gpu_milli(record);
  job.rack = record.home_rack;
  job.gpus = static_cast<double>(job.milli) / model::kGpuMilli;
  const planner_model::OptionEnumerator options(valuation_, id);
  const std::size_t pods = cluster_.pods.size();
  for (const GpuTypeId type : options.types()) {
    const std::size_t first = type.index() * pods;
    for (const planner_model::HomeScope& scope : options.scopes()) {
      const double value = options.value_at(type, Level::machine, scope.distance);
      const auto domain = static_cast<std::size_t>(scope.domain);
      if (scope.level == Level::cluster) {
        job.away.push_back({value, first, first + pods});
      } else if (scope.level == Level::pod) {
        job.away.push_back({value, first + domain, first + domain + 1});
      } else if (rack_milli_[domain * types_ + type.index()] >= job.milli) {
        const std::size_t market = first + cluster_.racks[domain].pod.index();
        job.home.push_back({value, market, market + 1});
      }
    }
  }
  unit_ = std::gcd(unit_, job.milli);
  jobs_.push_back(std::move(job));
}

std::vector<std::size_t> HomeRackDual::cheapest(std::span<const double> price) const {
  const std::size_t pods = cluster_.pods.size();
  std::vector<std::size_t> found;
  for (std::size_t t = 0; t < types_; ++t) {
    const auto markets = price.subspan(t * pods, pods);
    found.push_back(t * pods +
                    static_cast<std::size_t>(std::ranges::min_element(markets) - markets.begin()));
  }
  return found;
}

HomeRackDual::BestOption HomeRackDual::best(std::span<const MarketOption> options, double gpus,
                                            std::span<const double> price,
                                            std::span<const std::size_t> cheapest) const {
  BestOption found;
  for (const MarketOption& option : options) {
    const std::size_t market =
        option.in_any_pod() ? cheapest[option.first / cluster_.pods.size()] : option.first;
    const double net = option.value - gpus * price[market];
    if (net > found.net) found = {net, market, &option};
  }
  return found;
}

std::vector<HomeRackDual::AwayChoice> HomeRackDual::away(std::span<const double> price) const {
  const std::vector<std::size_t> least = cheapest(price);
  std::vector<AwayChoice> found;
  for (const HomeJob& job : jobs_) {
    const BestOption at = best(job.away, job.gpus, price, least);
    if (at.option == nullptr || at.option->value <= 0.0) continue;
    found.push_back({job.id, job.milli, at.option->value, at.market, at.option->in_any_pod()});
  }
  return found;
}

std::vector<std::int64_t> HomeRackDual::left_by_home() const {
  const model::WorkloadView& workload = valuation_.instance().workload;
  std::vector<std::int64_t> left;
  for (const double gpus : gpus_) left.push_back(std::llround(gpus * model::kGpuMilli));
  for (const HomeChoice& choice : at_home_) {
    const model::Job& job = workload.job(choice.job);
    const PodId pod = cluster_.racks[job.home_rack.index()].pod;
    left[choice.type.index() * cluster_.pods.size() + pod.index()] -= workload.gpu_milli(job);
  }
  return left;
}

double HomeRackDual::evaluate(std::span<const double> price, Knapsack knapsack) {
  slack_ = gpus_;
  std::ranges::fill(in_any_pod_, 0.0);
  at_home_.clear();
  double total = 0.0;
  for (std::size_t m = 0; m < gpus_.size(); ++m) {
    if (gpus_[m] > 0.0) total += gpus_[m] * price[m];
  }
  for (auto& at_home : candidates_) at_home.clear();
  const std::vector<std::size_t> least = cheapest(price);
  for (const HomeJob& job : jobs_) {
    const BestOption away = best(job.away, job.gpus, price, least);
    const BestOption home = best(job.home, job.gpus, price, least);
    const double elsewhere = std::max(0.0, away.net);
    total += elsewhere;
    if (away.net > 0.0) use_elsewhere(away, job.gpus);
    if (home.net <= elsewhere) continue;
    candidates_[job.rack.index()].push_back({&job, home.net - elsewhere, home.market, away});
  }
  for (std::size_t r = 0; r < candidates_.size(); ++r) {
    total += knapsack == Knapsack::whole ? fill(r) : fill_divisible(r);
  }
  return total;
}

void HomeRackDual::use_elsewhere(const BestOption& away, double gpus) {
  if (away.option->in_any_pod()) {
    in_any_pod_[away.market / cluster_.pods.size()] += gpus;
  } else {
    slack_[away.market] -= gpus;
  }
}

/// Moves this part of a job from its other place to its home rack.
void HomeRackDual::bring_home(const HomeCandidate& candidate, double part) {
  const double gpus = part * candidate.job->gpus;
  slack_[candidate.home] -= gpus;
  if (candidate.away.net > 0.0) use_elsewhere(candidate.away, -gpus);
}

/// As fill; the last job may be at home in part.
double HomeRackDual::fill_divisible(std::size_t rack) {
  std::vector<HomeCandidate>& items = candidates_[rack];
  std::ranges::sort(items, [](const HomeCandidate& a, const HomeCandidate& b) {
    const double left = a.profit * b.job->gpus, right = b.profit * a.job->gpus;
    return left != right ? left > right : a.job->id < b.job->id;
  });
  double profit = 0.0;
  std::int64_t room = capacity_[rack] * unit_;
  for (const HomeCandidate& item : items) {
    const double part =
        std::min(1.0, static_cast<double>(room) / static_cast<double>(item.job->milli));
    profit += part * item.profit;
    bring_home(item, part);
    if (part < 1.0) break;
    room -= item.job->milli;
    at_home_.push_back({item.job->id, GpuTypeId(item.home / cluster_.pods.size())});
  }
  return profit;
}

void HomeRackDual::place_at_home(const HomeCandidate& candidate) {
  at_home_.push_back({candidate.job->id, GpuTypeId(candidate.home / cluster_.pods.size())});
  bring_home(candidate, 1.0);
}

/// As fill, where the rack holds all jobs.
double HomeRackDual::fill_all(std::size_t rack) {
  double profit = 0.0;
  for (const HomeCandidate& item : candidates_[rack]) profit += item.profit;
  for (std::size_t i = candidates_[rack].size(); i-- > 0;) place_at_home(candidates_[rack][i]);
  return profit;
}

/// Profit of the knapsack of one rack; its jobs leave their other places. Of each item the cells
/// that the items behind it can reach.
double HomeRackDual::fill(std::size_t rack) {
  const std::vector<HomeCandidate>& items = candidates_[rack];
  const auto width = static_cast<std::size_t>(capacity_[rack]) + 1;
  const auto units = [&](std::size_t i) {
    return static_cast<std::size_t>(items[i].job->milli / unit_);
  };
  std::size_t behind = 0;  // units of the items behind
  for (std::size_t i = 0; i < items.size(); ++i) behind += units(i);
  if (behind < width) return fill_all(rack);
  profit_.assign(width, 0.0);
  taken_.assign(items.size() * width, 0);
  for (std::size_t i = 0; i < items.size(); ++i) {
    behind -= units(i);
    const std::size_t least = std::max(units(i), width - 1 - std::min(behind, width - 1));
    for (std::size_t u = width; u-- > least;) {
      const double with = profit_[u - units(i)] + items[i].profit;
      if (with <= profit_[u]) continue;
      profit_[u] = with;
      taken_[i * width + u] = 1;
    }
  }
  std::size_t u = width - 1;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (taken_[i * width + u] == 0) continue;
    u -= units(i);
    place_at_home(items[i]);
  }
  return profit_.back();
}

}  // namespace berth::solver::bounding
