// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/dependency_graph.hpp"

#include <algorithm>
#include <utility>

namespace berth::horizon {

DependencyGraph::DependencyGraph(std::size_t jobs,
                                 std::span<const model::Dependency> dependencies) {
  std::vector<model::Dependency> pairs(dependencies.begin(), dependencies.end());
  before_ = neighbours(jobs, pairs);
  for (model::Dependency& pair : pairs) std::swap(pair.job, pair.after);
  after_ = neighbours(jobs, std::move(pairs));
}

/// The `after` of each job's pairs.
DependencyGraph::Neighbours DependencyGraph::neighbours(std::size_t jobs,
                                                        std::vector<model::Dependency> pairs) {
  Neighbours result;
  if (pairs.empty()) return result;
  std::ranges::sort(pairs);
  result.begin.assign(jobs + 1, 0);
  for (const model::Dependency& pair : pairs) {
    ++result.begin[pair.job.index() + 1];
    result.jobs.push_back(pair.after);
  }
  for (std::size_t j = 0; j < jobs; ++j) result.begin[j + 1] += result.begin[j];
  return result;
}

std::vector<JobId> DependencyGraph::ordered(std::span<const JobId> list) const {
  if (empty()) return {list.begin(), list.end()};
  std::vector<bool> missing(before_.begin.size(), false);
  for (const JobId job : list) missing[job.index()] = true;
  std::vector<JobId> result;
  std::vector<std::pair<JobId, std::size_t>> path;  // a job, and how many of its before are done
  for (const JobId first : list) {
    if (missing[first.index()]) path.emplace_back(first, 0);
    while (!path.empty()) {
      auto& [job, done] = path.back();
      const auto needed = before(job);
      while (done < needed.size() && !missing[needed[done].index()]) ++done;
      if (done < needed.size()) {
        path.emplace_back(needed[done], 0);
        continue;
      }
      missing[job.index()] = false;
      result.push_back(job);
      path.pop_back();
    }
  }
  return result;
}

}  // namespace berth::horizon
