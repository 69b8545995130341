// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "berth/comm/messages.hpp"
#include "berth/coordinator/coordinate.hpp"

namespace berth::coordinator {
namespace {

using model::JobPlacement;
using model::Placement;

/// Messages in which a placement is sent, so that memory holds a sixteenth of it twice:
/// decision 10.
constexpr std::size_t kSlices = 16;

}  // namespace

Placement placements_at_home(const comm::Communicator& comm, std::span<const solver::Shard> mine,
                             const Placement& spanning, const JobRecords& records) {
  Placement here;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    std::vector<ByteWriter> by_home(static_cast<std::size_t>(comm.size()));
    for (const solver::Shard& shard : mine) {
      if (shard.id().index() % kSlices != slice) continue;
      for (const JobPlacement& placed : shard.placement()) {
        by_home[static_cast<std::size_t>(records.home(placed.job))](placed);
      }
    }
    std::ranges::move(comm::exchange<JobPlacement>(comm, std::move(by_home)),
                      std::back_inserter(here));
  }
  std::ranges::copy_if(spanning, std::back_inserter(here), [&](const JobPlacement& placed) {
    return records.home(placed.job) == comm.rank();
  });
  std::ranges::sort(here, {}, &JobPlacement::job);
  return here;
}

}  // namespace berth::coordinator
