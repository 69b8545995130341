// SPDX-License-Identifier: Apache-2.0
#include "berth/solver/assigned_start.hpp"

#include "bounding/job_table.hpp"
#include "bounding/multiple_knapsack.hpp"
#include "shard/whole_start.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/solver/job_prices.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

using bounding::JobTable;
using bounding::MultipleKnapsack;
using model::Level;

/// The places that some job may want, and their spots.
struct AssignmentProblem {
  MultipleKnapsack knapsack;
  std::vector<std::uint32_t> spots;  ///< by place
};

/// A value that counts a required job above all others together.
double with_bonus(double value, double bonus) { return std::isfinite(value) ? value + bonus : 0.0; }

class ProblemBuilder {
 public:
  ProblemBuilder(const planner_model::Valuation& valuation, std::span<const JobId> jobs,
                 const JobTable& table)
      : table_(table) {
    double all = 1.0;
    for (const JobId job : jobs) all += std::abs(valuation.best(job));
    for (const JobId job : jobs) {
      bonus_.push_back(valuation.instance().workload.job(job).required ? all : 0.0);
    }
    result_.knapsack.sizes = table.size;
    result_.knapsack.values.resize(jobs.size());
  }

  AssignmentProblem build() {
    for (const bounding::TypeCapacity& type : table_.types) {
      const std::int32_t of_type = add(type.spot, type.gpus, -1);
      for (const bounding::PodCapacity& pod : type.pods) {
        const std::int32_t of_pod = add(pod.spot, pod.gpus, of_type);
        for (const bounding::RackCapacity& rack : pod.racks) add(rack.spot, rack.gpus, of_pod);
      }
    }
    return std::move(result_);
  }

 private:
  /// Adds a place where some job gains something. @return its number; without such jobs that of the
  /// place above, which counts all the same
  std::int32_t add(std::uint32_t spot, std::int32_t capacity, std::int32_t above) {
    std::vector<double> values;
    bool wanted = false;
    for (std::uint32_t j = 0; j < table_.size.size(); ++j) {
      const bool fits = table_.size[j] <= capacity;
      values.push_back(fits ? with_bonus(table_.value_at(j, spot), bonus_[j]) : 0.0);
      const double elsewhere =
          above < 0 ? 0.0 : result_.knapsack.values[j][static_cast<std::size_t>(above)];
      wanted = wanted || values.back() > std::max(0.0, elsewhere);
    }
    if (!wanted) return above;
    for (std::size_t j = 0; j < values.size(); ++j) {
      result_.knapsack.values[j].push_back(values[j]);
    }
    result_.knapsack.places.push_back({.above = above, .capacity = capacity});
    result_.spots.push_back(spot);
    return static_cast<std::int32_t>(result_.spots.size()) - 1;
  }

  const JobTable& table_;
  std::vector<double> bonus_;  ///< by job
  AssignmentProblem result_;
};

const Domain& domain_of(const DomainIndex& index, const model::Cluster& cluster,
                        const bounding::Spot& spot) {
  const Level level = spot.rack.valid()  ? Level::rack
                      : spot.pod.valid() ? Level::pod
                                         : Level::cluster;
  return *std::ranges::find_if(index.domains(spot.type, level), [&](const Domain& domain) {
    const MachineId first = domain.machines.front();
    if (spot.rack.valid()) return cluster.machine_rack[first.index()] == spot.rack;
    return !spot.pod.valid() || cluster.pod_of(first) == spot.pod;
  });
}

/// Places the jobs in their spots, those of racks first, large ones first.
void place_at(Occupancy& occupancy, std::span<const JobId> jobs, const JobTable& table,
              std::span<const std::int64_t> spots) {
  const model::Cluster& cluster = occupancy.valuation().instance().cluster;
  std::vector<std::tuple<bool, bool, std::int32_t, std::size_t>> order;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (spots[j] < 0) continue;
    const bounding::Spot& spot = table.spots[static_cast<std::size_t>(spots[j])];
    order.emplace_back(!spot.rack.valid(), !spot.pod.valid(), -table.size[j], j);
  }
  std::ranges::sort(order);
  for (const auto& [no_rack, no_pod, size, j] : order) {
    const bounding::Spot& spot = table.spots[static_cast<std::size_t>(spots[j])];
    const Domain& domain = domain_of(occupancy.index(), cluster, spot);
    if (auto placement = occupancy.fit(jobs[j], domain.machines)) {
      occupancy.take(std::move(*placement));
    }
  }
}

}  // namespace

double plan_assigned(const planner_model::Valuation& valuation, const PricedPools& pools,
                     std::span<const JobId> jobs, const SearchEffort& effort, const RunContext& run,
                     model::Placement& placement) {
  const JobTable table = bounding::make_job_table(
      valuation, jobs, common_divisor(valuation.instance().workload, jobs));
  const AssignmentProblem problem = ProblemBuilder(valuation, jobs, table).build();
  const bounding::MultipleKnapsackResult found = bounding::solve(problem.knapsack);
  std::vector<std::int64_t> spots(jobs.size(), -1);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (found.place[j] >= 0) spots[j] = problem.spots[static_cast<std::size_t>(found.place[j])];
  }
  const Occupancy empty = without_placements(valuation, nullptr);
  Occupancy start = empty;
  place_at(start, jobs, table, spots);
  BestStart best(empty, placement);
  best.offer(std::move(start), pools, effort, run.stop);
  return best.write(placement);
}

}  // namespace berth::solver
