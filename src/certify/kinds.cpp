// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>

namespace berth::certify {
namespace {

Kind empty(const model::Cluster& cluster, ClassId c) {
  const model::MachineClass& m = cluster.classes[c.index()];
  return {.machine_class = c,
          .type = m.gpu_type,
          .cpu_milli = m.cpu_milli,
          .memory_mib = m.memory_mib,
          .nic_mbps = m.nic_mbps,
          .slices = m.gpu_slices,
          .whole = m.gpus,
          .partly = {}};
}

/// @param content  all that is immovable on the machine
Kind without(Kind kind, std::span<const model::Immovable> content) {
  std::array<std::int64_t, model::kMaxGpusPerMachine> device{};
  const auto devices = std::span(device).first(static_cast<std::size_t>(kind.whole));
  std::ranges::fill(devices, model::kGpuMilli);
  for (const model::Immovable& piece : content) {
    kind.cpu_milli -= piece.cpu_milli;
    kind.memory_mib -= piece.memory_mib;
    if (kind.nic_mbps != model::kNoLimit) kind.nic_mbps -= piece.nic_mbps;
    for (std::uint64_t rest = piece.devices; rest != 0; rest &= rest - 1) {
      device[static_cast<std::size_t>(std::countr_zero(rest))] -=
          in_slices(piece.milli, kind.slices);
    }
  }
  kind.cpu_milli = std::max<std::int64_t>(0, kind.cpu_milli);
  kind.memory_mib = std::max<std::int64_t>(0, kind.memory_mib);
  kind.nic_mbps = std::max<std::int64_t>(0, kind.nic_mbps);
  kind.whole = std::ranges::count(devices, model::kGpuMilli);
  for (const std::int64_t milli : devices) {
    if (milli > 0 && milli < model::kGpuMilli) {
      kind.partly.push_back(static_cast<std::int16_t>(milli));
    }
  }
  std::ranges::sort(kind.partly);
  return kind;
}

/// Nothing may start here.
Kind down(const Kind& empty) {
  return {.machine_class = empty.machine_class, .type = empty.type, .up = false, .partly = {}};
}

}  // namespace

std::int64_t slices_of(std::int64_t milli, std::int32_t slices) {
  return slices == 0 ? milli : (milli * slices + 999) / 1000;
}

std::int64_t in_slices(std::int64_t milli, std::int32_t slices) {
  return slices == 0 ? milli : 1000 * slices_of(milli, slices) / slices;
}

std::int64_t Kind::free_milli() const {
  return std::accumulate(partly.begin(), partly.end(), model::kGpuMilli * whole);
}

Kinds::Kinds(const model::Cluster& cluster) : cluster_(&cluster) {
  for (std::size_t c = 0; c < cluster.classes.size(); ++c) {
    kinds_.push_back(empty(cluster, ClassId(c)));
  }
  if (!cluster.machine_state.empty() || !cluster.immovable.empty()) find_states();
  present_.assign(kinds_.size(), false);
  for (std::size_t m = 0; m < cluster.machines(); ++m) present_[of(MachineId(m)).index()] = true;
}

void Kinds::find_states() {
  const model::Cluster& cluster = *cluster_;
  std::map<Kind, KindId> known;
  for (std::size_t k = 0; k < kinds_.size(); ++k) known.try_emplace(kinds_[k], KindId(k));
  of_machine_.reserve(cluster.machines());
  auto next = cluster.immovable.begin();
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const auto first = next;
    while (next != cluster.immovable.end() && next->machine == MachineId(m)) ++next;
    const ClassId c = cluster.machine_class[m];
    const bool up = cluster.state_of(MachineId(m)) == model::MachineState::up;
    of_machine_.emplace_back(c.index());
    if (up && first == next) continue;
    const Kind& whole = kinds_[c.index()];
    Kind kind = up ? without(whole, {first, next}) : down(whole);
    const auto [entry, fresh] = known.try_emplace(std::move(kind), KindId(kinds_.size()));
    if (fresh) kinds_.push_back(entry->first);
    of_machine_.back() = entry->second;
  }
}

}  // namespace berth::certify
