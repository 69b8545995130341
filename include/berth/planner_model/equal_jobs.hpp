// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/planner_model/precedence.hpp"

namespace berth::planner_model {

/// Hash of every property of a job except id, priority and arrival: tasks, value, GPU types, home,
/// queue, traffic. Equal jobs have equal classes, and may exchange placements without any change of
/// value or load. 128 bits: two of 10^9 classes coincide with probability 10^-20.
struct JobClass {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const JobClass&) const = default;
};
/// @pre the job does not run: a running job differs from all others by its present place. O(task
/// groups)
JobClass job_class(const model::Workload& workload, const model::Job& job);

/// A job that may give its placement to an equal one. Trivially copyable.
struct EqualJob {
  JobClass of;
  Precedence precedence;
  bool placed = false;
  double value = 0.0;  ///< at its present place
};

/// The placement of one job is given to another, equal one.
struct Handover {
  JobId from, to;
};

/// Exchanges after which, among equal jobs, those first in precedence are placed, and the first of
/// these at the places of most value. A job keeps its place if it is due one of that value. Each
/// job gives or receives at most one place. Depends on the set of jobs alone. O(jobs log jobs)
std::vector<Handover> handovers(std::vector<EqualJob> jobs);

}  // namespace berth::planner_model
