// SPDX-License-Identifier: Apache-2.0
#include "machine_variants.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>

namespace berth::certify {
namespace {

MachineVariant empty(const model::Cluster& cluster, ClassId c) {
  const model::MachineClass& m = cluster.classes[c.index()];
  return {.machine_class = c,
          .type = m.gpu_type,
          .room = m.capacity,
          .slices = m.gpu_slices,
          .whole = m.gpus,
          .partly = {}};
}

/// @param content  all that is immovable on the machine
MachineVariant without(MachineVariant variant, std::span<const model::Immovable> content) {
  std::array<std::int64_t, model::kMaxGpusPerMachine> device{};
  const auto devices = std::span(device).first(static_cast<std::size_t>(variant.whole));
  std::ranges::fill(devices, model::kGpuMilli);
  for (const model::Immovable& piece : content) {
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (variant.room[r] != model::kNoLimit) variant.room[r] -= piece.taken[r];
    }
    for (std::uint64_t rest = piece.devices; rest != 0; rest &= rest - 1) {
      device[static_cast<std::size_t>(std::countr_zero(rest))] -=
          in_slices(piece.milli, variant.slices);
    }
  }
  for (std::size_t r = 0; r < model::kResources; ++r) {
    variant.room[r] = std::max<std::int64_t>(0, variant.room[r]);
  }
  variant.whole = std::ranges::count(devices, model::kGpuMilli);
  for (const std::int64_t milli : devices) {
    if (milli > 0 && milli < model::kGpuMilli) {
      variant.partly.push_back(static_cast<std::int16_t>(milli));
    }
  }
  std::ranges::sort(variant.partly);
  return variant;
}

/// The variant of a machine where no task may start.
MachineVariant down(const MachineVariant& empty) {
  return {.machine_class = empty.machine_class, .type = empty.type, .up = false, .partly = {}};
}

}  // namespace

std::int64_t slices_of(std::int64_t milli, std::int32_t slices) {
  return slices == 0 ? milli : (milli * slices + 999) / 1000;
}

std::int64_t in_slices(std::int64_t milli, std::int32_t slices) {
  return slices == 0 ? milli : 1000 * slices_of(milli, slices) / slices;
}

std::int64_t MachineVariant::free_milli() const {
  return std::accumulate(partly.begin(), partly.end(), model::kGpuMilli * whole);
}

MachineVariants::MachineVariants(const model::Cluster& cluster) : cluster_(&cluster) {
  for (std::size_t c = 0; c < cluster.classes.size(); ++c) {
    variants_.push_back(empty(cluster, ClassId(c)));
  }
  if (!cluster.machine_state.empty() || !cluster.immovable.empty()) find_states();
  present_.assign(variants_.size(), false);
  for (std::size_t m = 0; m < cluster.machines(); ++m) present_[of(MachineId(m)).index()] = true;
}

void MachineVariants::find_states() {
  const model::Cluster& cluster = *cluster_;
  std::map<MachineVariant, VariantId> known;
  for (std::size_t k = 0; k < variants_.size(); ++k) known.try_emplace(variants_[k], VariantId(k));
  of_machine_.reserve(cluster.machines());
  auto next = cluster.immovable.begin();
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const auto first = next;
    while (next != cluster.immovable.end() && next->machine == MachineId(m)) ++next;
    const ClassId c = cluster.machine_class[m];
    const bool up = cluster.state_of(MachineId(m)) == model::MachineState::up;
    of_machine_.emplace_back(c.index());
    if (up && first == next) continue;
    const MachineVariant& whole = variants_[c.index()];
    MachineVariant variant = up ? without(whole, {first, next}) : down(whole);
    const auto [entry, fresh] = known.try_emplace(std::move(variant), VariantId(variants_.size()));
    if (fresh) variants_.push_back(entry->first);
    of_machine_.back() = entry->second;
  }
}

}  // namespace berth::certify
