// SPDX-License-Identifier: Apache-2.0
#include "shard/domain_start.hpp"

#include "shard/domain_packing.hpp"

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/model/workload.hpp"

namespace berth::solver {
namespace {

using model::Level;

/// Packs the selected jobs of one GPU type that must be in one pod or rack to keep their value.
class PackingOnType {
 public:
  PackingOnType(Occupancy& occupancy, GpuTypeId type)
      : occupancy_(occupancy),
        workload_(occupancy.valuation().instance().workload),
        type_(type),
        pods_(occupancy.index().domains(type, Level::pod)) {
    const model::Cluster& cluster = occupancy.valuation().instance().cluster;
    racks_.resize(pods_.size());
    std::size_t p = 0;
    for (const Domain& rack : occupancy.index().domains(type, Level::rack)) {
      while (cluster.pod_of(pods_[p].machines.front()) != cluster.pod_of(rack.machines.front()))
        ++p;
      racks_[p].push_back(&rack);
    }
  }

  /// @return false when no selected job needs a domain
  bool run(std::span<const JobId> selected) {
    for (const JobId job : selected) add(job);
    if (items_.empty()) return false;
    std::vector<RoomOfRacks> room;
    for (const auto& racks : racks_) {
      for (room.emplace_back(); const Domain* rack : racks) room.back().push_back(units_in(*rack));
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].units = workload_.gpu_milli(workload_.job(jobs_[i])) / unit_;
    }
    const std::vector<ItemPlace> places = pack_domains(room, items_);
    for (const bool in_rack : {true, false}) {
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (places[i].pod >= 0 && items_[i].in_rack == in_rack) place(jobs_[i], places[i]);
      }
    }
    return true;
  }

 private:
  void add(JobId id) {
    const model::Job& job = workload_.job(id);
    if (workload_.tasks(job) == 1 || job.home_pod.valid() || job.home_rack.valid()) return;
    if (workload_.gpu_milli(job) == 0 || occupancy_.is_placed(id)) return;  // on another type
    if (((job.gpu_types >> type_.value()) & 1) == 0) return;
    const planner_model::Valuation& valuation = occupancy_.valuation();
    const double best = valuation.best(id);
    if (!(best > 0.0)) return;
    auto widest = static_cast<int>(job.domain);
    const auto value = [&](int width) {
      return valuation.option(id, type_, static_cast<Level>(width), Level::machine);
    };
    while (widest > 0 && value(widest) < best) --widest;
    const auto level = static_cast<Level>(widest);
    if (value(widest) < best || level == Level::machine || level == Level::cluster) return;
    for (const model::TaskGroup& group : workload_.groups_of(job)) {
      unit_ = std::gcd(unit_, workload_.shape(group.shape).total_milli());
    }
    jobs_.push_back(id);
    items_.push_back({.value = best, .in_rack = level == Level::rack});
  }

  [[nodiscard]] std::int64_t units_in(const Domain& rack) const {
    std::int64_t units = 0;
    for (const MachineId m : rack.machines) units += occupancy_.room().free_milli(m) / unit_;
    return units;
  }

  void place(JobId job, const ItemPlace& where) {
    const auto pod = static_cast<std::size_t>(where.pod);
    const Domain& domain =
        where.rack < 0 ? pods_[pod] : *racks_[pod][static_cast<std::size_t>(where.rack)];
    if (occupancy_.limit_usage().surcharge(job).value_or(kInfinity) >
        occupancy_.valuation().best(job))
      return;
    std::vector<MachineId> open = domain.machines;
    std::erase_if(
        open, [&](MachineId m) { return !occupancy_.limit_usage().admits(job, m, domain.level); });
    if (auto placement = occupancy_.fit(job, open)) occupancy_.take(std::move(*placement));
  }

  Occupancy& occupancy_;
  model::WorkloadView workload_;
  GpuTypeId type_;
  std::span<const Domain> pods_;
  std::vector<std::vector<const Domain*>> racks_;  ///< by pod
  std::int64_t unit_ = 0;                          ///< GPU thousandths
  std::vector<JobId> jobs_;
  std::vector<DomainItem> items_;  ///< of these jobs
};

}  // namespace

bool pack_domains_of(GpuTypeId type, std::span<const JobId> selected, Occupancy& occupancy) {
  return PackingOnType(occupancy, type).run(selected);
}

}  // namespace berth::solver
