// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::pipeline {

/// Room that a placement leaves free; machines of exclusive jobs have none. Shares are counted per
/// machine, not per device, so the numbers are upper bounds. Memory: 8 bytes for each machine and
/// amount.
class FreeRoom {
 public:
  /// Collective. @param placement  of some jobs; over all ranks every placed job once
  FreeRoom(const comm::Communicator& comm, const model::InstanceView& instance,
           const model::Placement& placement);

  /// The domain with the most free room for tasks of a shape.
  struct Best {
    std::int64_t tasks = 0;
    std::string domain;  ///< "rack r1", "pod p1"; empty for a machine and for the cluster
  };
  /// On machines of the type (invalid: any machine), within one domain of this level. Computed once
  /// for equal arguments: O(machines).
  const Best& best(ShapeId shape, GpuTypeId type, model::Level level);
  /// Tasks of a shape on a machine, whose GPU type the caller checks. O(resources)
  [[nodiscard]] std::int64_t tasks_on(MachineId machine, const model::Shape& shape) const;
  /// Free GPU thousandths of a type.
  [[nodiscard]] std::int64_t free_milli(GpuTypeId type) const { return milli_[type.index()]; }

 private:
  [[nodiscard]] Best count(const model::Shape& shape, GpuTypeId type, model::Level level) const;

  model::InstanceView instance_;
  /// [machine * kAmounts + k]: whole GPUs, GPU thousandths, exclusive jobs, then resources
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> milli_;  ///< by type
  std::map<std::tuple<ShapeId, GpuTypeId, model::Level>, Best> known_;
};

}  // namespace berth::pipeline
