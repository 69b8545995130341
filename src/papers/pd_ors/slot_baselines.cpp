// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/slot_baselines.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "berth/base/assert.hpp"

namespace berth::papers::pd_ors {
namespace {

/// Machines in one slot.
class SlotRoom {
 public:
  explicit SlotRoom(const SlotInstance& instance)
      : instance_(&instance), free_(instance.capacity) {}

  /// Puts a task on the least used machine with room; its number.
  std::optional<std::size_t> place(const std::vector<double>& demand) {
    std::optional<std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t h = 0; h < instance_->machines(); ++h) {
      if (!fits(h, demand) || used(h) >= least) continue;
      least = used(h);
      best = h;
    }
    if (best) take(*best, demand, 1.0);
    return best;
  }

  void take(std::size_t machine, const std::vector<double>& demand, double count) {
    for (std::size_t r = 0; r < demand.size(); ++r)
      free_[machine * demand.size() + r] -= count * demand[r];
  }

 private:
  [[nodiscard]] bool fits(std::size_t machine, const std::vector<double>& demand) const {
    for (std::size_t r = 0; r < demand.size(); ++r) {
      if (demand[r] > free_[machine * demand.size() + r] + kRoundingSlack) return false;
    }
    return true;
  }
  [[nodiscard]] double used(std::size_t machine) const {
    double most = 0.0;
    for (std::size_t r = 0; r < instance_->resources; ++r) {
      const std::size_t e = machine * instance_->resources + r;
      if (instance_->capacity[e] > 0.0)
        most = std::max(most, 1.0 - free_[e] / instance_->capacity[e]);
    }
    return most;
  }

  const SlotInstance* instance_;
  std::vector<double> free_;
};

void add_task(std::vector<MachineShare>& shares, std::size_t machine,
              std::int32_t MachineShare::*kind) {
  const auto at = std::ranges::lower_bound(shares, machine, {}, &MachineShare::machine);
  if (at != shares.end() && at->machine == machine) {
    ++((*at).*kind);
    return;
  }
  MachineShare share{.machine = static_cast<std::uint32_t>(machine)};
  share.*kind = 1;
  shares.insert(at, share);
}

/// A worker, and a server if the ratio asks for one more; false, and the room is as before.
bool add_worker(const TrainingJob& job, SlotRoom& room, SlotShare& share) {
  const std::int32_t workers = share.workers() + 1;
  const auto worker = room.place(job.worker);
  if (!worker) return false;
  if (share.servers() < job.servers_for(workers)) {
    const auto server = room.place(job.server);
    if (!server) {
      room.take(*worker, job.worker, -1.0);
      return false;
    }
    add_task(share.machines, *server, &MachineShare::servers);
  }
  add_task(share.machines, *worker, &MachineShare::workers);
  return true;
}

void hold(const TrainingJob& job, const SlotShare& share, SlotRoom& room, double sign) {
  for (const MachineShare& m : share.machines) {
    room.take(m.machine, job.worker, sign * m.workers);
    room.take(m.machine, job.server, sign * m.servers);
  }
}

double trained(const TrainingJob& job, const JobSchedule& schedule) {
  double sum = 0.0;
  for (const SlotShare& share : schedule) sum += share.samples(job);
  return sum;
}

bool done(const TrainingJob& job, const JobSchedule& schedule) {
  return trained(job, schedule) >= job.samples * (1.0 - kRoundingSlack);
}

/// Largest share of the cluster that the job holds of any resource.
double dominant_share(const SlotInstance& instance, const TrainingJob& job, const SlotShare& share,
                      const std::vector<double>& total) {
  double most = 0.0;
  for (std::size_t r = 0; r < instance.resources; ++r) {
    const double amount = job.worker[r] * share.workers() + job.server[r] * share.servers();
    if (total[r] > 0.0) most = std::max(most, amount / total[r]);
  }
  return most;
}

std::vector<SlotShare> drf_slot(const SlotInstance& instance, std::int32_t slot,
                                const std::vector<JobSchedule>& schedules,
                                const std::vector<double>& total) {
  std::vector<SlotShare> shares(instance.jobs.size(), SlotShare{.slot = slot});
  std::vector<double> dominant(instance.jobs.size(), std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < shares.size(); ++j) {
    const TrainingJob& job = instance.jobs[j];
    if (job.arrival <= slot && !done(job, schedules[j])) dominant[j] = 0.0;
  }
  SlotRoom room(instance);
  while (true) {
    const auto poorest = std::ranges::min_element(dominant);
    if (*poorest == std::numeric_limits<double>::infinity()) return shares;
    const auto j = static_cast<std::size_t>(poorest - dominant.begin());
    const TrainingJob& job = instance.jobs[j];
    if (!add_worker(job, room, shares[j])) return shares;
    *poorest = shares[j].workers() == job.max_workers
                   ? std::numeric_limits<double>::infinity()
                   : dominant_share(instance, job, shares[j], total);
  }
}

}  // namespace

std::vector<JobSchedule> fifo_schedules(const SlotInstance& instance,
                                        std::span<const std::int32_t> workers) {
  BERTH_EXPECT(workers.size() == instance.jobs.size());
  std::vector<JobSchedule> schedules(instance.jobs.size());
  SlotRoom room(instance);
  std::vector<std::size_t> running;
  std::size_t next = 0;
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    std::erase_if(running, [&](std::size_t j) {
      const TrainingJob& job = instance.jobs[j];
      if (!done(job, schedules[j])) {
        schedules[j].push_back({t, schedules[j].back().machines});
        return false;
      }
      hold(job, schedules[j].back(), room, -1.0);
      return true;
    });
    for (; next < schedules.size() && instance.jobs[next].arrival <= t; ++next) {
      const TrainingJob& job = instance.jobs[next];
      SlotShare share{.slot = t};
      while (share.workers() < workers[next] && add_worker(job, room, share)) continue;
      if (share.workers() < workers[next]) {
        hold(job, share, room, -1.0);
        break;
      }
      schedules[next].push_back(std::move(share));
      running.push_back(next);
    }
  }
  return schedules;
}

std::vector<JobSchedule> drf_schedules(const SlotInstance& instance) {
  std::vector<JobSchedule> schedules(instance.jobs.size());
  std::vector<double> total(instance.resources, 0.0);
  for (std::size_t e = 0; e < instance.capacity.size(); ++e)
    total[e % instance.resources] += instance.capacity[e];
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    std::vector<SlotShare> shares = drf_slot(instance, t, schedules, total);
    for (std::size_t j = 0; j < shares.size(); ++j) {
      if (!shares[j].machines.empty()) schedules[j].push_back(std::move(shares[j]));
    }
  }
  return schedules;
}

}  // namespace berth::papers::pd_ors
