// SPDX-License-Identifier: Apache-2.0
#include "best_fit.hpp"

#include "free_index.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "berth/planner_model/home.hpp"
#include "berth/planner_model/option_enumerator.hpp"
#include "berth/planner_model/room.hpp"

namespace berth::test {
namespace {

using model::Job;
using model::JobPlacement;
using model::Level;

/// One option of a job: GPU type, width, distance.
struct BestFitOption {
  double value = 0.0;
  std::size_t kind = 0;
  Level width = Level::machine;
  Level scope = Level::cluster;  ///< of the domain around home
};

class BestFit {
 public:
  BestFit(const model::Instance& instance, const planner_model::Valuation& valuation)
      : instance_(instance),
        valuation_(valuation),
        room_(instance.cluster),
        index_(instance.cluster, room_) {}

  std::optional<JobPlacement> place(JobId id) {
    measure(id);
    for (const BestFitOption& choice : options_of(id)) {
      auto placed = try_choice(id, choice);
      if (!placed) continue;
      index_.update(*placed, room_);
      return placed;
    }
    return std::nullopt;
  }

 private:
  void measure(JobId id) {
    const Job& job = workload().job(id);
    need_ = workload().gpu_milli(job);
    least_ = std::numeric_limits<std::int64_t>::max();
    for (const model::TaskGroup& g : workload().groups_of(job)) {
      const std::int64_t milli = workload().shape(g.shape).total_milli();
      least_ = std::min(least_, milli);
    }
  }

  /// Best value first; then by kind, narrow before wide, near before far.
  std::vector<BestFitOption> options_of(JobId id) const {
    const Job& job = workload().job(id);
    const planner_model::OptionEnumerator options(valuation_, id);
    std::vector<BestFitOption> result;
    for (std::size_t kind = 0; kind < index_.kinds(); ++kind) {
      if (index_.machines(kind).empty() || !allowed(job, kind)) continue;
      options.for_each_on(GpuTypeId(kind), [&](const planner_model::JobOption& o) {
        result.push_back({options.value(o), kind, o.width, o.scope.level});
      });
    }
    std::ranges::sort(result, {}, [&](const BestFitOption& o) {
      const auto rank =
          need_ > 0 ? o.kind : index_.kinds() - 1 - o.kind;  // CPU-only machines first
      return std::tuple(-o.value, rank, o.width, o.scope);
    });
    return result;
  }

  [[nodiscard]] bool allowed(const Job& job, std::size_t kind) const {
    return need_ == 0 || (kind + 1 < index_.kinds() && planner_model::allows(job, GpuTypeId(kind)));
  }

  std::optional<JobPlacement> try_choice(JobId id, const BestFitOption& c) {
    switch (c.width) {
      case Level::machine:
        return on_machine(id, c);
      case Level::rack:
        return in_racks(id, c);
      case Level::pod:
        return in_pods(id, c);
      default:
        return on(id, index_.in_cluster(c.kind, least_));
    }
  }

  std::optional<JobPlacement> on(JobId id, std::span<const MachineId> candidates) {
    return planner_model::place_job(room_, workload(), id, candidates);
  }

  std::optional<JobPlacement> on_machine(JobId id, const BestFitOption& c) {
    if (c.scope == Level::rack) {
      return first_of(id, index_.in_rack(home_rack(id), c.kind, need_));
    }
    const bool here = c.scope == Level::pod;
    const auto& machines = here ? index_.machines(home_pod(id), c.kind) : index_.machines(c.kind);
    const FreeIndex::MachineKey least{need_, std::numeric_limits<std::int64_t>::min(), MachineId()};
    for (auto at = machines.lower_bound(least); at != machines.end(); ++at) {
      if (!fits_one(id, at->id)) continue;
      if (auto placed = on(id, std::span(&at->id, 1))) return placed;
    }
    return std::nullopt;
  }

  /// Quick test of one machine: room for one task of every group.
  [[nodiscard]] bool fits_one(JobId id, MachineId m) const {
    return std::ranges::all_of(workload().groups_of(workload().job(id)), [&](const auto& g) {
      return room_.fits(m, workload().shape(g.shape));
    });
  }

  std::optional<JobPlacement> first_of(JobId id, std::vector<MachineId> machines) {
    std::ranges::sort(machines, {}, [&](MachineId m) {
      return std::tuple(room_.free_milli(m), room_.free_cpu(m), m);
    });
    for (const MachineId m : machines) {
      if (auto placed = on(id, std::span(&m, 1))) return placed;
    }
    return std::nullopt;
  }

  std::optional<JobPlacement> in_racks(JobId id, const BestFitOption& c) {
    if (c.scope == Level::rack) return in_rack(id, home_rack(id), c.kind);
    const auto& racks = index_.racks(c.kind);
    for (auto at = racks.lower_bound({need_, RackId()}); at != racks.end(); ++at) {
      const bool in_home_pod =
          c.scope != Level::pod || cluster().racks[at->id.index()].pod == home_pod(id);
      if (!in_home_pod) continue;
      if (auto placed = in_rack(id, at->id, c.kind)) return placed;
    }
    return std::nullopt;
  }

  std::optional<JobPlacement> in_rack(JobId id, RackId rack, std::size_t kind) {
    if (index_.free_in(rack, kind) < need_) return std::nullopt;
    return on(id, index_.in_rack(rack, kind, least_));
  }

  std::optional<JobPlacement> in_pods(JobId id, const BestFitOption& c) {
    std::vector<std::tuple<std::int64_t, PodId>> pods;
    for (std::size_t p = 0; p < cluster().pods.size(); ++p) {
      const std::int64_t free = index_.free_in(PodId(p), c.kind);
      const bool near_enough = c.scope == Level::cluster || PodId(p) == home_pod(id);
      if (free >= need_ && near_enough) pods.emplace_back(free, PodId(p));
    }
    std::ranges::sort(pods);
    for (const auto& [free, pod] : pods) {
      if (auto placed = on(id, index_.in_pod(pod, c.kind, least_))) return placed;
    }
    return std::nullopt;
  }

  [[nodiscard]] RackId home_rack(JobId id) const { return workload().job(id).home_rack; }
  [[nodiscard]] PodId home_pod(JobId id) const {
    return planner_model::home_pod(cluster(), workload().job(id));
  }
  [[nodiscard]] const model::Cluster& cluster() const { return instance_.cluster; }
  [[nodiscard]] const model::Workload& workload() const { return instance_.workload; }

  const model::Instance& instance_;
  const planner_model::Valuation& valuation_;
  planner_model::Room room_;
  FreeIndex index_;
  // The job being placed:
  std::int64_t need_ = 0;   // GPU thousandths in all
  std::int64_t least_ = 0;  // of the smallest task
};

}  // namespace

model::Placement best_fit(const model::Instance& instance,
                          const planner_model::Valuation& valuation) {
  const auto& jobs = instance.workload.jobs;
  std::vector<JobId> order;
  for (std::size_t j = 0; j < jobs.size(); ++j) order.emplace_back(j);
  std::ranges::stable_sort(order, {}, [&](JobId j) { return jobs[j.index()].arrival; });
  BestFit state(instance, valuation);
  model::Placement placement;
  for (const JobId j : order) {
    if (auto placed = state.place(j)) placement.push_back(std::move(*placed));
  }
  std::ranges::sort(placement, {}, &JobPlacement::job);
  return placement;
}

}  // namespace berth::test
