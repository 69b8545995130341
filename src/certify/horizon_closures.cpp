// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"
#include "horizon_worth.hpp"

#include <algorithm>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

using model::Horizon;
using model::InstanceView;
using model::Job;

class ClosureList {
 public:
  ClosureList(const InstanceView& instance, const Horizon& horizon)
      : instance_(instance), horizon_(horizon) {
    find_waiting_queues();
  }

  std::vector<Closure> build() {
    const model::Cluster& cluster = instance_.cluster;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const bool up = cluster.state_of(MachineId(m)) == model::MachineState::up;
      if (!up) close_machine(MachineId(m), horizon_.now, horizon::kNever);
    }
    for (const model::Immovable& content : cluster.immovable) {
      if (content.job.valid()) continue;
      add({.machine = content.machine,
           .from = horizon_.now,
           .to = horizon::kNever,
           .devices = content.devices,
           .milli = content.milli,
           .taken = content.taken});
    }
    add_running();
    for (const model::Window& window : cluster.windows) {
      if (window.kind == model::WindowKind::reservation && somebody_may_use(window)) continue;
      for (const model::MachineRange& range : window.machines) {
        for (auto m = range.first; m < range.end; ++m) {
          close_machine(MachineId(m), std::max(horizon_.now, window.from), window.to);
        }
      }
    }
    return std::move(closures_);
  }

 private:
  void add(const Closure& closure) {
    if (closure.from < closure.to) closures_.push_back(closure);
  }

  void close_machine(MachineId machine, std::int64_t from, std::int64_t to) {
    const auto gpus = static_cast<unsigned>(instance_.cluster.class_of(machine).gpus);
    const std::uint64_t all = gpus >= 64 ? ~0ULL : (1ULL << gpus) - 1;
    add({.machine = machine, .from = from, .to = to, .devices = all, .all = true});
  }

  void add_running() {
    for (const model::Running& running : instance_.workload.tables().running) {
      const Job& job = instance_.workload.job(running.job);
      if (is_decided(instance_, horizon_, job)) continue;
      const std::int64_t end = end_of_running(instance_, horizon_, job);
      const auto groups = instance_.workload.groups_of(job);
      for (const model::TaskPlacement& task : instance_.workload.tasks_of(running)) {
        add({.machine = task.machine,
             .from = horizon_.now,
             .to = end,
             .devices = task.devices,
             .milli = task.milli,
             .taken = instance_.workload.shape(groups[task.group].shape).needs});
      }
    }
  }

  /// True when some waiting job is entitled to the reservation.
  [[nodiscard]] bool somebody_may_use(const model::Window& window) const {
    const auto waits = [&](JobId job) {
      return is_decided(instance_, horizon_, instance_.workload.job(job));
    };
    if (std::ranges::any_of(window.job_ids, waits)) return true;
    return std::ranges::any_of(window.queues,
                               [&](QueueId queue) { return queue_waits_[queue.index()]; });
  }

  /// Queues that have, or whose children have, a waiting job.
  void find_waiting_queues() {
    queue_waits_.assign(instance_.cluster.queues.size(), false);
    for (const JobId id : model::planned_jobs(instance_.workload)) {
      const Job& job = instance_.workload.job(id);
      if (!is_decided(instance_, horizon_, job)) continue;
      QueueId queue = job.queue;
      for (; queue.valid(); queue = instance_.cluster.queues[queue.index()].parent) {
        queue_waits_[queue.index()] = true;
      }
    }
  }

  InstanceView instance_;
  Horizon horizon_;
  std::vector<bool> queue_waits_;  ///< by QueueId
  std::vector<Closure> closures_;
};

}  // namespace

std::vector<Closure> closures(const InstanceView& instance, const Horizon& horizon) {
  return ClosureList(instance, horizon).build();
}

std::vector<std::vector<horizon::CapacityStep>> worth_in_time(const InstanceView& instance,
                                                              const Horizon& horizon,
                                                              const model::PriceCurves& prices) {
  const std::vector<GpuTypeId> types = types_of_machines(instance.cluster);
  return worth_in_time(instance, horizon.now, types, closures(instance, horizon),
                       ShapeFactors(instance, types, prices));
}

}  // namespace berth::certify
