// SPDX-License-Identifier: Apache-2.0
#include "stay_prices.hpp"

#include "near_prices.hpp"
#include "price_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

#include "berth/certify/figures.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

/// Evaluations of the bound: that counts each job (decision 105), and of those that count sets of
/// jobs, from where that ended and from the start (decision 117).
constexpr int kEvaluations = 200, kFromFound = 100, kFromStart = 50;
/// First step as a part of the bound per GPU, and the least. Chosen, not tuned.
constexpr double kFirstStep = 1.0 / 16.0, kLeastStep = 1e-6;

/// Which directions a search takes.
enum class Ways : std::uint8_t {
  all,
  premiums,  ///< without shifts of all prices against premiums: sets of jobs hardly feel these
};

/// Up with the premium of tasks of so many GPUs (0: of none), with all prices by `all`; of one type
/// (invalid: of all types).
Direction direction(const NearPrices& prices, GpuTypeId type, std::int64_t gpus, double all,
                    double step) {
  const auto concerns = [&](GpuTypeId t) { return !type.valid() || type == t; };
  Direction found{prices.none(), step};
  for (std::size_t i = 0; i < prices.sizes().size(); ++i) {
    const TaskSize& size = prices.sizes()[i];
    if (size.gpus == gpus && concerns(size.type)) found.way.by_size[i] = 1.0;
  }
  for (std::size_t t = 0; t < prices.gpu_types(); ++t) {
    if (concerns(GpuTypeId(t))) found.way.by_type[t] = all;
  }
  return found;
}

/// Of one type, or of all together: the premium of each size alone, then against a shift of all
/// prices, from large sizes to small ones; then the shift alone.
void add_directions(const NearPrices& prices, GpuTypeId type, double step, Ways ways,
                    std::vector<Direction>& found) {
  const GpuTypeId listed = type.valid() ? type : GpuTypeId(0);  // all types have the same sizes
  for (const bool shifts : {false, true}) {
    if (shifts && ways == Ways::premiums) continue;
    for (const TaskSize& size : std::views::reverse(prices.sizes())) {
      if (size.type != listed) continue;
      found.push_back(direction(prices, type, size.gpus, shifts ? -size.share : 0.0, step));
    }
  }
  if (type.valid() || ways == Ways::all) {
    found.push_back(direction(prices, type, 0, 1.0, step));
  }
}

/// All types together come first, so that a search of many types is no worse than one of one type.
std::vector<Direction> directions(const NearPrices& prices, double step, Ways ways) {
  std::vector<Direction> found;
  add_directions(prices, GpuTypeId(), step, ways, found);
  const std::size_t types = prices.gpu_types();
  for (std::size_t t = 0; types > 1 && t < types; ++t) {
    add_directions(prices, GpuTypeId(t), step, ways, found);
  }
  return found;
}

/// True when some running job may move at a cost, and jobs and machines are few enough.
bool stays_matter(const model::InstanceView& instance) {
  const auto& running = instance.workload.tables().running;
  return few_records(instance) && std::ranges::any_of(running, [](const model::Running& r) {
           return !r.pinned && r.move_cost > 0.0;
         });
}

}  // namespace

Proof price_stays(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal) {
  if (!stays_matter(instance) || instance.cluster.gpus() == 0) return proof;
  if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return proof;
  if (!proof.certificate.jobs.empty() || goal.stop.requested()) return proof;
  const NearPrices prices(instance, objective, proof.certificate);
  if (prices.sizes().empty()) return proof;
  const double per_gpu = proof.upper_bound / static_cast<double>(instance.cluster.gpus());
  const auto from = [&](const Premiums& start, Ways ways, JobCount count, int evaluations) {
    return pattern_search(prices, {count, evaluations, kLeastStep * per_gpu},
                          directions(prices, kFirstStep * per_gpu, ways), start, goal.stop);
  };
  const Premiums found = from(prices.none(), Ways::all, JobCount::each, kEvaluations);
  std::vector<Certificate> candidates{std::move(proof.certificate),
                                      prices.at(found, JobCount::each),
                                      prices.at(found, JobCount::sets)};
  if (few_cells(instance)) {
    const Premiums further = from(found, Ways::all, JobCount::sets, kFromFound);
    const Premiums other = from(prices.none(), Ways::premiums, JobCount::sets, kFromStart);
    candidates.push_back(prices.at(further, JobCount::sets));
    candidates.push_back(prices.at(other, JobCount::sets));
  }
  return tightest(prices.judge(), std::move(candidates));
}

}  // namespace berth::pipeline
