// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/instance.hpp"

namespace berth::planner_model {

/// GPUs that a placed job keeps from others.
struct OccupiedGpus {
  std::int64_t milli = 0;  ///< thousandths, at least
  /// Of an exclusive job where all machine classes that hold its GPU tasks need equally many
  /// machines of equally many GPUs; 0 for others.
  std::int64_t machines = 0;
  std::int32_t per_machine = 0;
};

/// The GPUs that the job's tasks ask for or, of an exclusive job, all GPUs of the fewest empty
/// machines of one class that hold its GPU tasks: the least over the classes.
/// O(task groups), of an exclusive job O(task groups x machine classes).
OccupiedGpus occupied_gpus(const model::InstanceView& instance, const model::Job& job);

}  // namespace berth::planner_model
