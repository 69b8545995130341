// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/model/free_machine.hpp"
#include "berth/model/instance.hpp"

namespace berth::planner_model {

/// Fragmentation: the free GPUs of a machine that tasks of the workload could not use for want of
/// its other resources, as the mean over kKinds task shapes. Best fit that lets it grow least keeps
/// GPUs usable (fragmentation gradient descent: Weng et al., USENIX ATC 2023; there over
/// whole tasks, here tasks are divisible and GPUs alone never fragment).
class Fragmentation {
 public:
  static constexpr std::size_t kKinds = 16;

  Fragmentation() = default;  ///< of no workload: nothing fragments
  /// Of the shapes of the workload that use GPUs, evenly spaced by the scarcest of their other
  /// needs. Of none where every shape asks for its share of every machine or less.
  /// O(shapes log shapes + classes)
  explicit Fragmentation(const model::InstanceView& instance);

  /// True when nothing fragments.
  [[nodiscard]] bool none() const { return !some_; }
  /// GPU thousandths by which one more task lets the fragmentation of a machine grow; negative when
  /// its GPUs could not have been used in another way. @pre the task fits. O(kKinds)
  [[nodiscard]] std::int64_t growth(const model::FreeMachine& free,
                                    const model::Shape& shape) const;

 private:
  [[nodiscard]] double of(double gpu_milli,
                          const std::array<double, model::kResources>& free) const;

  bool some_ = false;
  /// GPU thousandths of each kind that one unit of a resource serves; infinite without a need.
  std::array<std::array<double, kKinds>, model::kResources> served_{};
};

}  // namespace berth::planner_model
