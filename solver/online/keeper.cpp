// SPDX-License-Identifier: Apache-2.0
#include "keeper.hpp"

#include <algorithm>
#include <tuple>

#include "berth/base/assert.hpp"

namespace berth::solver {

using model::TaskPlacement;

namespace {

/// A required job that is expected is worth more than any other.
constexpr double kRequired = 1e12;

}  // namespace

Keeper::Keeper(const model::Valuation& valuation, const Forecast& forecast)
    : valuation_(&valuation),
      forecast_(&forecast),
      room_(valuation.instance().cluster),
      planned_(room_),
      touched_(valuation.instance().cluster.machines(), 0),
      on_machine_(touched_.size()) {
  for (std::size_t m = 0; m < touched_.size(); ++m) free_milli_ += room_.free_milli(MachineId(m));
}

Keeper::Key Keeper::key(int place) const {
  const MachineId m = at(place).task.machine;
  return {room_.free_milli(m), m, place};
}

void Keeper::settle(JobId job, const TaskPlacement& task) {
  const model::Shape& shape = shape_of(valuation_->instance().workload, job);
  auto& here = on_machine_[task.machine.index()];
  for (const int p : here) of_kind_[at(p).kind].erase(key(p));
  room_.take(task, shape);
  for (const int p : here) of_kind_[at(p).kind].insert(key(p));
  planned_.take(task, shape);
  touched_[task.machine.index()] = 1;
  free_milli_ -= shape.total_milli();
}

void Keeper::keep(Kind kind, double value, const TaskPlacement& task) {
  planned_.take(task, forecast_->shape(kind));
  const auto place = static_cast<int>(places_.size());
  places_.push_back({kind, value, task});
  on_machine_[task.machine.index()].push_back(place);
  if (of_kind_.size() <= kind) of_kind_.resize(kind + 1);
  of_kind_[kind].insert(key(place));
}

void Keeper::drop(int place) {
  const Place& p = at(place);
  of_kind_[p.kind].erase(key(place));
  std::erase(on_machine_[p.task.machine.index()], place);
  planned_.release(p.task, forecast_->shape(p.kind));
}

void Keeper::give_up(std::span<const MachineId> machines) {
  for (const MachineId m : machines) {
    for (const int p : std::vector<int>(on_machine_[m.index()])) drop(p);
  }
}

std::optional<TaskPlacement> Keeper::claim(Kind kind, JobId job) {
  if (kind >= of_kind_.size()) return std::nullopt;
  for (const Key& k : of_kind_[kind]) {
    const Place& p = at(std::get<int>(k));
    const GpuTypeId type = value_type(forecast_->shape(kind), p.task.machine);
    if (p.value > valuation_->best(job, type)) continue;
    const TaskPlacement task = p.task;
    drop(std::get<int>(k));
    return task;
  }
  return std::nullopt;
}

GpuTypeId Keeper::value_type(const model::Shape& shape, MachineId m) const {
  return shape.uses_gpu() ? valuation_->instance().cluster.class_of(m).gpu_type : GpuTypeId{};
}

bool Keeper::takes(MachineId m, JobId id) const {
  const model::Instance& instance = valuation_->instance();
  const model::Shape& shape = shape_of(instance.workload, id);
  return room_.fits(m, shape) &&
         model::may_lie(instance.workload.job(id), shape, instance.cluster.class_of(m).gpu_type);
}

/// The least worth of kept places that makes room: one of them, or the cheapest ones together.
std::optional<Squeeze> Keeper::squeeze_into(const model::Shape& shape, double value,
                                            MachineId m) const {
  if (planned_.fits(m, shape)) return Squeeze{.machine = m, .gain = value};
  std::vector<std::pair<double, int>> order;
  for (const int p : on_machine_[m.index()]) {
    const Place& place = at(p);
    const model::Job& like = valuation_->instance().workload.job(forecast_->first(place.kind));
    order.emplace_back(place.value + (like.required ? kRequired : 0.0), p);
  }
  std::ranges::sort(order);
  const auto release = [&](model::FreeMachine& free, int p) {
    const Place& place = at(p);
    free.release(place.task, forecast_->shape(place.kind));
  };
  for (const auto& [worth, p] : order) {
    model::FreeMachine free = planned_[m];
    release(free, p);
    if (free.fits(shape)) return Squeeze{.machine = m, .gain = value - worth, .pushed = {p}};
  }
  Squeeze s{.machine = m, .gain = value};
  model::FreeMachine free = planned_[m];
  for (const auto& [worth, p] : order) {
    release(free, p);
    s.gain -= worth;
    s.pushed.push_back(p);
    if (free.fits(shape)) return s;
  }
  return std::nullopt;
}

std::optional<Squeeze> Keeper::squeeze(JobId id) const {
  const model::Instance& instance = valuation_->instance();
  const model::Job& job = instance.workload.job(id);
  const model::Shape& shape = shape_of(instance.workload, id);
  std::optional<Squeeze> best;
  std::tuple<double, std::int64_t, std::int64_t> best_key;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const MachineId m(i);
    if (!takes(m, id)) continue;
    const double value = valuation_->best(id, value_type(shape, m));
    if (value <= 0.0 && !job.required && room_.free_milli(m) > 0) continue;
    auto found = squeeze_into(shape, value, m);
    if (!found) continue;
    const std::tuple key(-found->gain, planned_.free_milli(m), planned_.free_cpu(m));
    if (best && best_key <= key) continue;
    best = std::move(found);
    best_key = key;
  }
  return best;
}

TaskPlacement Keeper::apply(JobId job, const Squeeze& squeeze) {
  for (const int p : squeeze.pushed) drop(p);
  return planned_[squeeze.machine].choose(squeeze.machine, 0,
                                          shape_of(valuation_->instance().workload, job));
}

std::vector<MachineId> Keeper::untouched() const {
  std::vector<MachineId> machines;
  for (std::size_t m = 0; m < touched_.size(); ++m) {
    if (touched_[m] == 0) machines.emplace_back(m);
  }
  return machines;
}

std::vector<MachineId> Keeper::with_room() const {
  std::vector<MachineId> machines;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const MachineId m(i);
    bool some = false;
    for (Kind k = 0; k < forecast_->kinds() && !some && room_.free_milli(m) > 0; ++k) {
      some = forecast_->shape(k).uses_gpu() && takes(m, forecast_->first(k));
    }
    if (some) machines.push_back(m);
  }
  return machines;
}

std::vector<std::int64_t> Keeper::kept_by_kind() const {
  std::vector<std::int64_t> kept(forecast_->kinds(), 0);
  for (Kind k = 0; k < of_kind_.size(); ++k) kept[k] = std::ssize(of_kind_[k]);
  return kept;
}

}  // namespace berth::solver
