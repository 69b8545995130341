// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "berth/report/summary.hpp"

namespace berth::report {
namespace {

std::string counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// GPUs of a cluster.
struct GpuCounts {
  std::vector<std::int64_t> by_type;
  std::int64_t all = 0;
  std::int64_t closed = 0;           ///< on machines that are not up
  std::int64_t closed_machines = 0;  ///< with or without GPUs
  std::int64_t held_milli = 0;       ///< of machines that are up, by what no plan moves
};

GpuCounts count_gpus(const model::Cluster& cluster) {
  GpuCounts counts;
  counts.by_type.resize(cluster.gpu_types.size(), 0);
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::MachineClass& kind = cluster.class_of(MachineId(m));
    const bool up = cluster.state_of(MachineId(m)) == model::MachineState::up;
    if (kind.gpus > 0) counts.by_type[kind.gpu_type.index()] += kind.gpus;
    counts.all += kind.gpus;
    counts.closed += up ? 0 : kind.gpus;
    counts.closed_machines += up ? 0 : 1;
  }
  for (const model::Immovable& held : cluster.immovable) {
    if (cluster.state_of(held.machine) != model::MachineState::up) continue;
    counts.held_milli += std::int64_t{held.milli} * std::popcount(held.devices);
  }
  return counts;
}

std::string types_text(const model::Cluster& cluster, const GpuCounts& counts) {
  std::string text;
  for (std::size_t t = 0; t < counts.by_type.size(); ++t) {
    if (counts.by_type[t] == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? " (" : ", ", counts.by_type[t], cluster.gpu_types[t]);
  }
  return text.empty() ? text : text + ")";
}

std::int64_t free_milli(const GpuCounts& counts) {
  return 1000 * (counts.all - counts.closed) - counts.held_milli;
}

std::string asked_text(const GpuCounts& counts, const PlanOrigin& origin) {
  const double asked = static_cast<double>(origin.gpu_milli) / 1000.0;
  std::string text = fmt::format("{} for {:.10g} GPUs", counted(origin.jobs, "job"), asked);
  const double usable = static_cast<double>(free_milli(counts)) / 1000.0;
  if (usable > 0.0) text += fmt::format(", load {:.2f}", asked / usable);
  if (origin.running > 0) text += fmt::format("; {} run", origin.running);
  if (origin.pinned > 0) text += fmt::format("; {} more pinned", origin.pinned);
  return text;
}

}  // namespace

PlanRoom plan_room(const model::Cluster& cluster, std::int64_t pinned) {
  return {.gpu_milli = free_milli(count_gpus(cluster)), .pinned = pinned};
}

std::string heading(const model::Cluster& cluster, const PlanOrigin& origin) {
  const GpuCounts counts = count_gpus(cluster);
  const auto row = [](std::string_view name, const std::string& value) {
    return fmt::format("  {:<14}{}\n", name, value);
  };
  std::string text =
      row("program", fmt::format("{}, {} x {}", origin.program, counted(origin.ranks, "rank"),
                                 counted(origin.threads, "thread")));
  text +=
      row("cluster", fmt::format("{}, {}, {}",
                                 counted(static_cast<std::int64_t>(cluster.machines()), "machine"),
                                 counted(std::ssize(cluster.racks), "rack"),
                                 counted(std::ssize(cluster.pods), "pod")));
  text += row("", fmt::format("{} GPUs{}", counts.all, types_text(cluster, counts)));
  if (counts.closed_machines > 0) {
    text += row("", fmt::format("{} usable: {} on {} not up", counts.all - counts.closed,
                                counts.closed, counted(counts.closed_machines, "machine")));
  }
  if (counts.held_milli > 0) {
    text += row("", fmt::format("{:.10g} busy already, with what no plan moves",
                                static_cast<double>(counts.held_milli) / 1000.0));
  }
  return text + row("to plan", asked_text(counts, origin));
}

}  // namespace berth::report
