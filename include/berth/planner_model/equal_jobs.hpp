// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/planner_model/precedence.hpp"

namespace berth::planner_model {

/// Hash of every property of a job except id, priority and arrival: tasks, value, GPU types, home,
/// queue, traffic. (Of the priority too where it weights values.) Equal jobs have equal classes,
/// and may exchange placements without any change of value or load. 128 bits: two of 10^9 classes
/// coincide with probability 10^-20.
struct JobClass {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const JobClass&) const = default;
};
/// @pre the job does not run: a running job differs from all others by its present place. O(task
/// groups)
JobClass job_class(const model::WorkloadView& workload, const model::Job& job);
/// The same without base value, queue, requiredness and present place: jobs of one kind fit into
/// the same free room. O(task groups)
JobClass job_kind(const model::WorkloadView& workload, const model::Job& job);

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

/// Exchanges after which the placed jobs of each class are its first ones in precedence, and the
/// first of these have the places of largest value. A job that already has a place of the value due
/// to it keeps it. Each job gives and receives at most one place. The result is a function of the
/// set of jobs, not of their order. O(jobs log jobs)
std::vector<Handover> handovers(std::vector<EqualJob> jobs);

}  // namespace berth::planner_model
