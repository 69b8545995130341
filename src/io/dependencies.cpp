// SPDX-License-Identifier: Apache-2.0
#include "dependencies.hpp"

#include "words.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

using model::Dependency;
using Index = std::unordered_map<std::string_view, JobId>;

[[noreturn]] void fail(const NamedJobs& jobs, JobId job, const std::string& problem,
                       const std::string& hint) {
  throw InputError({.file = jobs.file, .line = jobs.lines[job.index()], .field = "after"}, problem,
                   hint);
}

/// Jobs that wait for one another, each for the next one and the last for the first; empty: none.
/// Removes jobs that wait for no job that is left (A. B. Kahn, 1962).
std::vector<JobId> first_cycle(std::span<const Dependency> dependencies, std::size_t jobs) {
  std::vector<std::int32_t> waits_for(jobs, 0);  // jobs that are left
  std::vector<Dependency> by_after(dependencies.begin(), dependencies.end());
  std::ranges::sort(by_after, {}, &Dependency::after);
  for (const Dependency& d : dependencies) ++waits_for[d.job.index()];
  std::vector<JobId> free;
  for (std::size_t j = 0; j < jobs; ++j) {
    if (waits_for[j] == 0) free.emplace_back(j);
  }
  while (!free.empty()) {
    const JobId ended = free.back();
    free.pop_back();
    const auto first = std::ranges::lower_bound(by_after, ended, {}, &Dependency::after);
    for (auto d = first; d != by_after.end() && d->after == ended; ++d) {
      if (--waits_for[d->job.index()] == 0) free.push_back(d->job);
    }
  }
  const auto left = std::ranges::find_if(waits_for, [](std::int32_t n) { return n > 0; });
  if (left == waits_for.end()) return {};
  std::vector<JobId> path{JobId(static_cast<std::size_t>(left - waits_for.begin()))};
  constexpr std::int32_t kOnPath = -1;
  while (waits_for[path.back().index()] != kOnPath) {
    waits_for[path.back().index()] = kOnPath;
    auto d = std::ranges::lower_bound(dependencies, path.back(), {}, &Dependency::job);
    while (waits_for[d->after.index()] == 0) ++d;  // every job left waits for one that is left
    path.push_back(d->after);
  }
  return {std::ranges::find(path, path.back()), path.end() - 1};
}

void refuse_cycles(const NamedJobs& jobs, std::span<const Dependency> dependencies) {
  constexpr std::size_t kMostNames = 8;  // in the message
  std::vector<JobId> cycle = first_cycle(dependencies, jobs.names.size());
  if (cycle.empty()) return;
  std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
  std::string text = in_quotes(jobs.names[cycle.front().index()]);
  for (std::size_t i = 1; i < std::min(cycle.size(), kMostNames); ++i) {
    text += " after " + in_quotes(jobs.names[cycle[i].index()]);
  }
  if (cycle.size() > kMostNames) text += " after ...";
  text += " after " + in_quotes(jobs.names[cycle.front().index()]);
  fail(jobs, cycle.front(), "jobs wait for one another: " + text, "drop one of these");
}

Index index_of(const NameTable& names) {
  Index index;
  index.reserve(names.size());
  for (std::size_t j = 0; j < names.size(); ++j) index.emplace(names[j], JobId(j));
  return index;
}

/// Looks up the window's jobs; returns the first unknown one.
std::string_view find_jobs(const Index& index, model::Window& window) {
  std::string_view unknown;
  window.job_ids.clear();
  for (const std::string& name : window.jobs) {
    const auto found = index.find(name);
    if (found != index.end()) window.job_ids.push_back(found->second);
    if (found == index.end() && unknown.empty()) unknown = name;
  }
  std::ranges::sort(window.job_ids);
  return unknown;
}

}  // namespace

std::vector<std::string> resolve_job_names(
    const NamedJobs& jobs, std::span<const BlockTables::NamedDependency> dependencies,
    std::vector<Dependency>& resolved, std::vector<model::Window>& windows) {
  const auto names_jobs = [](const model::Window& window) { return !window.jobs.empty(); };
  if (dependencies.empty() && std::ranges::none_of(windows, names_jobs)) return {};
  const Index index = index_of(jobs.names);
  std::vector<std::string> notes;
  for (model::Window& window : windows) {
    const std::string_view unknown = find_jobs(index, window);
    if (unknown.empty()) continue;
    notes.push_back(jobs.file + ": has no job " + in_quotes(unknown) +
                    ", for which a window of the cluster reserves machines");
  }
  for (const BlockTables::NamedDependency& d : dependencies) {
    const auto found = index.find(d.after);
    if (found == index.end()) {
      fail(jobs, d.job, "unknown job " + in_quotes(d.after),
           "name jobs of this file; leave out those that have ended");
    }
    resolved.push_back({d.job, found->second});
  }
  std::ranges::sort(resolved);
  resolved.erase(std::unique(resolved.begin(), resolved.end()), resolved.end());
  refuse_cycles(jobs, resolved);
  return notes;
}

}  // namespace berth::io
