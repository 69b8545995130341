// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/limit_usage.hpp"
#include "berth/model/precedence.hpp"
#include "berth/model/room.hpp"
#include "berth/model/value.hpp"

namespace berth::solver {

/// Machines of one GPU type within one domain, ascending.
struct Domain {
  model::Level level = model::Level::cluster;
  std::vector<MachineId> machines;
};

/// A shard's machines by GPU type (invalid type = every machine, for CPU-only jobs) and level.
class DomainIndex {
 public:
  DomainIndex(const model::Cluster& cluster, std::span<const MachineId> machines);

  /// Racks, pods or the whole shard; in order of their first machine.
  [[nodiscard]] std::span<const Domain> domains(GpuTypeId type, model::Level level) const;
  [[nodiscard]] std::span<const GpuTypeId> types() const { return types_; }

 private:
  std::vector<GpuTypeId> types_;  ///< GPU types present, ascending
  std::map<std::pair<GpuTypeId, model::Level>, std::vector<Domain>> domains_;
};

/// One job on one machine.
struct Occupant {
  double density = 0.0;  ///< of the whole job as placed, see `model::value_density`
  JobId job;
  double value = 0.0;            ///< of the whole job
  std::int64_t milli = 0;        ///< GPU thousandths it takes on this machine
  bool evictable = true;         ///< false for required jobs
  model::Precedence precedence;  ///< by `density`

  /// The first to be evicted compares least.
  bool operator<(const Occupant& other) const { return other.precedence < precedence; }
};

/// The occupancy of a shard's machines: free room, placed jobs and their values, occupants by
/// machine, and use of quotas and uplinks.
class Occupancy {
 public:
  Occupancy(const model::Valuation& valuation, std::span<const MachineId> machines,
            const model::CouplingLimits* limits = nullptr);

  void add(model::JobPlacement placement);     ///< takes the room
  void record(model::JobPlacement placement);  ///< its room is taken already
  model::JobPlacement remove(JobId job);       ///< gives the room back
  void replace(model::Placement placed);       ///< all jobs; the room has been edited to match

  [[nodiscard]] bool has(JobId job) const { return jobs_.contains(job); }
  [[nodiscard]] const model::JobPlacement& placed(JobId job) const {
    return jobs_.at(job).placement;
  }
  [[nodiscard]] double value_of(JobId job) const { return jobs_.at(job).value; }
  [[nodiscard]] double unpriced_value_of(JobId job) const { return jobs_.at(job).unpriced_value; }
  [[nodiscard]] double value() const;  ///< before prices; summed in job order
  /// Jobs on a machine, the last by precedence first.
  [[nodiscard]] std::span<const Occupant> occupants(MachineId m) const {
    return occupants_[room_.slot(m)];
  }
  [[nodiscard]] model::Placement placement() const;
  /// All jobs here, ascending.
  [[nodiscard]] std::vector<JobId> jobs() const;

  [[nodiscard]] model::Room& room() { return room_; }
  [[nodiscard]] const model::Room& room() const { return room_; }
  [[nodiscard]] model::LimitUsage& limit_usage() { return limit_usage_; }
  [[nodiscard]] const model::LimitUsage& limit_usage() const { return limit_usage_; }
  /// Jobs that count for a quota and may go, the last by precedence first; densities are values per
  /// GPU thousandth.
  using EvictionOrder = std::set<model::Precedence, std::greater<>>;
  [[nodiscard]] const EvictionOrder& evictable_jobs(std::size_t quota) const {
    return by_quota_[quota];
  }
  /// Of a placed job, by its value as placed.
  [[nodiscard]] model::Precedence precedence_of(JobId job) const;
  [[nodiscard]] const DomainIndex& index() const { return index_; }
  [[nodiscard]] const model::Valuation& valuation() const { return *valuation_; }

 private:
  struct PlacedJob {
    model::JobPlacement placement;
    double value = 0.0;
    double unpriced_value = 0.0;  ///< before the prices of quotas and uplinks
  };
  const model::Valuation* valuation_;
  model::Room room_;
  DomainIndex index_;
  model::LimitUsage limit_usage_;
  std::map<JobId, PlacedJob> jobs_;
  std::vector<std::vector<Occupant>> occupants_;  ///< by slot of the room
  std::vector<EvictionOrder> by_quota_;           ///< by quota
};

}  // namespace berth::solver
