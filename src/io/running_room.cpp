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

/// Refuses running jobs that rules keep apart, unless all of them are pinned: a movable job may
/// also stay, so its present placement must be allowed.
void refuse_excluded(const model::Cluster& cluster, const WorkloadTables& tables,
                     std::span<const std::uint32_t> lines, const std::string& file) {
  const auto concerns_others = [&](const Running& r) {
    return tables.rules[r.rules].concern_others;
  };
  if (std::ranges::none_of(tables.running, concerns_others)) return;
  std::unordered_map<std::int32_t, std::vector<const Running*>> on;  // by machine
  for (const Running& running : tables.running) {
    for (const TaskPlacement& t : tables.tasks_of(running)) {
      std::vector<const Running*>& here = on[t.machine.value()];
      if (!here.empty() && here.back() == &running) continue;
      for (const Running* other : here) {
        if ((running.pinned && other->pinned) || other == &running ||
            model::may_share_machine(tables.rules[running.rules], tables.rules[other->rules])) {
          continue;
        }
        throw InputError(
            {.file = file, .line = lines[running.job.index()], .field = "running.tasks"},
            "runs on machine " + in_quotes(cluster.machine_names[t.machine.index()]) +
                " beside job " + in_quotes(tables.job_names[other->job.index()]) +
                ", which \"exclusive\" or \"not_with\" does not allow",
            "say \"pinned\": true for jobs that run against their rules");
      }
      here.push_back(&running);
    }
  }
}

}  // namespace

void pin_running(model::Cluster& cluster, const WorkloadTables& tables,
                 std::span<const ShapeId> shapes, std::span<const std::uint32_t> lines,
                 const std::string& file) {
  if (tables.running.empty()) return;
  refuse_excluded(cluster, tables, lines, file);
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
