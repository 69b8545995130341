// SPDX-License-Identifier: Apache-2.0
#include "rack_prices.hpp"

#include "near_prices.hpp"
#include "price_search.hpp"
#include "scarce_racks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/certify/figures.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

/// Of the bound, that counts each job and that counts sets of jobs.
constexpr int kEvaluations = 60;
/// Racks: prices of all of them are listed, and found one by one. Untuned guard.
constexpr std::size_t kMostRacks = 4096;
/// First step as a part of the bound per GPU, and the least. Chosen, not tuned.
constexpr double kFirstStep = 1.0 / 16.0, kLeastStep = 1e-4;

/// The same prices by rack.
Certificate split_by_rack(const model::Cluster& cluster, Certificate certificate) {
  if (certificate.level == model::Level::rack) return certificate;
  const planner_model::Pools by_rack = planner_model::make_pools(cluster, model::Level::rack);
  std::vector<Certificate::PoolPrice> pools;
  for (const auto& of_pod : certificate.pools) {
    for (const auto& pool : by_rack.pools) {
      if (pool.pod != of_pod.pod || pool.machine_class != of_pod.machine_class) continue;
      pools.push_back(of_pod);
      pools.back().rack = pool.rack;
    }
  }
  certificate.pools = std::move(pools);
  certificate.level = model::Level::rack;
  return certificate;
}

std::vector<Direction> directions(const NearPrices& prices, const model::Cluster& cluster,
                                  const std::vector<RackSet>& sets, double step) {
  std::vector<Direction> found;
  for (const RackSet& set : sets) {
    found.push_back({prices.none(), step});
    for (std::size_t i = 0; i < prices.pools().size(); ++i) {
      const auto& pool = prices.pools()[i];
      const bool of_type = cluster.classes[pool.machine_class.index()].gpu_type == set.type;
      const bool within = std::ranges::binary_search(set.racks, pool.rack);
      if (of_type && within) found.back().way.by_pool[i] = 1.0;
    }
  }
  return found;
}

}  // namespace

bool scarce_racks_matter(const model::InstanceView& instance) {
  return few_records(instance) && instance.cluster.racks.size() <= kMostRacks &&
         racks_differ(instance.cluster);
}

Proof price_racks(const planner_model::Valuation& valuation, Proof proof, const TightenGoal& goal) {
  const model::InstanceView& instance = valuation.instance();
  if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return proof;
  if (!proof.certificate.jobs.empty() || goal.stop.requested()) return proof;
  if (!scarce_racks_matter(instance)) return proof;
  const std::vector<RackSet> sets = scarce_racks(valuation);
  if (sets.empty()) return proof;
  const NearPrices prices(instance, valuation.objective(),
                          split_by_rack(instance.cluster, proof.certificate));
  const double per_gpu = proof.upper_bound / static_cast<double>(instance.cluster.gpus());
  const auto ways = directions(prices, instance.cluster, sets, kFirstStep * per_gpu);
  std::vector<Certificate> candidates{std::move(proof.certificate)};
  for (const JobCount count : {JobCount::each, JobCount::sets}) {
    if (count == JobCount::sets && !few_cells(instance)) continue;
    const PatternSearch how{count, kEvaluations / 2, kLeastStep * per_gpu};
    candidates.push_back(
        prices.at(pattern_search(prices, how, ways, prices.none(), goal.stop), count));
  }
  return tightest(prices.judge(), std::move(candidates));
}

}  // namespace berth::pipeline
