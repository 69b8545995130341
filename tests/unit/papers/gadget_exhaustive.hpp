// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/papers/gadget/slot_embedding.hpp"

/// Tiny instances of GADGET and their optima by exhaustion.
namespace berth::papers::gadget::testing {

/// All rings of at most so many workers on these GPUs, the empty one first.
inline std::vector<Ring> all_rings(std::span<const std::int32_t> gpus, std::int32_t most) {
  std::vector<Ring> rings = {{}};
  for (std::size_t s = 0; s < gpus.size(); ++s) {
    const std::size_t before = rings.size();
    for (std::size_t r = 0; r < before; ++r) {
      for (std::int32_t w = 1; w <= std::min(gpus[s], most - workers_of(rings[r])); ++w) {
        rings.push_back(rings[r]);
        rings.back().push_back({s, w});
      }
    }
  }
  return rings;
}

/// Calls visit with the rings of each feasible slot.
template <class Visit>
void for_all_slots(const RingCluster& cluster, std::span<const SlotJob> jobs, const Visit& visit) {
  std::vector<std::vector<Ring>> choices;
  for (const SlotJob& job : jobs) choices.push_back(all_rings(cluster.gpus, job.most()));
  std::vector<Ring> rings(jobs.size());
  RingNetwork network(cluster);
  const auto search = [&](const auto& self, std::size_t j) -> void {
    if (j == jobs.size()) return visit(rings);
    for (const Ring& ring : choices[j]) {
      if (!network.fits(ring, jobs[j].job->bandwidth)) continue;
      network.take(ring, jobs[j].job->bandwidth);
      rings[j] = ring;
      self(self, j + 1);
      network.release(ring, jobs[j].job->bandwidth);
    }
    rings[j].clear();
  };
  search(search, 0);
}

inline double exhaustive_slot(const RingCluster& cluster, std::span<const SlotJob> jobs) {
  double best = 0.0;
  for_all_slots(cluster, jobs, [&](std::span<const Ring> rings) {
    best = std::max(best, slot_gain(jobs, rings));
  });
  return best;
}

/// A value of 0 .. below, by seed.
inline std::int32_t draw(std::uint64_t below, std::uint64_t seed, std::uint64_t a,
                         std::uint64_t b) {
  return static_cast<std::int32_t>(random_below(below, {0x6AD6, seed, a, b}));
}

/// Servers of 1 or 2 GPUs in two racks, links for one or two rings; jobs of at most 3 workers.
inline RingInstance tiny_rings(std::uint64_t seed, std::size_t servers, std::size_t jobs,
                               std::int32_t slots, WorkUtility family) {
  RingInstance instance;
  instance.slots = slots;
  instance.cluster.rack_link = {2.0, 1.0};
  for (std::size_t s = 0; s < servers; ++s) {
    instance.cluster.gpus.push_back(1 + draw(2, seed, 1, s));
    instance.cluster.server_link.push_back(1 + draw(2, seed, 2, s));
    instance.cluster.rack.push_back(s % 2);
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    instance.jobs.push_back({.arrival = slots > 1 ? draw(2, seed, 3, j) : 0,
                             .most = 1 + draw(3, seed, 4, j),
                             .budget = 2 + draw(3, seed, 5, j),
                             .efficiency = 1.0 + draw(3, seed, 6, j),
                             .bandwidth = 1.0,
                             .family = family,
                             .c1 = 1.0 + draw(9, seed, 7, j),
                             .c2 = 0.5 + draw(3, seed, 8, j),
                             .c3 = 2.0 + draw(3, seed, 9, j)});
  }
  return instance;
}

/// All jobs with what they have done.
inline std::vector<SlotJob> slot_jobs(const RingInstance& instance,
                                      std::span<const std::int64_t> done = {}) {
  std::vector<SlotJob> jobs;
  for (std::size_t j = 0; j < instance.jobs.size(); ++j)
    jobs.push_back({&instance.jobs[j], done.empty() ? 0 : done[j], j});
  return jobs;
}

/// Largest utility of all schedules: by worker-slots so far, as a slot depends on nothing else.
inline double offline_optimum(const RingInstance& instance) {
  std::map<std::vector<std::int64_t>, bool> states;
  states[std::vector<std::int64_t>(instance.jobs.size(), 0)] = true;
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    std::map<std::vector<std::int64_t>, bool> next;
    for (const auto& [done, there] : states) {
      std::vector<RingJob> present = instance.jobs;
      for (RingJob& job : present) job.most = job.arrival <= t ? job.most : 0;
      std::vector<SlotJob> jobs;
      for (std::size_t j = 0; j < present.size(); ++j) jobs.push_back({&present[j], done[j], j});
      for_all_slots(instance.cluster, jobs, [&](std::span<const Ring> rings) {
        std::vector<std::int64_t> after = done;
        for (std::size_t j = 0; j < rings.size(); ++j) after[j] += workers_of(rings[j]);
        next[after] = true;
      });
    }
    states = std::move(next);
  }
  double best = 0.0;
  for (const auto& [done, there] : states) {
    double sum = 0.0;
    for (std::size_t j = 0; j < done.size(); ++j) sum += instance.jobs[j].utility(done[j]);
    best = std::max(best, sum);
  }
  return best;
}

}  // namespace berth::papers::gadget::testing
