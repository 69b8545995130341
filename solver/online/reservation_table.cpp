// SPDX-License-Identifier: Apache-2.0
#include "reservation_table.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "berth/base/assert.hpp"

namespace berth::solver {

using model::TaskPlacement;

namespace {

/// Value of an expected required job, above that of any other job. Untuned guard.
constexpr double kRequired = 1e12;

}  // namespace

ReservationTable::ReservationTable(Occupancy& occupancy, const DemandForecast& forecast)
    : occupancy_(&occupancy),
      forecast_(&forecast),
      unreserved_(occupancy.room()),
      on_machine_(occupancy.machines().size()) {
  for (const MachineId m : occupancy.machines()) free_milli_ += occupancy.room().free_milli(m);
}

ReservationTable::Key ReservationTable::key(int reservation) const {
  const MachineId m = at(reservation).task.machine;
  return {occupancy_->room().free_milli(m), m, reservation};
}

void ReservationTable::commit(const model::JobPlacement& placement) {
  const TaskPlacement& task = placement.tasks.front();
  const model::Shape& shape = shape_of(workload(), placement.job);
  auto& here = on_machine_[task.machine.index()];
  for (const int p : here) by_class_[at(p).demand_class].erase(key(p));
  occupancy_->take(placement);
  for (const int p : here) by_class_[at(p).demand_class].insert(key(p));
  unreserved_.take(task, shape);
  free_milli_ -= shape.total_milli();
}

void ReservationTable::reserve(DemandClass demand_class, double value, const TaskPlacement& task) {
  unreserved_.take(task, forecast_->shape(demand_class));
  const auto reservation = static_cast<int>(reservations_.size());
  reservations_.push_back({demand_class, value, task});
  on_machine_[task.machine.index()].push_back(reservation);
  if (by_class_.size() <= demand_class) by_class_.resize(demand_class + 1);
  by_class_[demand_class].insert(key(reservation));
}

void ReservationTable::cancel_one(int reservation) {
  const ReservedPlace& p = at(reservation);
  by_class_[p.demand_class].erase(key(reservation));
  std::erase(on_machine_[p.task.machine.index()], reservation);
  unreserved_.release(p.task, forecast_->shape(p.demand_class));
}

void ReservationTable::cancel(std::span<const MachineId> machines) {
  for (const MachineId m : machines) {
    for (const int p : std::vector<int>(on_machine_[m.index()])) cancel_one(p);
  }
}

std::optional<TaskPlacement> ReservationTable::claim(DemandClass demand_class, JobId job) {
  if (demand_class >= by_class_.size()) return std::nullopt;
  for (const Key& k : by_class_[demand_class]) {
    const ReservedPlace& p = at(std::get<int>(k));
    const GpuTypeId type = value_type(forecast_->shape(demand_class), p.task.machine);
    if (p.value > occupancy_->valuation().best(job, type)) continue;
    if (!admits(p.task.machine, job)) continue;
    const TaskPlacement task = p.task;
    cancel_one(std::get<int>(k));
    return task;
  }
  return std::nullopt;
}

GpuTypeId ReservationTable::value_type(const model::Shape& shape, MachineId m) const {
  return shape.uses_gpu() ? cluster().class_of(m).gpu_type : GpuTypeId{};
}

bool ReservationTable::admits(MachineId m, JobId id) const {
  const model::Shape& shape = shape_of(workload(), id);
  return occupancy_->room().fits(m, shape) && occupancy_->limit_usage().count(m, shape, 1) > 0 &&
         workload().allows(workload().job(id), shape, cluster().class_of(m).gpu_type);
}

/// The displacement of least value that makes room on one machine: one reservation, or several in
/// order of value.
std::optional<Displacement> ReservationTable::displacement_on(const model::Shape& shape,
                                                              double value, MachineId m) const {
  if (unreserved_.fits(m, shape)) return Displacement{.machine = m, .gain = value};
  std::vector<std::pair<double, int>> order;
  for (const int p : on_machine_[m.index()]) {
    const ReservedPlace& reservation = at(p);
    const model::Job& like = workload().job(forecast_->first(reservation.demand_class));
    order.emplace_back(reservation.value + (like.required ? kRequired : 0.0), p);
  }
  std::ranges::sort(order);
  const auto release = [&](model::FreeMachine& free, int p) {
    const ReservedPlace& reservation = at(p);
    free.release(reservation.task, forecast_->shape(reservation.demand_class));
  };
  for (const auto& [worth, p] : order) {
    model::FreeMachine free = unreserved_[m];
    release(free, p);
    if (free.fits(shape))
      return Displacement{.machine = m, .gain = value - worth, .displaced = {p}};
  }
  Displacement s{.machine = m, .gain = value};
  model::FreeMachine free = unreserved_[m];
  for (const auto& [worth, p] : order) {
    release(free, p);
    s.gain -= worth;
    s.displaced.push_back(p);
    if (free.fits(shape)) return s;
  }
  return std::nullopt;
}

std::optional<Displacement> ReservationTable::find_displacement(JobId id) const {
  const model::Job& job = workload().job(id);
  const model::Shape& shape = shape_of(workload(), id);
  std::optional<Displacement> best;
  std::tuple<double, std::int64_t, std::int64_t> best_key;
  for (const MachineId m : occupancy_->machines()) {
    if (!admits(m, id)) continue;
    const double value = occupancy_->valuation().best(id, value_type(shape, m));
    if (value <= 0.0 && !job.required && occupancy_->room().free_milli(m) > 0) continue;
    auto found = displacement_on(shape, value, m);
    if (!found) continue;
    const std::tuple key(-found->gain, unreserved_.free_milli(m), unreserved_.free_cpu(m));
    if (best && best_key <= key) continue;
    best = std::move(found);
    best_key = key;
  }
  return best;
}

TaskPlacement ReservationTable::apply(JobId job, const Displacement& displacement) {
  for (const int p : displacement.displaced) cancel_one(p);
  return unreserved_[displacement.machine].choose(displacement.machine, 0,
                                                  shape_of(workload(), job));
}

std::vector<MachineId> ReservationTable::unused_machines() const {
  std::vector<MachineId> machines;
  std::ranges::copy_if(occupancy_->machines(), std::back_inserter(machines),
                       [&](MachineId m) { return occupancy_->occupants(m).empty(); });
  return machines;
}

std::vector<MachineId> ReservationTable::machines_with_room() const {
  std::vector<MachineId> machines;
  for (const MachineId m : occupancy_->machines()) {
    bool some = false;
    for (DemandClass k = 0;
         k < forecast_->classes() && !some && occupancy_->room().free_milli(m) > 0; ++k) {
      some = forecast_->shape(k).uses_gpu() && admits(m, forecast_->first(k));
    }
    if (some) machines.push_back(m);
  }
  return machines;
}

std::vector<std::int64_t> ReservationTable::reserved_by_class() const {
  std::vector<std::int64_t> kept(forecast_->classes(), 0);
  for (DemandClass k = 0; k < by_class_.size(); ++k) kept[k] = std::ssize(by_class_[k]);
  return kept;
}

}  // namespace berth::solver
