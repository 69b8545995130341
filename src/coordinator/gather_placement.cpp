// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "berth/coordinator/coordinate.hpp"
#include "berth/coordinator/wire.hpp"

namespace berth::coordinator {
namespace {

/// The placement comes to rank 0 in so many parts, so that it does not lie there twice.
constexpr std::size_t kSlices = 16;

}  // namespace

model::Placement gather_placement(const comm::Communicator& comm,
                                  std::span<const solver::Shard> mine,
                                  const model::Placement& spanning) {
  model::Placement all;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    std::vector<std::int64_t> stream;
    for (const solver::Shard& shard : mine) {
      if (shard.id().index() % kSlices != slice) continue;
      const auto more = to_wire(shard.placement());
      stream.insert(stream.end(), more.begin(), more.end());
    }
    stream = comm.gather_varying<std::int64_t>(stream, 0);
    std::ranges::move(from_wire(stream), std::back_inserter(all));
  }
  if (comm.rank() != 0) return {};
  all.insert(all.end(), spanning.begin(), spanning.end());
  std::ranges::sort(all, {}, &model::JobPlacement::job);
  return all;
}

}  // namespace berth::coordinator
