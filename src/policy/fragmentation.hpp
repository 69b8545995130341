// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/model/free_machine.hpp"
#include "berth/policy/demand.hpp"

namespace berth::policy {

/// A kind of task and how common it is.
struct TypicalTask {
  model::Shape shape;
  std::uint64_t types = 0;  ///< bit t: GPU type t is allowed
  double share = 0.0;       ///< of all tasks

  [[nodiscard]] bool same_kind(const TypicalTask& other) const {
    return shape == other.shape && types == other.types;
  }
};

/// Kinds of tasks and their shares, which sum to 1. @param jobs  number, by entry of `demands`
std::vector<TypicalTask> typical_tasks(std::span<const Demand> demands,
                                       std::span<const std::int64_t> jobs);

/// Expected fragmentation of a machine (Weng et al., ATC 2023): the free GPU thousandths that a
/// task drawn from `typical` cannot use, all of them where it does not fit. Memory and the other
/// resources count as CPU does. A task without GPUs uses none. O(typical x devices)
double fragmentation(const model::FreeMachine& machine, GpuTypeId type,
                     std::span<const TypicalTask> typical);

}  // namespace berth::policy
