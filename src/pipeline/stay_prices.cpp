// SPDX-License-Identifier: Apache-2.0
#include "stay_prices.hpp"

#include "near_prices.hpp"

#include <algorithm>
#include <cmath>
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
/// Jobs and machines: an evaluation takes their number, so larger instances are left as they are.
constexpr std::size_t kMostRecords = 100'000;
/// Jobs x GPUs: cells that an evaluation of sets of jobs fills. With more, single jobs are small.
constexpr std::int64_t kMostCells = 5'000'000;
/// First step as a part of the bound per GPU, and the least. Chosen, not tuned.
constexpr double kFirstStep = 1.0 / 16.0, kLeastStep = 1e-6;

/// A direction of the search: up with the premium of one size, down with all prices.
struct Direction {
  GpuTypeId type;                   ///< whose prices move; invalid: of all types
  std::int64_t gpus = 0;            ///< of the tasks whose premium moves; 0: none
  double premium = 0.0, all = 0.0;  ///< for a step of 1
  double step = 0.0;
};

/// Which directions a search takes.
enum class Ways : std::uint8_t {
  all,
  premiums,  ///< without shifts of all prices against premiums: sets of jobs hardly feel these
};

/// What one search may do.
struct PatternSearch {
  JobCount count;
  Ways ways;
  int evaluations;
};

Premiums moved(const NearPrices& prices, Premiums premiums, const Direction& way) {
  const auto concerns = [&](GpuTypeId type) { return !way.type.valid() || way.type == type; };
  for (std::size_t i = 0; i < prices.sizes().size(); ++i) {
    const TaskSize& size = prices.sizes()[i];
    if (size.gpus == way.gpus && concerns(size.type)) premiums.by_size[i] += way.premium * way.step;
  }
  for (std::size_t t = 0; t < premiums.by_type.size(); ++t) {
    if (concerns(GpuTypeId(t))) premiums.by_type[t] += way.all * way.step;
  }
  return premiums;
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
      found.push_back({type, size.gpus, 1.0, shifts ? -size.share : 0.0, step});
    }
  }
  if (type.valid() || ways == Ways::all) found.push_back({type, 0, 0.0, 1.0, step});
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

/// Moves along each direction in turn while that lowers the bound: steps double where they do, turn
/// round, then shrink where they do not.
Premiums pattern_search(const NearPrices& prices, const PatternSearch& how, Premiums best,
                        double per_gpu, const StopToken& stop) {
  double least = prices.bound(best, how.count);
  auto ways = directions(prices, kFirstStep * per_gpu, how.ways);
  double largest = kFirstStep * per_gpu;
  for (int left = how.evaluations; left > 0 && largest > kLeastStep * per_gpu;) {
    largest = 0.0;
    for (Direction& way : ways) {
      bool lower = false;
      for (int turn = 0; turn < 2 && !lower; ++turn, --left) {
        if (stop.requested()) return best;
        Premiums tried = moved(prices, best, way);
        const double bound = prices.bound(tried, how.count);
        lower = bound < least;
        if (lower) best = std::move(tried), least = bound;
        way.step *= lower ? 2.0 : -1.0;
      }
      if (!lower) way.step /= 4.0;
      largest = std::max(largest, std::abs(way.step));
    }
  }
  return best;
}

}  // namespace

bool stays_matter(const model::InstanceView& instance) {
  const auto& running = instance.workload.tables().running;
  return instance.workload.size() + instance.cluster.machines() <= kMostRecords &&
         std::ranges::any_of(
             running, [](const model::Running& r) { return !r.pinned && r.move_cost > 0.0; });
}

Proof price_stays(const model::InstanceView& instance, model::Objective objective, Proof proof,
                  const TightenGoal& goal) {
  if (!stays_matter(instance) || instance.cluster.gpus() == 0) return proof;
  if (certify::gap(proof.upper_bound, goal.objective) <= goal.gap) return proof;
  if (!proof.certificate.jobs.empty() || goal.stop.requested()) return proof;
  const NearPrices prices(instance, objective, proof.certificate);
  if (prices.sizes().empty()) return proof;
  const double per_gpu = proof.upper_bound / static_cast<double>(instance.cluster.gpus());
  const auto from = [&](const Premiums& start, const PatternSearch& how) {
    return pattern_search(prices, how, start, per_gpu, goal.stop);
  };
  const Premiums found = from(prices.none(), {JobCount::each, Ways::all, kEvaluations});
  std::vector<Certificate> candidates{std::move(proof.certificate),
                                      prices.at(found, JobCount::each),
                                      prices.at(found, JobCount::sets)};
  const auto jobs = static_cast<std::int64_t>(instance.workload.size());
  if (jobs * instance.cluster.gpus() <= kMostCells) {
    const Premiums further = from(found, {JobCount::sets, Ways::all, kFromFound});
    const Premiums other = from(prices.none(), {JobCount::sets, Ways::premiums, kFromStart});
    candidates.push_back(prices.at(further, JobCount::sets));
    candidates.push_back(prices.at(other, JobCount::sets));
  }
  return tightest(prices.judge(), std::move(candidates));
}

}  // namespace berth::pipeline
