// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/model/precedence.hpp"

namespace berth::model {

/// What tells jobs apart beside id, priority and arrival: tasks, value, GPU types, home, queue,
/// traffic. Equal jobs have the same class and can take each other's places at the same value and
/// load. A hash of 128 bits: two classes out of 10^9 coincide with probability 10^-20.
struct JobClass {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const JobClass&) const = default;
};
/// @pre the job waits: one that runs differs from all others in where it runs. O(task groups)
JobClass job_class(const Workload& workload, const Job& job);

/// A job that may hand its place over to an equal one. Trivially copyable.
struct EqualJob {
  JobClass of;
  Precedence precedence;
  bool placed = false;
  double value = 0.0;  ///< as placed
};

/// The place of one job becomes that of another, equal one.
struct Handover {
  JobId from, to;
};

/// What it takes that of equal jobs those with precedence are placed, and those first where the
/// value is most. A job that keeps its rights keeps its place. No job gives or gets more than one.
/// Depends on the set of jobs alone. O(jobs log jobs)
std::vector<Handover> handovers(std::vector<EqualJob> jobs);

}  // namespace berth::model
