// SPDX-License-Identifier: Apache-2.0
#include "berth/report/plan_difference.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::report {
namespace {

bool same_places(const model::JobPlacement& a, const model::JobPlacement& b) {
  std::vector<model::TaskPlacement> first = a.tasks, second = b.tasks;
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return first == second;
}

/// Machines in order with their numbers of tasks.
template <class Machines, class NameOf>
std::string listed(const Machines& tasks_on, std::size_t width, const NameOf& name_of) {
  std::string text;
  for (const auto& [machine, tasks] : tasks_on) {
    std::string one = printable(name_of(machine));
    if (tasks > 1) one += fmt::format(" x{}", tasks);
    const std::size_t most = width < 5 ? 0 : width - 5;  // room for ", ..."
    if (!text.empty() && text.size() + 2 + one.size() > most) return text + ", ...";
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace

PlanDifference difference(const model::Placement& before, const model::Placement& after) {
  PlanDifference result;
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && a->job < b->job)) {
      result.stopped.push_back((a++)->job);
    } else if (a == before.end() || b->job < a->job) {
      result.placed.push_back((b++)->job);
    } else {
      (same_places(*a, *b) ? result.kept : result.moved).push_back(a->job);
      ++a, ++b;
    }
  }
  return result;
}

model::Placement running_placement(const model::WorkloadTables& tables) {
  model::Placement placement;
  for (const model::Running& running : tables.running) {
    if (running.pinned) continue;
    const auto tasks = tables.tasks_of(running);
    placement.push_back({.job = running.job, .tasks = {tasks.begin(), tasks.end()}});
  }
  return placement;
}

std::string places(const model::Cluster& cluster, const model::JobPlacement& placed,
                   std::size_t width) {
  std::map<MachineId, int> tasks_on;
  for (const model::TaskPlacement& task : placed.tasks) ++tasks_on[task.machine];
  return listed(tasks_on, width,
                [&](MachineId machine) { return cluster.machine_names[machine.index()]; });
}

std::string places(const model::RawPlacement& placed, std::size_t width) {
  std::map<std::string, int> tasks_on;
  for (const model::RawTask& task : placed.tasks) ++tasks_on[task.machine];
  return listed(tasks_on, width, [](const std::string& machine) { return machine; });
}

}  // namespace berth::report
