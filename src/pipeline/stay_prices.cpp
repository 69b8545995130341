// SPDX-License-Identifier: Apache-2.0
#include "stay_prices.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/planner_model/pools.hpp"

namespace berth::pipeline {
namespace {

using model::Certificate;

constexpr int kEvaluations = 200;  ///< of the bound (decision 105)
/// Jobs and machines: an evaluation takes their number, so larger instances are left as they are.
constexpr std::size_t kMostRecords = 100'000;
/// First step as a part of the bound per GPU, and the least. Chosen, not tuned.
constexpr double kFirstStep = 1.0 / 16.0, kLeastStep = 1e-6;

/// Tasks of one size on one GPU type, which have a premium of their own.
struct TaskSize {
  GpuTypeId type;
  std::int64_t gpus = 0;  ///< of a task
  double share = 0.0;     ///< of the cluster's GPUs that tasks of so many GPUs ask for
};

/// Amounts per GPU that are added to a certificate's prices.
struct Premiums {
  std::vector<double> by_type;  ///< to every GPU price of the type
  std::vector<double> by_size;  ///< to tasks, by index of the TaskSize
};

/// A direction of the search: up with the premium of one size, down with all prices.
struct Direction {
  GpuTypeId type;                   ///< whose prices move; invalid: of all types
  std::int64_t gpus = 0;            ///< of the tasks whose premium moves; 0: none
  double premium = 0.0, all = 0.0;  ///< for a step of 1
  double step = 0.0;
};

/// Certificates near another one, and their bounds.
class NearPrices {
 public:
  NearPrices(const model::InstanceView& instance, model::Objective objective,
             Certificate certificate)
      : jobs_(model::planned_jobs(instance.workload)),
        alone_(comm::Communicator::serial()),
        judge_(alone_, instance, objective, jobs_),
        cluster_(instance.cluster),
        start_(std::move(certificate)) {
    list_pools();
    list_sizes(instance);
    list_shapes(instance);
  }

  /// Types in ascending order, of each the sizes in ascending order.
  [[nodiscard]] const std::vector<TaskSize>& sizes() const { return sizes_; }
  [[nodiscard]] std::size_t gpu_types() const { return cluster_.gpu_types.size(); }
  [[nodiscard]] Premiums none() const {
    return {std::vector<double>(gpu_types(), 0.0), std::vector<double>(sizes_.size(), 0.0)};
  }

  [[nodiscard]] Premiums moved(Premiums premiums, const Direction& way) const {
    const auto concerns = [&](GpuTypeId type) { return !way.type.valid() || way.type == type; };
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i].gpus != way.gpus || !concerns(sizes_[i].type)) continue;
      premiums.by_size[i] += way.premium * way.step;
    }
    for (std::size_t t = 0; t < premiums.by_type.size(); ++t) {
      if (concerns(GpuTypeId(t))) premiums.by_type[t] += way.all * way.step;
    }
    return premiums;
  }

  [[nodiscard]] Certificate at(const Premiums& premiums) const {
    Certificate moved = start_;
    const auto shifted = [&](std::int64_t price, double by) {
      return std::max<std::int64_t>(0, price + to_signed_fixed(by, start_.scale_log2));
    };
    for (auto& p : moved.pools) {
      const GpuTypeId type = cluster_.classes[p.machine_class.index()].gpu_type;
      if (!type.valid()) continue;
      p.gpu_milli = shifted(p.gpu_milli, premiums.by_type[type.index()] / model::kGpuMilli);
    }
    for (std::size_t i = 0; i < moved.shapes.size(); ++i) {
      if (size_of_[i] == sizes_.size()) continue;
      const std::size_t size = size_of_[i];
      moved.shapes[i].price = shifted(
          moved.shapes[i].price, premiums.by_size[size] * static_cast<double>(sizes_[size].gpus));
    }
    std::erase_if(moved.pools,
                  [](const auto& p) { return p.gpu_milli == 0 && p.unit_price.none(); });
    std::erase_if(moved.shapes, [](const auto& s) { return s.price == 0; });
    return moved;
  }

  /// The bound by prices, unrounded and without the minimum with other bounds.
  [[nodiscard]] double bound(const Premiums& premiums) const {
    const certify::Bound b = judge_.bound(judge_.fitted(at(premiums)), {});
    return std::ldexp(static_cast<double>(b.machines + b.jobs + b.shared), -b.scale_log2);
  }

  [[nodiscard]] const DistributedJudge& judge() const { return judge_; }

 private:
  void list_pools() {
    for (const auto& pool : planner_model::make_pools(cluster_, start_.level).pools) {
      if (!cluster_.classes[pool.machine_class.index()].gpu_type.valid()) continue;
      const bool listed = std::ranges::any_of(start_.pools, [&](const auto& p) {
        return p.pod == pool.pod && p.rack == pool.rack && p.machine_class == pool.machine_class;
      });
      if (listed) continue;
      start_.pools.push_back(
          {.pod = pool.pod, .rack = pool.rack, .machine_class = pool.machine_class});
    }
  }

  /// Sizes of tasks of whole GPUs, and what part of the GPUs each asks for.
  void list_sizes(const model::InstanceView& instance) {
    std::map<std::int64_t, double> tasks;  // by size; at most as many sizes as shapes
    for (const JobId j : jobs_) {
      for (const model::TaskGroup& g : instance.workload.groups_of(instance.workload.job(j))) {
        const auto gpus = instance.workload.shape(g.shape).gpus;
        if (gpus > 0) tasks[gpus] += g.count;
      }
    }
    for (std::size_t t = 0; t < cluster_.gpu_types.size(); ++t) {
      for (const auto& [gpus, count] : tasks) {
        const double asked = count * static_cast<double>(gpus);
        sizes_.push_back(
            {GpuTypeId(t), gpus, std::min(1.0, asked / static_cast<double>(cluster_.gpus()))});
      }
    }
  }

  /// Lists each shape of whole GPUs on each GPU type, and its size.
  void list_shapes(const model::InstanceView& instance) {
    const auto& shapes = instance.workload.tables().shapes;
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      for (std::size_t t = 0; t < cluster_.gpu_types.size(); ++t) {
        const bool listed = std::ranges::any_of(start_.shapes, [&](const auto& p) {
          return p.shape == ShapeId(s) && p.gpu_type == GpuTypeId(t);
        });
        if (!listed && shapes[s].gpus > 0) start_.shapes.push_back({ShapeId(s), GpuTypeId(t), 0});
      }
    }
    for (const auto& p : start_.shapes) {
      const auto at = std::ranges::find_if(sizes_, [&](const TaskSize& size) {
        return size.type == p.gpu_type && size.gpus == shapes[p.shape.index()].gpus;
      });
      size_of_.push_back(static_cast<std::size_t>(at - sizes_.begin()));
    }
  }

  std::vector<JobId> jobs_;
  comm::Communicator alone_;
  DistributedJudge judge_;
  const model::Cluster& cluster_;
  Certificate start_;  ///< with all pools and shapes
  std::vector<TaskSize> sizes_;
  std::vector<std::size_t> size_of_;  ///< by entry of start_.shapes; sizes_.size(): none
};

/// Of one type, or of all together: the premium of each size alone, then against a shift of all
/// prices, from large sizes to small ones; then the shift alone.
void add_directions(const NearPrices& prices, GpuTypeId type, double step,
                    std::vector<Direction>& found) {
  const GpuTypeId listed = type.valid() ? type : GpuTypeId(0);  // all types have the same sizes
  for (const bool shifts : {false, true}) {
    for (const TaskSize& size : std::views::reverse(prices.sizes())) {
      if (size.type != listed) continue;
      found.push_back({type, size.gpus, 1.0, shifts ? -size.share : 0.0, step});
    }
  }
  found.push_back({type, 0, 0.0, 1.0, step});
}

/// All types together come first, so that a search of many types is no worse than one of one type.
std::vector<Direction> directions(const NearPrices& prices, double step) {
  std::vector<Direction> found;
  add_directions(prices, GpuTypeId(), step, found);
  const std::size_t types = prices.gpu_types();
  for (std::size_t t = 0; types > 1 && t < types; ++t) {
    add_directions(prices, GpuTypeId(t), step, found);
  }
  return found;
}

/// Moves along each direction in turn while that lowers the bound: steps double where they do, turn
/// round, then shrink where they do not.
Premiums search(const NearPrices& prices, double per_gpu, const StopToken& stop) {
  Premiums best = prices.none();
  double least = prices.bound(best);
  auto ways = directions(prices, kFirstStep * per_gpu);
  double largest = kFirstStep * per_gpu;
  for (int left = kEvaluations; left > 0 && largest > kLeastStep * per_gpu;) {
    largest = 0.0;
    for (Direction& way : ways) {
      bool lower = false;
      for (int turn = 0; turn < 2 && !lower; ++turn, --left) {
        if (stop.requested()) return best;
        Premiums tried = prices.moved(best, way);
        const double bound = prices.bound(tried);
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
  Certificate start = proof.certificate;
  start.whole_jobs = {};
  const NearPrices prices(instance, objective, std::move(start));
  if (prices.sizes().empty()) return proof;
  const double per_gpu = proof.upper_bound / static_cast<double>(instance.cluster.gpus());
  Certificate found = prices.at(search(prices, per_gpu, goal.stop));
  return tightest(prices.judge(), {std::move(proof.certificate), std::move(found)});
}

}  // namespace berth::pipeline
