// SPDX-License-Identifier: Apache-2.0
#include "gang_prices.hpp"

#include "near_prices.hpp"
#include "price_search.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "berth/certify/figures.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

/// Of the bound that counts each job, and of that of sets of jobs: one looks at all jobs and
/// machines, so that fewer are made of large instances.
constexpr std::size_t kGangEvaluations = 60, kMostJudged = 400'000;
constexpr int kLeastGangEvaluations = 20;  ///< about one a direction; fewer find nothing
/// A gap this small is not worth the search: docs/decisions/0122.
constexpr double kNearBound = 0.001;
/// First step as a part of the bound per GPU, and the least. Chosen, not tuned.
constexpr double kFirstGangStep = 1.0 / 16.0, kLeastGangStep = 1e-4;

/// The premium of each kind of gangs, large kinds first, then all prices of each type.
std::vector<Direction> directions(const NearPrices& prices, double step) {
  std::vector<Direction> found;
  for (std::size_t i = 0; i < prices.gangs().size(); ++i) {
    found.push_back({prices.none(), step});
    found.back().way.by_gang[i] = 1.0;
  }
  for (std::size_t t = 0; t < prices.gpu_types(); ++t) {
    found.push_back({prices.none(), -step / 4.0});
    found.back().way.by_type[t] = 1.0;
  }
  return found;
}

}  // namespace

Proof price_gangs(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal) {
  if (!few_records(instance) || instance.cluster.gpus() == 0) return proof;
  if (certify::gap(proof.upper_bound, goal.objective) <= std::max(goal.gap, kNearBound)) {
    return proof;
  }
  if (!proof.certificate.jobs.empty() || goal.stop.requested()) return proof;
  const NearPrices prices(instance, objective, proof.certificate);
  if (prices.gangs().empty()) return proof;
  const double per_gpu = proof.upper_bound / static_cast<double>(instance.cluster.gpus());
  const std::size_t records = instance.workload.size() + instance.cluster.machines();
  const auto evaluations = static_cast<int>(std::min(kGangEvaluations, kMostJudged / records));
  if (evaluations < kLeastGangEvaluations) return proof;
  const auto ways = directions(prices, kFirstGangStep * per_gpu);
  std::vector<Certificate> candidates{std::move(proof.certificate)};
  Premiums found = prices.none();
  for (const JobCount count : {JobCount::each, JobCount::sets}) {
    if (count == JobCount::sets && !few_cells(instance)) continue;
    const PatternSearch how{count, evaluations, kLeastGangStep * per_gpu};
    found = pattern_search(prices, how, ways, std::move(found), goal.stop);
    candidates.push_back(prices.at(found, count));
  }
  return tightest(prices.judge(), std::move(candidates));
}

}  // namespace berth::pipeline
