// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/packed_placement.hpp"

#include <bit>

#include "berth/base/assert.hpp"

namespace berth::coordinator {

std::vector<std::int64_t> pack_placement(const model::Placement& placement) {
  std::vector<std::int64_t> stream;
  for (const model::JobPlacement& p : placement) {
    stream.insert(stream.end(), {p.job.value(), p.start, std::ssize(p.tasks)});
    for (const model::TaskPlacement& t : p.tasks) {
      stream.insert(stream.end(), {t.machine.value(), static_cast<std::int64_t>(t.group),
                                   std::bit_cast<std::int64_t>(t.devices), t.milli});
    }
  }
  return stream;
}

model::Placement unpack_placement(std::span<const std::int64_t> stream) {
  model::Placement placement;
  std::size_t at = 0;
  const auto next = [&] {
    BERTH_EXPECT(at < stream.size());
    return stream[at++];
  };
  while (at < stream.size()) {
    model::JobPlacement p{.job = JobId(static_cast<std::int32_t>(next())), .start = next()};
    p.tasks.resize(static_cast<std::size_t>(next()));
    for (model::TaskPlacement& t : p.tasks) {
      t.machine = MachineId(static_cast<std::int32_t>(next()));
      t.group = static_cast<std::uint32_t>(next());
      t.devices = std::bit_cast<std::uint64_t>(next());
      t.milli = static_cast<std::int32_t>(next());
    }
    placement.push_back(std::move(p));
  }
  return placement;
}

}  // namespace berth::coordinator
