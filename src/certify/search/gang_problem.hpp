// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"

namespace berth::certify::search {

/// Jobs with GPUs, in places that contain each other: the GPUs of one type in a rack, in a pod, in
/// the cluster. A job placed within one rack is in that rack; over racks of one pod, in the pod;
/// over pods, in the cluster. Only GPUs count, so that every plan is a choice of places.
struct GangProblem {
  struct Place {
    std::int32_t above = -1;    ///< an earlier place; -1: none
    std::int32_t capacity = 0;  ///< units
  };
  struct Gang {
    std::int32_t size = 0;  ///< units, > 0
    /// by place: value placed less value unplaced, in fixed point; 0: nothing is gained
    std::vector<Int128> gain;
  };

  std::vector<Place> places;
  std::vector<Gang> gangs;  ///< largest first; those that gain somewhere
  Int128 others = 0;        ///< most that jobs without GPUs gain
};

/// A machine holds a multiple of the common divisor of all tasks; units are the common divisor of
/// all jobs. Places where no job gains more than in the place above are left out, jobs there count
/// in that place. Empty: more than `most` jobs have GPUs. O(jobs x places).
std::optional<GangProblem> gang_problem(const model::InstanceView& instance,
                                        model::Objective objective, int scale_log2,
                                        std::size_t most);

}  // namespace berth::certify::search
