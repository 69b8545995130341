// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/job.hpp"
#include "berth/model/task_placement.hpp"

namespace berth::policy {

/// `count` equal tasks.
struct DemandGroup {
  std::uint32_t group = 0;  ///< index among the job's task groups
  std::int32_t count = 1;
  model::Shape shape;

  bool operator==(const DemandGroup&) const = default;
};

/// What jobs ask of machines. Jobs with equal demands share one: where one does not fit, none does.
struct Demand {
  std::vector<DemandGroup> groups;  ///< largest tasks first
  model::Level domain = model::Level::cluster;
  std::uint32_t rules = 0;       ///< row of MachineRules::rows
  std::int64_t milli = 0;        ///< GPU thousandths of all tasks
  std::vector<GpuTypeId> types;  ///< allowed, fastest first; the invalid id: machines without GPUs
  std::vector<double> speeds;    ///< by entry of `types`: work in a second, > 0

  bool operator==(const Demand&) const = default;
  [[nodiscard]] bool uses_gpus() const { return milli > 0; }
  [[nodiscard]] double gpus() const { return static_cast<double>(milli) / 1000.0; }
  [[nodiscard]] std::int64_t tasks() const;  ///< number, of all groups
  [[nodiscard]] const model::Shape& shape_of(const model::TaskPlacement& task) const;
  /// @pre the type is allowed
  [[nodiscard]] double speed_on(GpuTypeId type) const;
};

/// The demand of one job. A type on which the work would exceed the job's limit is not allowed; a
/// job without GPUs has the types of machines that it may use. O(types + groups)
Demand demand_of(const model::InstanceView& instance, const model::Job& job);

/// The demand of an elastic job in one of its configurations.
Demand demand_of(const model::InstanceView& instance, const model::Job& job,
                 const model::Configuration& configuration);

}  // namespace berth::policy
