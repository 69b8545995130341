// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "berth/policy/state.hpp"
#include "berth/sim/berth_policy.hpp"

namespace berth::sim {

/// A job present and its place in the order of service: index, arrival, id.
struct IndexedJob {
  double index;  ///< the least is served first
  policy::Micros arrival;
  JobId job;
  auto operator<=>(const IndexedJob&) const = default;
};

inline bool runs(const policy::State& state, JobId job) {
  return state.progress(job).phase == policy::Phase::running;
}

/// Orders the jobs present by an index of their remaining GPU-time (docs/simulate.md).
class ServiceIndex {
 public:
  /// @param workload  of the objective value: it must outlive the index
  ServiceIndex(const BerthOptions& options, const model::Workload* workload)
      : options_(options), workload_(workload) {}

  /// True when the job runs and no decision may stop it yet.
  [[nodiscard]] bool stays(const policy::State& state, JobId job) const;
  /// When the job may be stopped first; kNever: it may not.
  [[nodiscard]] policy::Micros stays_until(const policy::State& state, JobId job) const;
  /// True for jobs that come first whatever they ask for: overdue ones, and gangs on their share.
  [[nodiscard]] static bool comes_first(const IndexedJob& job) { return job.index <= kFirst / 2.0; }
  /// Index of every job that does not stay, in the order given. O(present + late log late)
  std::vector<IndexedJob> index(const policy::State& state, std::span<const JobId> present);

 private:
  [[nodiscard]] double index_of(const policy::State& state, JobId job) const;
  [[nodiscard]] double time_left(const policy::State& state, JobId job) const;
  [[nodiscard]] double patience(const policy::State& state, JobId job) const;
  [[nodiscard]] double value_at_risk(const policy::State& state, JobId job, double time) const;
  [[nodiscard]] bool overdue(const policy::State& state, JobId job) const;
  void serve_first(const policy::State& state, std::vector<IndexedJob*>& jobs, double share,
                   double index) const;

  static constexpr double kFirst = -std::numeric_limits<double>::max();

  BerthOptions options_;
  const model::Workload* workload_;
  std::vector<IndexedJob*> overdue_, gangs_;
};

}  // namespace berth::sim
