// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "demand_forecast.hpp"

#include <optional>
#include <set>
#include <vector>

#include "berth/planner_model/room.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {

/// Place of a job without a reservation, and the reservations that it cancels (bid-price control:
/// Talluri and van Ryzin 1998).
struct Displacement {
  MachineId machine;
  double gain = 0.0;                ///< value of the job less that of the displaced expected jobs
  std::vector<int> displaced = {};  ///< reservations to cancel
};

/// Places that idle capacity of an occupancy reserves for expected jobs, by demand class (inventory
/// rationing, Topkis 1968). Expected jobs are copies of jobs seen: an occupancy, which holds a job
/// once, cannot hold them.
class ReservationTable {
 public:
  /// @param occupancy  edited by `commit` alone
  ReservationTable(Occupancy& occupancy, const DemandForecast& forecast);

  /// Places the job; it is never moved. @pre it has one task
  void commit(const model::JobPlacement& placement);

  /// Reserves a place. @pre the machine has room beside its jobs and reservations
  void reserve(DemandClass demand_class, double value, const model::TaskPlacement& task);

  /// Cancels all reservations on these machines.
  void cancel(std::span<const MachineId> machines);

  /// Takes the reservation of this demand class on the machine with the least free room whose
  /// expected job has no larger value there than `job`; nullopt without one.
  std::optional<model::TaskPlacement> claim(DemandClass demand_class, JobId job);

  /// The best place for the job if reservations may be cancelled; nullopt if no machine holds it.
  [[nodiscard]] std::optional<Displacement> find_displacement(JobId job) const;
  /// Cancels the displaced reservations and returns the job's devices. @pre the table has not
  /// changed since `find_displacement`
  model::TaskPlacement apply(JobId job, const Displacement& displacement);
  /// Machines without placed jobs.
  [[nodiscard]] std::vector<MachineId> unused_machines() const;
  /// Machines where a GPU job of some demand class still fits.
  [[nodiscard]] std::vector<MachineId> machines_with_room() const;
  [[nodiscard]] std::int64_t free_milli() const { return free_milli_; }
  [[nodiscard]] std::vector<std::int64_t> reserved_by_class() const;

 private:
  struct ReservedPlace {
    DemandClass demand_class = 0;
    double value = 0.0;
    model::TaskPlacement task;
  };
  /// Free thousandths of the machine, its id, the reservation: the fullest machine comes first.
  using Key = std::tuple<std::int64_t, MachineId, int>;

  [[nodiscard]] const model::WorkloadView& workload() const {
    return occupancy_->valuation().instance().workload;
  }
  [[nodiscard]] const model::Cluster& cluster() const {
    return occupancy_->valuation().instance().cluster;
  }
  void cancel_one(int reservation);
  [[nodiscard]] Key key(int reservation) const;
  [[nodiscard]] const ReservedPlace& at(int reservation) const {
    return reservations_[static_cast<std::size_t>(reservation)];
  }
  /// GPU type for the value of a job of this shape on the machine; invalid for a shape without
  /// GPUs.
  [[nodiscard]] GpuTypeId value_type(const model::Shape& shape, MachineId machine) const;
  [[nodiscard]] bool admits(MachineId machine, JobId job) const;  ///< reservations disregarded
  [[nodiscard]] std::optional<Displacement> displacement_on(const model::Shape& shape, double value,
                                                            MachineId machine) const;

  Occupancy* occupancy_;
  const DemandForecast* forecast_;
  planner_model::Room unreserved_;            ///< room beside placed jobs and reservations
  std::vector<std::vector<int>> on_machine_;  ///< by MachineId: its reservations, ascending
  std::vector<ReservedPlace> reservations_;   ///< all ever made, also cancelled ones
  std::vector<std::set<Key>> by_class_;       ///< by demand class: open reservations
  std::int64_t free_milli_ = 0;
};

}  // namespace berth::solver
