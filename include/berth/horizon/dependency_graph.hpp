// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/time_rules.hpp"

namespace berth::horizon {

/// Which jobs wait for which, both ways. O(jobs + dependencies) memory; nothing without
/// dependencies.
class DependencyGraph {
 public:
  /// @param dependencies  distinct, without cycles
  DependencyGraph(std::size_t jobs, std::span<const model::Dependency> dependencies);

  [[nodiscard]] bool empty() const { return before_.jobs.empty(); }
  /// Jobs that must have ended before this one starts, ascending.
  [[nodiscard]] std::span<const JobId> before(JobId job) const { return before_.of(job); }
  /// Jobs that wait for this one, ascending.
  [[nodiscard]] std::span<const JobId> after(JobId job) const { return after_.of(job); }

  /// The jobs of a list in its order, but each one directly after those of the list that it waits
  /// for and that would come later. O(list + dependencies).
  [[nodiscard]] std::vector<JobId> ordered(std::span<const JobId> list) const;

 private:
  struct Neighbours {
    std::vector<std::int32_t> begin;  ///< by JobId, jobs + 1; empty without dependencies
    std::vector<JobId> jobs;

    [[nodiscard]] std::span<const JobId> of(JobId job) const {
      if (jobs.empty()) return {};
      const auto first = static_cast<std::size_t>(begin[job.index()]);
      return std::span(jobs).subspan(first,
                                     static_cast<std::size_t>(begin[job.index() + 1]) - first);
    }
  };
  static Neighbours neighbours(std::size_t jobs, std::vector<model::Dependency> pairs);

  Neighbours before_, after_;
};

}  // namespace berth::horizon
