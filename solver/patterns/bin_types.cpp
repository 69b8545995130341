// SPDX-License-Identifier: Apache-2.0
#include "packing_problem.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

namespace berth::solver {
namespace {

using Key = std::tuple<std::size_t, int, std::vector<int>, model::Resources, std::int32_t>;

std::vector<int> opened_devices(const planner_model::Room& room, MachineId m) {
  std::vector<int> partial;
  for (const std::int16_t free : room.devices(m)) {
    if (free > 0 && free < model::kGpuMilli) partial.push_back(free);
  }
  std::ranges::sort(partial, std::greater{});
  return partial;
}

/// `amount` rounded down to its `bits` leading binary digits.
std::int64_t coarser(std::int64_t amount, int bits) {
  const int width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(amount)));
  const int drop = std::max(0, width - bits);
  return (amount >> drop) << drop;
}

/// Key of the machines that share a bin type: resources rounded down to `bits` leading digits;
/// free thousandths of opened devices are rounded too when `bits` is 6 or less.
Key key_of(const model::Cluster& cluster, const planner_model::Room& room, MachineId m, int bits) {
  std::vector<int> partial = opened_devices(room, m);
  if (bits <= 6) {
    for (int& free : partial) free = static_cast<int>(coarser(free, bits));
  }
  const model::MachineClass& c = cluster.class_of(m);
  model::Resources free = room.free_resources(m);
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (free[r] != model::kNoLimit) free[r] = coarser(free[r], bits);
  }
  return {slot_of(c.gpu_type), room.whole_count(m), std::move(partial), free, c.gpu_slices};
}

}  // namespace

std::int64_t BinType::milli() const {
  return model::kGpuMilli * whole +
         std::accumulate(partial.begin(), partial.end(), std::int64_t{0});
}

std::vector<BinType> bin_types(const model::Cluster& cluster, const planner_model::Room& room,
                               std::span<const MachineId> machines, int aim) {
  std::vector<MachineId> up;
  std::ranges::copy_if(machines, std::back_inserter(up),
                       [&](MachineId m) { return room[m].is_up(); });
  std::ranges::sort(up);
  std::map<Key, std::vector<MachineId>> groups;
  for (const int bits : {62, 8, 6, 5, 4, 3}) {
    groups.clear();
    for (const MachineId m : up) groups[key_of(cluster, room, m, bits)].push_back(m);
    if (groups.size() <= static_cast<std::size_t>(std::max(aim, 1))) break;
  }
  std::vector<BinType> bins;
  for (auto& [key, members] : groups) {
    const auto& [slot, whole, partial, free, slices] = key;
    bins.push_back({slot, whole, partial, free, slices, std::move(members)});
  }
  std::ranges::sort(bins, {}, [](const BinType& s) { return s.machines.front(); });
  return bins;
}

ResidualProblem full_residual(const PackingProblem& problem) {
  ResidualProblem residual;
  for (const JobType& t : problem.types) {
    residual.demand.push_back(static_cast<std::int64_t>(t.jobs.size()));
  }
  for (const BinType& s : problem.bins) {
    residual.supply.push_back(static_cast<std::int64_t>(s.machines.size()));
  }
  return residual;
}

}  // namespace berth::solver
