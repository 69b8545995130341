// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "berth/base/random.hpp"
#include "berth/papers/pd_ors/slot_instance.hpp"

/// Tiny instances of training in slots, and their optimum by trying everything.
namespace berth::papers::pd_ors::testing {

/// Which machines may hold workers, and which servers.
struct Split {
  std::size_t workers_end = ~std::size_t{0};  ///< workers on [0, workers_end)
  std::size_t servers_begin = 0;              ///< servers on [servers_begin, machines)
};

/// One worker trains 4 samples in a slot when all is on one machine, else 2: whole samples, so that
/// parts of one sample lose nothing.
inline TrainingJob tiny_job(std::uint64_t seed, std::uint64_t j, std::int32_t slots) {
  const auto draw = [&](std::uint64_t what, std::uint64_t below) {
    return static_cast<double>(random_below(below, {seed, j, what}));
  };
  TrainingJob job;
  job.arrival = static_cast<std::int32_t>(draw(0, static_cast<std::uint64_t>(slots)));
  job.samples = 2.0 + 2.0 * draw(1, 4);
  job.max_workers = 1 + static_cast<std::int32_t>(draw(2, 3));
  job.workers_per_server = 1.0 + draw(3, 2);
  job.internal_cost = 0.25;
  job.external_cost = 0.5;
  job.worker = {1.0 + draw(4, 2)};
  job.server = {1.0};
  job.c1 = 1.0 + draw(5, 100);
  job.c2 = 0.5 * draw(6, 5);
  job.c3 = draw(7, 4);
  return job;
}

inline SlotInstance tiny_instance(std::uint64_t seed, std::int32_t slots, std::size_t machines,
                                  std::size_t jobs) {
  SlotInstance instance{.slots = slots, .resources = 1};
  instance.capacity.assign(machines, 3.0);
  for (std::size_t j = 0; j < jobs; ++j) instance.jobs.push_back(tiny_job(seed, j, slots));
  std::ranges::stable_sort(instance.jobs, {}, &TrainingJob::arrival);
  return instance;
}

/// Calls visit(shares) for every way to run the job in a slot of free machines, also none.
inline void each_share(const SlotInstance& instance, const TrainingJob& job, const Split& split,
                       const std::function<void(const std::vector<MachineShare>&)>& visit) {
  std::vector<MachineShare> shares;
  const std::function<void(std::size_t, std::int32_t, std::int32_t)> place =
      [&](std::size_t h, std::int32_t w, std::int32_t s) {
        if (h == instance.machines()) {
          if (s == job.servers_for(w)) visit(shares);
          return;
        }
        const std::int32_t most = h < split.workers_end ? job.max_workers - w : 0;
        const std::int32_t servers = h >= split.servers_begin ? job.max_workers : 0;
        for (std::int32_t x = 0; x <= most; ++x) {
          for (std::int32_t y = 0; y <= servers; ++y) {
            if (x * job.worker[0] + y * job.server[0] > instance.capacity[h]) break;
            if (x + y > 0) shares.push_back({static_cast<std::uint32_t>(h), x, y});
            place(h + 1, w + x, s + y);
            if (x + y > 0) shares.pop_back();
          }
        }
      };
  place(0, 0, 0);
}

/// All schedules that complete the job.
inline std::vector<JobSchedule> all_schedules(const SlotInstance& instance, const TrainingJob& job,
                                              const Split& split = {}) {
  std::vector<std::vector<MachineShare>> ways;
  each_share(instance, job, split, [&](const auto& shares) { ways.push_back(shares); });
  std::vector<JobSchedule> result;
  JobSchedule present;
  const std::function<void(std::int32_t, double)> extend = [&](std::int32_t t, double left) {
    if (left <= 0.0) result.push_back(present);
    if (left <= 0.0 || t == instance.slots) return;
    for (const auto& way : ways) {
      const SlotShare share{t, way};
      if (!way.empty()) present.push_back(share);
      extend(t + 1, way.empty() ? left : left - share.samples(job));
      if (!way.empty()) present.pop_back();
    }
  };
  extend(job.arrival, job.samples);
  return result;
}

/// Largest total utility of any schedules of the jobs.
inline double optimum(const SlotInstance& instance, const Split& split = {}) {
  std::vector<std::vector<JobSchedule>> choices;
  for (const TrainingJob& job : instance.jobs)
    choices.push_back(all_schedules(instance, job, split));
  const std::size_t width = instance.machines();
  std::vector<double> free(static_cast<std::size_t>(instance.slots) * width, 3.0);
  const auto use = [&](const TrainingJob& job, const JobSchedule& schedule, double sign) {
    bool fits = true;
    for (const SlotShare& share : schedule) {
      for (const MachineShare& m : share.machines) {
        double& left = free[static_cast<std::size_t>(share.slot) * width + m.machine];
        left -= sign * (m.workers * job.worker[0] + m.servers * job.server[0]);
        fits = fits && left >= 0.0;
      }
    }
    return fits;
  };
  double best = 0.0;
  const std::function<void(std::size_t, double, double)> choose = [&](std::size_t j, double sum,
                                                                      double rest) {
    best = std::max(best, sum);
    if (j == instance.jobs.size() || sum + rest <= best) return;
    const TrainingJob& job = instance.jobs[j];
    const double after = rest - job.utility(job.arrival);
    for (const JobSchedule& schedule : choices[j]) {
      if (sum + earned(job, schedule) + after <= best) continue;
      if (use(job, schedule, 1.0)) choose(j + 1, sum + earned(job, schedule), after);
      use(job, schedule, -1.0);
    }
    choose(j + 1, sum, after);
  };
  double rest = 0.0;
  for (const TrainingJob& job : instance.jobs) rest += job.utility(job.arrival);
  choose(0, 0.0, rest);
  return best;
}

}  // namespace berth::papers::pd_ors::testing
