// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "demand_forecast.hpp"

#include <optional>
#include <set>
#include <vector>

#include "berth/planner_model/room.hpp"

namespace berth::solver {

/// Where a job is placed that finds no reservation for its demand class.
struct Displacement {
  MachineId machine;
  double gain = 0.0;                ///< its value less that of the expected jobs it displaces
  std::vector<int> displaced = {};  ///< reservations cancelled for it
};

/// Placed jobs, and places reserved for expected jobs by demand class (inventory rationing,
/// Topkis 1968).
class ReservationTable {
 public:
  ReservationTable(const planner_model::Valuation& valuation, const DemandForecast& forecast);

  /// The job is placed there, for good.
  void commit(JobId job, const model::TaskPlacement& task);

  /// Reserves a place. @pre the machine has room for it beside all that is reserved there
  void reserve(DemandClass demand_class, double value, const model::TaskPlacement& task);

  /// Cancels all reservations on these machines.
  void cancel(std::span<const MachineId> machines);

  /// A place reserved for this demand class, for no job worth more there, on the machine with the
  /// least free room: it is no longer reserved.
  std::optional<model::TaskPlacement> claim(DemandClass demand_class, JobId job);

  /// The best place for the job when reservations may be cancelled, or none when it fits nowhere.
  [[nodiscard]] std::optional<Displacement> find_displacement(JobId job) const;
  /// Cancels them; returns the job's devices. @pre nothing has changed since
  model::TaskPlacement apply(JobId job, const Displacement& displacement);

  /// Machines where no job has been placed; where a job on GPUs of some demand class still fits.
  [[nodiscard]] std::vector<MachineId> unused_machines() const;
  [[nodiscard]] std::vector<MachineId> machines_with_room() const;
  [[nodiscard]] std::int64_t free_milli() const { return free_milli_; }
  [[nodiscard]] std::vector<std::int64_t> reserved_by_class() const;
  [[nodiscard]] const planner_model::Room& room() const { return room_; }

 private:
  struct ReservedPlace {
    DemandClass demand_class = 0;
    double value = 0.0;
    model::TaskPlacement task;
  };
  /// Free thousandths of the machine, then its id, then the place: the fullest machine first.
  using Key = std::tuple<std::int64_t, MachineId, int>;

  void cancel_one(int reservation);
  [[nodiscard]] Key key(int reservation) const;
  [[nodiscard]] const ReservedPlace& at(int reservation) const {
    return reservations_[static_cast<std::size_t>(reservation)];
  }
  /// Type that the value of such a job depends on: invalid for one without GPUs.
  [[nodiscard]] GpuTypeId value_type(const model::Shape& shape, MachineId machine) const;
  [[nodiscard]] bool admits(MachineId machine, JobId job) const;  ///< now, without reservations
  [[nodiscard]] std::optional<Displacement> displacement_on(const model::Shape& shape, double value,
                                                            MachineId machine) const;

  const planner_model::Valuation* valuation_;
  const DemandForecast* forecast_;
  planner_model::Room room_;        ///< without placed jobs
  planner_model::Room unreserved_;  ///< without reserved places either
  std::vector<char> used_;
  std::vector<std::vector<int>> on_machine_;  ///< reservations there, ascending
  std::vector<ReservedPlace> reservations_;   ///< all that were ever made
  std::vector<std::set<Key>> by_class_;
  std::int64_t free_milli_ = 0;
};

}  // namespace berth::solver
