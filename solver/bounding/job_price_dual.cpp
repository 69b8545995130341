// SPDX-License-Identifier: Apache-2.0
#include "job_price_dual.hpp"

#include <algorithm>

#include "berth/parallel/loops.hpp"

namespace berth::solver::bounding {
namespace {

bool before(const Item& a, const Item& b) {
  return a.profit != b.profit ? a.profit > b.profit : a.job < b.job;
}

void keep_first(std::vector<Item>& items, std::size_t count) {
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

Dual::Dual(const model::Valuation& valuation, std::span<const JobId> jobs,
           std::span<const double> fluid)
    : table_(make_table(valuation, jobs)), fluid_(fluid.begin(), fluid.end()) {
  is_confined_.assign(jobs.size(), 0);
  if (fluid_.empty()) fluid_.assign(valuation.instance().cluster.racks.size(), 0.0);
  benches_.resize(table_.types.size());
  for (std::size_t t = 0; t < table_.types.size(); ++t) {
    const TypeStock& type = table_.types[t];
    Bench& bench = benches_[t];
    bench.racks.resize(type.pods.size());
    bench.pods.resize(type.pods.size());
    bench.pod_is_joined.resize(type.pods.size());
    for (std::size_t p = 0; p < type.pods.size(); ++p) {
      bench.racks[p].resize(type.pods[p].racks.size());
      pods_.emplace_back(t, p);
    }
  }
}

void Dual::confine(std::span<const Confined> jobs) {
  for (const Confined& c : confined_) is_confined_[c.job] = 0;
  confined_.assign(jobs.begin(), jobs.end());
  for (const Confined& c : confined_) is_confined_[c.job] = 1;
}

/// The most profitable jobs of each size that need not be near: as many as any place can hold,
/// and those more that are at home there.
void Dual::rank(const TypeStock& type, std::span<const double> prices, Bench& bench) const {
  bench.far.assign(table_.sizes.size(), {});
  bench.wide_far.assign(table_.sizes.size(), {});
  bench.cluster.clear();
  std::vector<std::vector<Item>> cluster(table_.sizes.size());
  for (std::uint32_t j = 0; j < prices.size(); ++j) {
    if (is_confined_[j] != 0) continue;
    const Offer& offer = type.offers[j];
    const auto keep = [&](BySize& to, double value) {
      if (value > prices[j])
        to[table_.size_row[j]].push_back({value - prices[j], j, table_.size[j]});
    };
    keep(bench.far, offer.far);
    keep(bench.wide_far, offer.wide_far);
    keep(cluster, offer.cluster);
  }
  for (const Confined& c : confined_) {
    const double profit = type.offers[c.job].cluster - prices[c.job];
    if (!c.spots[type.spot] || !(profit > 0.0)) continue;
    cluster[table_.size_row[c.job]].push_back({profit, c.job, table_.size[c.job]});
  }
  for (std::size_t s = 0; s < table_.sizes.size(); ++s) {
    const std::int32_t size = table_.sizes[s];
    keep_first(bench.far[s], fitting(type.largest_rack, size) + table_.most_near[s]);
    keep_first(bench.wide_far[s], fitting(type.largest_pod, size) + table_.most_near[s]);
    keep_first(cluster[s], fitting(type.gpus, size));
    bench.cluster.insert(bench.cluster.end(), cluster[s].begin(), cluster[s].end());
  }
}

void Dual::fill_pod(const TypeStock& type, std::size_t pod, std::span<const double> prices,
                    Bench& bench) const {
  const PodStock& stock = type.pods[pod];
  const std::vector<std::uint32_t>& near = table_.near[stock.pod.index()];
  BySize by_size(table_.sizes.size());
  std::vector<Item> items;
  const auto add_near = [&](std::uint32_t j, double value) {
    if (value > prices[j]) {
      by_size[table_.size_row[j]].push_back({value - prices[j], j, table_.size[j]});
    }
  };
  const auto add_confined = [&](std::uint32_t spot) {
    for (const Confined& c : confined_) {
      if (c.spots[spot]) add_near(c.job, table_.worth(c.job, spot));
    }
  };
  const auto gather = [&](const BySize& far, std::int32_t capacity) {
    items.clear();
    for (std::size_t s = 0; s < by_size.size(); ++s) {
      const std::size_t most = fitting(capacity, table_.sizes[s]);
      std::size_t taken = 0;
      for (const Item& item : far[s]) {
        if (taken == most) break;
        if (table_.home_pod[item.job] == stock.pod) continue;
        by_size[s].push_back(item);
        ++taken;
      }
      keep_first(by_size[s], most);
      items.insert(items.end(), by_size[s].begin(), by_size[s].end());
      by_size[s].clear();
    }
  };
  for (std::size_t r = 0; r < stock.racks.size(); ++r) {
    const RackStock& rack = stock.racks[r];
    for (const std::uint32_t j : near) {
      if (is_confined_[j] != 0) continue;
      const Offer& offer = type.offers[j];
      add_near(j, table_.home_rack[j] == rack.rack ? offer.home_rack : offer.home_pod);
    }
    add_confined(rack.spot);
    gather(bench.far, rack.gpus);
    bench.racks[pod][r].start(rack.gpus, fluid_[rack.rack.index()], rack.spot);
    bench.racks[pod][r].add(items);
  }
  for (const std::uint32_t j : near) {
    if (is_confined_[j] == 0) add_near(j, type.offers[j].wide_home_pod);
  }
  add_confined(stock.spot);
  gather(bench.wide_far, stock.gpus);
  bench.pod_is_joined[pod] = !items.empty() || !bench.cluster.empty() ? 1 : 0;
  if (bench.pod_is_joined[pod] == 0) return;
  std::vector<const Knapsack*> parts;
  for (const Knapsack& rack : bench.racks[pod]) parts.push_back(&rack);
  bench.pods[pod].join(parts, stock.spot);
  bench.pods[pod].add(items);
}

void Dual::finish(const TypeStock& type, Bench& bench) {
  bench.most = 0.0;
  if (!bench.cluster.empty()) {
    std::vector<const Knapsack*> parts;
    for (const Knapsack& pod : bench.pods) parts.push_back(&pod);
    bench.all.join(parts, type.spot);
    bench.all.add(bench.cluster);
    bench.most = bench.all.most();
    return;
  }
  for (std::size_t p = 0; p < type.pods.size(); ++p) {
    if (bench.pod_is_joined[p] != 0) {
      bench.most += bench.pods[p].most();
    } else {
      for (const Knapsack& rack : bench.racks[p]) bench.most += rack.most();
    }
  }
}

double Dual::evaluate(std::span<const double> prices, const Chosen& chosen) {
  parallel::run_tasks(table_.types.size(),
                      [&](std::size_t t) { rank(table_.types[t], prices, benches_[t]); });
  parallel::run_tasks(pods_.size(), [&](std::size_t i) {
    const auto [t, p] = pods_[i];
    fill_pod(table_.types[t], p, prices, benches_[t]);
  });
  parallel::run_tasks(table_.types.size(),
                      [&](std::size_t t) { finish(table_.types[t], benches_[t]); });

  double total = 0.0;
  for (const double price : prices) total += price;
  for (const Confined& c : confined_) {
    if (c.is_out()) total -= prices[c.job];
  }
  const auto count_all = [&](const Knapsack& k) { k.choice(k.capacity(), chosen); };
  for (const Bench& bench : benches_) {
    total += bench.most;
    if (!bench.cluster.empty()) {
      count_all(bench.all);
      continue;
    }
    for (std::size_t p = 0; p < bench.pods.size(); ++p) {
      if (bench.pod_is_joined[p] != 0) {
        count_all(bench.pods[p]);
      } else {
        for (const Knapsack& rack : bench.racks[p]) count_all(rack);
      }
    }
  }
  return total;
}

}  // namespace berth::solver::bounding
