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

using model::JobPlacement;
using model::Placement;

/// The placement travels in so many parts, so that it does not lie there twice.
constexpr std::size_t kSlices = 16;

class ByHome {
 public:
  explicit ByHome(const comm::Communicator& comm, const JobStore& store)
      : comm_(comm), store_(store), to_(static_cast<std::size_t>(comm.size())) {}

  void add(const JobPlacement& placed) {
    auto& stream = to_[static_cast<std::size_t>(store_.home(placed.job))];
    std::ranges::move(to_wire({placed}), std::back_inserter(stream));
  }

  /// Collective. What all ranks added for this one.
  Placement exchange() {
    std::vector<std::int64_t> all;
    std::vector<std::size_t> counts;
    for (auto& stream : to_) {
      counts.push_back(stream.size());
      all.insert(all.end(), stream.begin(), stream.end());
      stream.clear();
    }
    return from_wire(comm_.all_to_all_varying<std::int64_t>(all, counts).values);
  }

 private:
  const comm::Communicator& comm_;
  const JobStore& store_;
  std::vector<std::vector<std::int64_t>> to_;
};

}  // namespace

Placement placements_at_home(const comm::Communicator& comm, std::span<const solver::Shard> mine,
                             const Placement& spanning, const JobStore& store) {
  ByHome by_home(comm, store);
  Placement here;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    for (const solver::Shard& shard : mine) {
      if (shard.id().index() % kSlices != slice) continue;
      for (const JobPlacement& placed : shard.placement()) by_home.add(placed);
    }
    std::ranges::move(by_home.exchange(), std::back_inserter(here));
  }
  std::ranges::copy_if(spanning, std::back_inserter(here), [&](const JobPlacement& placed) {
    return store.home(placed.job) == comm.rank();
  });
  std::ranges::sort(here, {}, &JobPlacement::job);
  return here;
}

}  // namespace berth::coordinator
