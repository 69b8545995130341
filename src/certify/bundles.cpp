// SPDX-License-Identifier: Apache-2.0
#include "bundles.hpp"

#include "worth.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace berth::certify {
namespace {

using model::Job;
using model::Workload;
using Task = JobFacts::Task;
using Tasks = std::span<const Task>;

/// All tasks of such a job lie on one machine and take whole GPUs, or none.
bool lies_together(const Workload& workload, const Job& job) {
  if (job.domain != model::Level::machine) return false;
  return workload.tasks(job) > 1 && is_countable(workload, job);
}

/// The job's tasks by shape, as a bundle; types apart.
std::vector<Task> tasks_of(const Workload& workload, const Job& job) {
  std::map<ShapeId, std::int64_t> tasks;
  for (const model::TaskGroup& g : workload.groups_of(job)) tasks[g.shape] += g.count;
  std::vector<Task> bundle;
  for (const auto& [shape, count] : tasks) {
    bundle.push_back({.shape = shape, .last = false, .count = count});
  }
  bundle.back().last = true;
  return bundle;
}

/// The order of bundles: by number of different tasks, then by these.
struct Before {
  bool operator()(Tasks a, Tasks b) const {
    const auto content = [](const Task& t) { return std::pair(t.shape, t.count); };
    if (a.size() != b.size()) return a.size() < b.size();
    return std::ranges::lexicographical_compare(a, b, {}, content, content);
  }
};

/// Bundles that are the same.
void unite(std::span<Task> bundle, Tasks with) {
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    bundle[i].types |= with[i].types;
    bundle[i].copies += with[i].copies;
  }
}

/// Adds the first bundle of `from` and leaves it out there.
void move_first(Tasks& from, std::vector<Task>& to) {
  const Tasks first = first_bundle(from);
  to.insert(to.end(), first.begin(), first.end());
  from = from.subspan(first.size());
}

}  // namespace

std::vector<Task> bundles_of(const Workload& workload, std::span<const JobId> jobs) {
  std::vector<Task> single(workload.shapes.size());
  std::map<std::vector<Task>, std::uint64_t, Before> together;
  for (const JobId id : jobs) {
    const Job& job = workload.job(id);
    if (lies_together(workload, job)) {
      together[tasks_of(workload, job)] |= job.gpu_types;
      continue;
    }
    const bool gpu_job = uses_gpu(workload, job);
    for (const model::TaskGroup& g : workload.groups_of(job)) {
      const bool follows = !gpu_job || workload.shape(g.shape).uses_gpu();
      single[g.shape.index()].types |= follows ? job.gpu_types : kAnyType;
      single[g.shape.index()].copies += g.count;
    }
  }
  for (std::size_t s = 0; s < single.size(); ++s) single[s].shape = ShapeId(s);
  std::erase_if(single, [](const Task& task) { return task.types == 0; });  // nobody has it
  std::vector<Task> rest;
  for (const auto& [bundle, types] : together) {
    for (const Task& task : bundle) rest.push_back(task), rest.back().types = types;
  }
  return merged(single, rest);
}

std::vector<Task> merged(Tasks a, Tasks b) {
  std::vector<Task> all;
  all.reserve(a.size() + b.size());
  while (!a.empty() && !b.empty()) {
    const Tasks first = first_bundle(a), other = first_bundle(b);
    if (Before{}(other, first)) {
      move_first(b, all);
      continue;
    }
    const bool same = !Before{}(first, other);
    move_first(a, all);
    if (!same) continue;
    unite(std::span(all).last(other.size()), other);
    b = b.subspan(other.size());
  }
  all.insert(all.end(), a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace berth::certify
