// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"

namespace berth::certify::search {

/// Upper bound on what placed jobs gain over leaving all jobs unplaced (running ones stopped), in
/// fixed point, of every plan that places at least `required_placed`: best-first search over the
/// placements of the jobs, largest first (A*: Hart, Nilsson and Raphael 1968). Equal rooms are
/// searched once. The result is the largest bound of an open node, so it is exact when a node with
/// all jobs decided is the best. Limits of racks and pods are left out.
///
/// @param steps  tasks tried at most
/// Empty: nothing was proved, because the states of machines are too many. O(steps x machines).
std::optional<Int128> best_first_bound(const model::InstanceView& instance,
                                       model::Objective objective, int scale_log2,
                                       std::span<const JobId> required_placed, std::int64_t steps);

}  // namespace berth::certify::search
