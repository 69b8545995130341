// SPDX-License-Identifier: Apache-2.0
#include "search/machine_states.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/int128.hpp"

namespace berth::certify::search {
namespace {

using model::Shape;

/// Decreases with every task.
Int128 free_amounts(const MachineVariant& state) {
  Int128 sum = state.free_milli();
  for (const std::int64_t amount : state.room) sum += amount == model::kNoLimit ? 0 : amount;
  return sum;
}

/// The machine after a share of a device that has `free` thousandths left.
MachineVariant with_share(MachineVariant state, std::int64_t free, std::int64_t taken) {
  if (free == model::kGpuMilli) {
    --state.whole;
  } else {
    state.partly.erase(std::ranges::find(state.partly, static_cast<std::int16_t>(free)));
  }
  if (free > taken) {
    const auto rest = static_cast<std::int16_t>(free - taken);
    state.partly.insert(std::ranges::upper_bound(state.partly, rest), rest);
  }
  return state;
}

/// The machine after one task of the shape, for each distinct device of a share.
std::vector<MachineVariant> after(MachineVariant state, const Shape& shape) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (state.room[r] == model::kNoLimit) continue;
    if (shape.needs[r] > state.room[r]) return {};
    state.room[r] -= shape.needs[r];
  }
  if (shape.gpu_milli == 0) {
    if (shape.gpus > state.whole) return {};
    state.whole -= shape.gpus;
    return {std::move(state)};
  }
  const std::int64_t taken = in_slices(shape.gpu_milli, state.slices);
  std::vector<MachineVariant> all;
  if (std::ranges::binary_search(state.partly, static_cast<std::int16_t>(taken))) {
    return {with_share(std::move(state), taken, taken)};  // no other device is better
  }
  for (std::size_t d = 0; d < state.partly.size(); ++d) {
    const std::int64_t free = state.partly[d];
    if (free < taken || (d > 0 && free == state.partly[d - 1])) continue;
    all.push_back(with_share(state, free, taken));
  }
  if (state.whole > 0) all.push_back(with_share(state, model::kGpuMilli, taken));
  return all;
}

}  // namespace

MachineStates::MachineStates(const model::InstanceView& instance, std::span<const TaskKind> kinds,
                             std::size_t most)
    : workload_(instance.workload), kinds_(kinds.begin(), kinds.end()) {
  const MachineVariants variants(instance.cluster);
  for (std::size_t m = 0; m < instance.cluster.machines(); ++m) {
    MachineVariant start = variants[variants.of(MachineId(m))];
    start.machine_class = ClassId(0);  // equal room, equal state
    of_machine_.push_back(add(without_slack(std::move(start))));
  }
  first_.push_back(0);
  for (StateId s = 0; s < states_.size() && complete_; ++s) {
    add_fills(s);
    first_.push_back(fills_.size());
    complete_ = complete_ && fills_.size() <= most;
  }
  if (!complete_) return;
  sort_states();
  count_tasks();
}

StateId MachineStates::add(const MachineVariant& state) {
  const auto [at, fresh] = ids_.try_emplace(state, static_cast<StateId>(states_.size()));
  if (fresh) states_.push_back(state);
  return at->second;
}

bool MachineStates::allowed(const MachineVariant& state, KindId kind) const {
  if (!state.up) return false;
  if (!state.type.valid()) return kinds_[kind].without_gpu;
  return ((kinds_[kind].types >> state.type.index()) & 1) != 0;
}

void MachineStates::add_fills(StateId id) {
  for (KindId k = 0; k < kinds_.size(); ++k) {
    const MachineVariant state = states_[id];
    if (!allowed(state, k)) continue;
    for (const MachineVariant& next : after(state, workload_.shape(kinds_[k].shape))) {
      const StateId to = add(next);
      if (to == id) complete_ = false;  // a task without needs: no order of the states
      fills_.push_back({k, to});
    }
  }
}

MachineVariant MachineStates::without_slack(MachineVariant state) const {
  const std::int64_t milli = state.free_milli();
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (state.room[r] == model::kNoLimit) continue;
    const bool slack = std::ranges::all_of(kinds_, [&](const TaskKind& kind) {
      const Shape& s = workload_.shape(kind.shape);
      const Int128 used = Int128{s.needs[r]} * milli;  // if such tasks filled all devices
      return s.needs[r] == 0 || used <= Int128{state.room[r]} * s.total_milli();
    });
    if (slack) state.room[r] = model::kNoLimit;
  }
  return state;
}

void MachineStates::sort_states() {
  for (StateId s = 0; s < states_.size(); ++s) order_.push_back(s);
  std::ranges::stable_sort(order_, {}, [&](StateId s) { return free_amounts(states_[s]); });
}

void MachineStates::count_tasks() {
  most_.assign(states_.size() * kinds_.size(), 0);
  for (const StateId s : order_) {
    for (const Fill& fill : fills(s)) {
      std::int32_t& count = most_[s * kinds_.size() + fill.kind];
      count = std::max(count, 1 + most(fill.next, fill.kind));
    }
  }
}

}  // namespace berth::certify::search
