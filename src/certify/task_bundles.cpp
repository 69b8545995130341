// SPDX-License-Identifier: Apache-2.0
#include "task_bundles.hpp"

#include "job_value.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace berth::certify {
namespace {

using model::Job;
using model::WorkloadView;
using BundleTasks = JobFacts::BundleTasks;
using TaskBundles = std::span<const BundleTasks>;

/// True when all tasks of the job must be on one machine and take whole GPUs or none.
bool lies_together(const WorkloadView& workload, const Job& job) {
  if (job.domain != model::Level::machine) return false;
  return workload.tasks(job) > 1 && is_countable(workload, job);
}

/// The job's tasks by shape, as one bundle without GPU types.
std::vector<BundleTasks> tasks_of(const WorkloadView& workload, const Job& job) {
  std::map<ShapeId, std::int64_t> tasks;
  for (const model::TaskGroup& g : workload.groups_of(job)) tasks[g.shape] += g.count;
  std::vector<BundleTasks> bundle;
  for (const auto& [shape, count] : tasks) {
    bundle.push_back({.shape = shape, .last = false, .count = count});
  }
  bundle.back().last = true;
  return bundle;
}

/// The order of bundles: by number of different tasks, then by these.
struct BundleOrder {
  bool operator()(TaskBundles a, TaskBundles b) const {
    const auto content = [](const BundleTasks& t) { return std::pair(t.shape, t.count); };
    if (a.size() != b.size()) return a.size() < b.size();
    return std::ranges::lexicographical_compare(a, b, {}, content, content);
  }
};

/// Merges equal bundles.
void unite(std::span<BundleTasks> bundle, TaskBundles with) {
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    bundle[i].types |= with[i].types;
    bundle[i].copies += with[i].copies;
  }
}

/// Moves the first bundle of `from` to the end of `to`.
void move_first(TaskBundles& from, std::vector<BundleTasks>& to) {
  const TaskBundles first = first_bundle(from);
  to.insert(to.end(), first.begin(), first.end());
  from = from.subspan(first.size());
}

}  // namespace

std::vector<BundleTasks> bundles_of(const WorkloadView& workload, std::span<const JobId> jobs) {
  std::vector<BundleTasks> single(workload.tables().shapes.size());
  std::map<std::vector<BundleTasks>, std::uint64_t, BundleOrder> together;
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
  std::erase_if(single, [](const BundleTasks& task) { return task.types == 0; });  // no job has it
  std::vector<BundleTasks> rest;
  for (const auto& [bundle, types] : together) {
    for (const BundleTasks& task : bundle) rest.push_back(task), rest.back().types = types;
  }
  return merged(single, rest);
}

std::vector<BundleTasks> merged(TaskBundles a, TaskBundles b) {
  std::vector<BundleTasks> all;
  all.reserve(a.size() + b.size());
  while (!a.empty() && !b.empty()) {
    const TaskBundles first = first_bundle(a), other = first_bundle(b);
    if (BundleOrder{}(other, first)) {
      move_first(b, all);
      continue;
    }
    const bool same = !BundleOrder{}(first, other);
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
