// SPDX-License-Identifier: Apache-2.0
#include "berth/planner_model/equal_jobs.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <span>

#include "berth/base/random.hpp"
#include "berth/planner_model/task_profile.hpp"

namespace berth::planner_model {

JobClass job_class(const model::WorkloadView& workload, const model::Job& job) {
  // two different seeds: first 64 bits of the fractions of sqrt(2) and sqrt(3), as in SHA-512
  JobClass hash{.high = 0x6A09E667F3BCC908, .low = 0xBB67AE8584CAA73B};
  const auto add = [&](auto field) {
    hash.high = mix64(hash.high ^ static_cast<std::uint64_t>(field));
    hash.low = mix64(hash.low + mix64(static_cast<std::uint64_t>(field)));
  };
  add(job.gpu_types);
  add(job.speed);
  add(job.home_factor);
  add(job.width_factor);
  add(job.domain);
  add(job.required ? 1 : 0);
  add(job.home_rack.value());
  add(job.home_pod.value());
  add(job.queue.value());
  add(std::bit_cast<std::uint64_t>(job.weight));
  add(std::bit_cast<std::uint64_t>(job.value));
  if (!workload.tables().weights.empty()) add(job.priority);
  add(job.communication.pattern);
  add(job.communication.servers);
  add(job.communication.mbps);
  if (job.rules != 0) add(job.rules);
  for (const auto& [shape, count] : TaskProfile(workload, job).groups) {
    add(shape.value());
    add(count);
  }
  return hash;
}

JobClass job_kind(const model::WorkloadView& workload, const model::Job& job) {
  model::Job kind = job;
  kind.required = false, kind.queue = {}, kind.weight = kind.value = 1.0;
  return job_class(workload, kind);
}

namespace {

/// Exchanges among jobs of one class, sorted by precedence: the first jobs get the places of
/// largest value. A job that already has a place of the value due to it keeps it.
void hand_over(std::span<const EqualJob> jobs, std::vector<Handover>& result) {
  std::vector<std::size_t> places;  // placed jobs, by descending value of their places
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].placed) places.push_back(i);
  }
  std::ranges::stable_sort(places, std::greater<>{}, [&](std::size_t i) { return jobs[i].value; });
  for (std::size_t first = 0, last = 0; first < places.size(); first = last) {
    std::set<std::size_t> held;
    while (last < places.size() && jobs[places[last]].value == jobs[places[first]].value) {
      held.insert(places[last++]);
    }
    auto from = held.begin();
    for (std::size_t due = first; due < last; ++due) {
      if (held.contains(due)) continue;
      while (first <= *from && *from < last) ++from;
      result.push_back({jobs[*from++].precedence.job, jobs[due].precedence.job});
    }
  }
}

}  // namespace

std::vector<Handover> handovers(std::vector<EqualJob> jobs) {
  std::ranges::sort(jobs, [](const EqualJob& a, const EqualJob& b) {
    return a.of != b.of ? a.of < b.of : a.precedence < b.precedence;
  });
  std::vector<Handover> result;
  for (std::size_t first = 0, last = 0; first < jobs.size(); first = last) {
    while (last < jobs.size() && jobs[last].of == jobs[first].of) ++last;
    hand_over(std::span(jobs).subspan(first, last - first), result);
  }
  return result;
}

}  // namespace berth::planner_model
