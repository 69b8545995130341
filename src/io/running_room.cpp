// SPDX-License-Identifier: Apache-2.0
#include "running_room.hpp"

#include "words.hpp"

#include <algorithm>
#include <unordered_map>

#include "berth/base/error.hpp"
#include "berth/model/free_machine.hpp"

namespace berth::io {

using model::Running;
using model::TaskPlacement;
using model::WorkloadTables;

namespace {

/// Calls visit for the amounts that each task of the job takes of its machine.
template <class Visit>
void visit_pieces(const WorkloadTables& tables, std::span<const ShapeId> shapes,
                  const Running& running, const Visit& visit) {
  const auto tasks = tables.tasks_of(running);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TaskPlacement& t = tasks[i];
    const model::Shape& shape = tables.shape(shapes[running.first_task + i]);
    visit(model::Immovable{.machine = t.machine,
                           .devices = t.devices,
                           .milli = t.milli,
                           .taken = shape.needs,
                           .job = running.job});
  }
}

}  // namespace

void pin_running(model::Cluster& cluster, const WorkloadTables& tables,
                 std::span<const ShapeId> shapes, std::span<const std::uint32_t> lines,
                 const std::string& file) {
  if (tables.running.empty()) return;
  for (const Running& running : tables.running) {
    if (!running.pinned) continue;
    visit_pieces(tables, shapes, running,
                 [&](const model::Immovable& piece) { cluster.immovable.push_back(piece); });
  }
  std::ranges::stable_sort(cluster.immovable, {}, &model::Immovable::machine);
  std::unordered_map<std::int32_t, model::FreeMachine> free;  // machines with running jobs
  const auto on = [&](MachineId m) -> model::FreeMachine& {
    return free.try_emplace(m.value(), cluster.class_of(m)).first->second;
  };
  const auto take = [&](const model::Immovable& piece, std::int64_t at) {
    if (!on(piece.machine).fits(piece)) {
      throw InputError({.file = file, .line = at, .field = "running.tasks"},
                       "machine " + in_quotes(cluster.machine_names[piece.machine.index()]) +
                           " does not hold all that is said to run there");
    }
    on(piece.machine).take(piece);
  };
  for (const model::Immovable& piece : cluster.immovable) {
    if (!piece.job.valid()) take(piece, 0);
  }
  for (const Running& running : tables.running) {
    const std::int64_t at = lines[running.job.index()];
    visit_pieces(tables, shapes, running, [&](const model::Immovable& piece) { take(piece, at); });
  }
}

}  // namespace berth::io
