// SPDX-License-Identifier: Apache-2.0
#include "divisible_contents.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "berth/base/int128.hpp"

namespace berth::solver {
namespace {

/// Free thousandths of a bin type that may hold the same sizes: all whole devices together, and
/// each opened device.
std::vector<std::int64_t> parts_of(const BinType& bin) {
  std::vector<std::int64_t> parts(bin.partial.begin(), bin.partial.end());
  if (bin.whole > 0) parts.push_back(model::kGpuMilli * bin.whole);
  return parts;
}

/// Thousandths that one bundle takes of the devices of this bin type.
std::int64_t size_on(const BinType& bin, const model::Shape& total) {
  return model::kGpuMilli * total.gpus + bin.share(total);
}

/// True when tasks of this bundle alone use up no resource before the devices.
bool devices_bind_first(const BinType& bin, const model::Shape& total) {
  for (std::size_t r = 0; r < model::kResources; ++r) {
    if (bin.room[r] == model::kNoLimit || total.needs[r] == 0) continue;
    const Int128 used = static_cast<Int128>(total.needs[r]) * bin.milli();
    if (used > static_cast<Int128>(bin.room[r]) * size_on(bin, total)) return false;
  }
  return true;
}

bool divisible(const BinType& bin, const TaskRows& rows) {
  std::vector<std::int64_t> sizes;
  for (const std::int32_t b : rows.bundles_on(bin.slot)) {
    const model::Shape& total = rows.bundles()[static_cast<std::size_t>(b)].total;
    if (!total.uses_gpu() || !devices_bind_first(bin, total)) return false;
    sizes.push_back(size_on(bin, total));
  }
  std::ranges::sort(sizes);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (sizes[i + 1] % sizes[i] != 0) return false;
  }
  return std::ranges::all_of(parts_of(bin), [&](std::int64_t part) {
    return std::ranges::all_of(sizes, [&](std::int64_t size) { return part % size == 0; });
  });
}

}  // namespace

bool contents_divisible(std::span<const BinType> bins, const TaskRows& rows) {
  return std::ranges::all_of(bins, [&](const BinType& bin) { return divisible(bin, rows); });
}

}  // namespace berth::solver
