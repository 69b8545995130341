// SPDX-License-Identifier: Apache-2.0
#include "job_price_dual.hpp"

#include <algorithm>

#include "berth/parallel/loops.hpp"
#include "berth/solver/job_prices.hpp"

namespace berth::solver::bounding {
namespace {

bool before(const JobItem& a, const JobItem& b) {
  return a.profit != b.profit ? a.profit > b.profit : a.job < b.job;
}

void keep_first(std::vector<JobItem>& items, std::size_t count) {
  if (items.size() > count) {
    std::ranges::nth_element(items, items.begin() + static_cast<std::ptrdiff_t>(count), before);
    items.resize(count);
  }
  std::ranges::sort(items, before);
}

std::size_t fitting(std::int32_t capacity, std::int32_t size) {
  return static_cast<std::size_t>(capacity / size);
}

}  // namespace

JobPriceDual::JobPriceDual(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                           std::span<const double> rack_prices)
    : table_(make_job_table(
          valuation, jobs,
          // other jobs would use parts of a unit
          rack_prices.empty() ? common_divisor(valuation.instance().workload, jobs) : 1)),
      rack_prices_(rack_prices.begin(), rack_prices.end()) {
  is_restricted_.assign(jobs.size(), 0);
  if (rack_prices_.empty()) rack_prices_.assign(valuation.instance().cluster.racks.size(), 0.0);
  type_knapsacks_.resize(table_.types.size());
  for (std::size_t t = 0; t < table_.types.size(); ++t) {
    const TypeCapacity& type = table_.types[t];
    TypeKnapsacks& knapsacks = type_knapsacks_[t];
    knapsacks.racks.resize(type.pods.size());
    knapsacks.pods.resize(type.pods.size());
    knapsacks.pod_is_joined.resize(type.pods.size());
    for (std::size_t p = 0; p < type.pods.size(); ++p) {
      knapsacks.racks[p].resize(type.pods[p].racks.size());
      pods_.emplace_back(t, p);
    }
  }
}

void JobPriceDual::restrict_jobs(std::span<const RestrictedJob> jobs) {
  for (const RestrictedJob& c : restricted_) is_restricted_[c.job] = 0;
  restricted_.assign(jobs.begin(), jobs.end());
  for (const RestrictedJob& c : restricted_) is_restricted_[c.job] = 1;
}

/// The jobs of each size with the largest profits away from home: as many as any domain can hold,
/// and as many more as one pod has jobs at home, because its knapsacks hold those with other
/// profits.
void JobPriceDual::select_items(const TypeCapacity& type, std::span<const double> prices,
                                TypeKnapsacks& knapsacks) const {
  knapsacks.far.assign(table_.sizes.size(), {});
  knapsacks.wide_far.assign(table_.sizes.size(), {});
  knapsacks.cluster.clear();
  std::vector<std::vector<JobItem>> cluster(table_.sizes.size());
  for (std::uint32_t j = 0; j < prices.size(); ++j) {
    if (is_restricted_[j] != 0) continue;
    const PlaceValues& values = type.place_values[j];
    const auto keep = [&](BySize& to, double value) {
      if (value > prices[j])
        to[table_.size_row[j]].push_back({value - prices[j], j, table_.size[j]});
    };
    keep(knapsacks.far, values.far);
    keep(knapsacks.wide_far, values.wide_far);
    keep(cluster, values.cluster);
  }
  for (const RestrictedJob& c : restricted_) {
    const double profit = type.place_values[c.job].cluster - prices[c.job];
    if (!c.spots[type.spot] || !(profit > 0.0)) continue;
    cluster[table_.size_row[c.job]].push_back({profit, c.job, table_.size[c.job]});
  }
  for (std::size_t s = 0; s < table_.sizes.size(); ++s) {
    const std::int32_t size = table_.sizes[s];
    keep_first(knapsacks.far[s], fitting(type.largest_rack, size) + table_.max_home_jobs[s]);
    keep_first(knapsacks.wide_far[s], fitting(type.largest_pod, size) + table_.max_home_jobs[s]);
    keep_first(cluster[s], fitting(type.gpus, size));
    knapsacks.cluster.insert(knapsacks.cluster.end(), cluster[s].begin(), cluster[s].end());
  }
}

void JobPriceDual::solve_pod(const TypeCapacity& type, std::size_t pod,
                             std::span<const double> prices, TypeKnapsacks& knapsacks) const {
  const PodCapacity& pod_capacity = type.pods[pod];
  const std::vector<std::uint32_t>& home_jobs = table_.home_jobs[pod_capacity.pod.index()];
  BySize by_size(table_.sizes.size());
  std::vector<JobItem> items;
  const auto add_home_job = [&](std::uint32_t j, double value) {
    if (value > prices[j]) {
      by_size[table_.size_row[j]].push_back({value - prices[j], j, table_.size[j]});
    }
  };
  const auto add_restricted = [&](std::uint32_t spot) {
    for (const RestrictedJob& c : restricted_) {
      if (c.spots[spot]) add_home_job(c.job, table_.value_at(c.job, spot));
    }
  };
  const auto gather = [&](const BySize& far, std::int32_t capacity) {
    items.clear();
    for (std::size_t s = 0; s < by_size.size(); ++s) {
      const std::size_t most = fitting(capacity, table_.sizes[s]);
      std::size_t taken = 0;
      for (const JobItem& item : far[s]) {
        if (taken == most) break;
        if (table_.home_pod[item.job] == pod_capacity.pod) continue;
        by_size[s].push_back(item);
        ++taken;
      }
      keep_first(by_size[s], most);
      items.insert(items.end(), by_size[s].begin(), by_size[s].end());
      by_size[s].clear();
    }
  };
  for (std::size_t r = 0; r < pod_capacity.racks.size(); ++r) {
    const RackCapacity& rack = pod_capacity.racks[r];
    for (const std::uint32_t j : home_jobs) {
      if (is_restricted_[j] != 0) continue;
      const PlaceValues& values = type.place_values[j];
      add_home_job(j, table_.home_rack[j] == rack.rack ? values.home_rack : values.home_pod);
    }
    add_restricted(rack.spot);
    gather(knapsacks.far, rack.gpus);
    knapsacks.racks[pod][r].reset(rack.gpus, rack_prices_[rack.rack.index()], rack.spot);
    knapsacks.racks[pod][r].add(items);
  }
  for (const std::uint32_t j : home_jobs) {
    if (is_restricted_[j] == 0) add_home_job(j, type.place_values[j].wide_home_pod);
  }
  add_restricted(pod_capacity.spot);
  gather(knapsacks.wide_far, pod_capacity.gpus);
  knapsacks.pod_is_joined[pod] = !items.empty() || !knapsacks.cluster.empty() ? 1 : 0;
  if (knapsacks.pod_is_joined[pod] == 0) return;
  std::vector<const Knapsack*> parts;
  for (const Knapsack& rack : knapsacks.racks[pod]) parts.push_back(&rack);
  knapsacks.pods[pod].join(parts, pod_capacity.gpus, pod_capacity.spot);
  knapsacks.pods[pod].add(items);
}

void JobPriceDual::join_pods(const TypeCapacity& type, TypeKnapsacks& knapsacks) {
  knapsacks.max_profit = 0.0;
  if (!knapsacks.cluster.empty()) {
    std::vector<const Knapsack*> parts;
    for (const Knapsack& pod : knapsacks.pods) parts.push_back(&pod);
    knapsacks.all.join(parts, type.gpus, type.spot);
    knapsacks.all.add(knapsacks.cluster);
    knapsacks.max_profit = knapsacks.all.max_profit();
    return;
  }
  for (std::size_t p = 0; p < type.pods.size(); ++p) {
    if (knapsacks.pod_is_joined[p] != 0) {
      knapsacks.max_profit += knapsacks.pods[p].max_profit();
    } else {
      for (const Knapsack& rack : knapsacks.racks[p]) knapsacks.max_profit += rack.max_profit();
    }
  }
}

/// Cells of the last evaluation.
std::int64_t JobPriceDual::cells_of(const TypeKnapsacks& knapsacks) {
  std::int64_t cells = knapsacks.cluster.empty() ? 0 : knapsacks.all.cells();
  for (std::size_t p = 0; p < knapsacks.pods.size(); ++p) {
    if (knapsacks.pod_is_joined[p] != 0) cells += knapsacks.pods[p].cells();
    for (const Knapsack& rack : knapsacks.racks[p]) cells += rack.cells();
  }
  return cells;
}

double JobPriceDual::evaluate(std::span<const double> prices, const ChoiceVisitor& chosen) {
  parallel::run_tasks(table_.types.size(), [&](std::size_t t) {
    select_items(table_.types[t], prices, type_knapsacks_[t]);
  });
  parallel::run_tasks(pods_.size(), [&](std::size_t i) {
    const auto [t, p] = pods_[i];
    solve_pod(table_.types[t], p, prices, type_knapsacks_[t]);
  });
  parallel::run_tasks(table_.types.size(),
                      [&](std::size_t t) { join_pods(table_.types[t], type_knapsacks_[t]); });

  cells_ += std::ssize(prices) * std::ssize(table_.types);
  for (const TypeKnapsacks& knapsacks : type_knapsacks_) cells_ += cells_of(knapsacks);

  double total = 0.0;
  for (const double price : prices) total += price;
  for (const RestrictedJob& c : restricted_) {
    if (c.is_unplaced()) total -= prices[c.job];
  }
  const auto count_all = [&](const Knapsack& k) { k.visit_choice(k.capacity(), chosen); };
  for (const TypeKnapsacks& knapsacks : type_knapsacks_) {
    total += knapsacks.max_profit;
    if (!knapsacks.cluster.empty()) {
      count_all(knapsacks.all);
      continue;
    }
    for (std::size_t p = 0; p < knapsacks.pods.size(); ++p) {
      if (knapsacks.pod_is_joined[p] != 0) {
        count_all(knapsacks.pods[p]);
      } else {
        for (const Knapsack& rack : knapsacks.racks[p]) count_all(rack);
      }
    }
  }
  return total;
}

}  // namespace berth::solver::bounding
