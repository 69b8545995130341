// SPDX-License-Identifier: Apache-2.0
#include "task_sets.hpp"

#include "job_value.hpp"
#include "place_limits.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace berth::certify {
namespace {

using model::Job;
using model::TaskGroup;

constexpr std::size_t kPiece = 16384;  ///< jobs of a parallel task; chosen, not tuned

/// The key of a set: everything on which costs depend. Costs are by GPU type, so the types that a
/// job allows matter only for jobs without GPUs.
struct Asked {
  std::span<const TaskGroup> groups;
  std::int64_t ring_mbps = 0;
  std::uint64_t types = 0;
  std::uint32_t rules = 0;

  Asked(const model::WorkloadView& workload, const Job& job, bool rings_pay)
      : groups(workload.groups_of(job)),
        ring_mbps(rings_pay ? ring_of(job) : 0),
        types(uses_gpu(workload, job) ? 0 : job.gpu_types),
        rules(job.rules) {}

  bool operator==(const Asked& other) const {
    const auto same = [](const TaskGroup& a, const TaskGroup& b) {
      return a.shape == b.shape && a.count == b.count;
    };
    return ring_mbps == other.ring_mbps && types == other.types && rules == other.rules &&
           std::ranges::equal(groups, other.groups, same);
  }
};

struct Hash {
  std::size_t operator()(const Asked& asked) const {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio (Knuth 1973)
    std::uint64_t hash = asked.types;
    const auto add = [&](auto value) {
      hash = (hash ^ static_cast<std::uint64_t>(value)) * kOdd;
      hash ^= hash >> 32;
    };
    add(asked.ring_mbps);
    add(asked.rules);
    for (const TaskGroup& g : asked.groups) add(g.shape.value()), add(g.count);
    return hash;
  }
};

/// Positions in `jobs` by home pod, jobs without a home last; ascending within a pod, and overall
/// when no set has several pieces.
std::vector<std::uint32_t> by_home(const model::InstanceView& instance,
                                   std::span<const JobId> jobs) {
  std::vector<std::uint32_t> order(jobs.size());
  if (jobs.size() <= kPiece) {
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }
  const std::size_t none = instance.cluster.pods.size();
  const auto pod_of = [&](JobId id) {
    const Job& job = instance.workload.job(id);
    if (job.home_rack.valid()) return instance.cluster.racks[job.home_rack.index()].pod.index();
    return job.home_pod.valid() ? job.home_pod.index() : none;
  };
  std::vector<std::uint32_t> next(none + 2, 0);  // by pod: place of its next job
  for (const JobId job : jobs) ++next[pod_of(job) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    order[next[pod_of(jobs[i])]++] = static_cast<std::uint32_t>(i);
  }
  return order;
}

}  // namespace

TaskSets::TaskSets(const model::InstanceView& instance, std::span<const JobId> jobs, bool rings_pay)
    : members_(jobs.size()) {
  const model::WorkloadView& workload = instance.workload;
  std::unordered_map<Asked, std::uint32_t, Hash> known;  // sets are numbered by first appearance
  std::vector<std::uint32_t> set_of(jobs.size());
  std::vector<std::size_t> size;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto next = static_cast<std::uint32_t>(size.size());
    const Asked asked(workload, workload.job(jobs[i]), rings_pay);
    const auto [entry, fresh] = known.try_emplace(asked, next);
    if (fresh) size.push_back(0);
    set_of[i] = entry->second;
    ++size[entry->second];
  }
  std::vector<std::size_t> place(size.size(), 0);  // position of each set's next member
  for (std::size_t s = 0, begin = 0; s < size.size(); begin += size[s++]) {
    place[s] = begin;
    for (std::size_t p = kPiece; p < size[s]; p += kPiece) ends_.push_back(begin + p);
    ends_.push_back(begin + size[s]);
  }
  for (const std::uint32_t i : by_home(instance, jobs)) {
    members_[place[set_of[i]]++] = {&workload.job(jobs[i]), i};
  }
}

}  // namespace berth::certify
