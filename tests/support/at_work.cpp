// SPDX-License-Identifier: Apache-2.0
#include "at_work.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/model/free_machine.hpp"
#include "berth/model/placement.hpp"

namespace berth::test {
namespace {

using model::MachineState;

class Live {
 public:
  Live(Dice& dice, model::Instance instance) : dice_(dice), in_(std::move(instance)) {
    for (const ClassId c : in_.cluster.machine_class) {
      free_.emplace_back(in_.cluster.classes[c.index()]);
    }
  }

  model::Instance instance() && {
    if (dice_.chance(50)) add_queues();
    if (dice_.chance(50)) add_traffic();
    if (dice_.chance(70)) use_machines();
    const std::int64_t percent = dice_.one_of({0, 20, 60, 90});
    for (std::size_t j = 0; j < in_.workload.jobs.size(); ++j) {
      if (dice_.chance(percent)) run(j);
    }
    std::ranges::stable_sort(in_.cluster.immovable, {}, &model::Immovable::machine);
    return std::move(in_);
  }

 private:
  void add_queues() {
    const std::int64_t queues = 1 + dice_.below(4);
    for (std::int64_t q = 0; q < queues; ++q) {
      model::Queue queue{.name = "q" + std::to_string(q),
                         .gpu_quota = dice_.one_of({-1, 0, 1, 2, 3, 4})};
      if (dice_.chance(40)) queue.over_quota_penalty = static_cast<double>(dice_.below(12)) / 4.0;
      if (q > 0 && dice_.chance(60))
        queue.parent = QueueId(static_cast<std::size_t>(dice_.below(q)));
      in_.cluster.queues.push_back(queue);
    }
    for (model::Job& job : in_.workload.jobs) {
      if (dice_.chance(80)) job.queue = QueueId(static_cast<std::size_t>(dice_.below(queues)));
    }
  }

  void add_traffic() {
    const auto limit = [&](double& gbps) {
      if (dice_.chance(70)) gbps = static_cast<double>(dice_.one_of({0, 5, 10, 15, 20, 35})) / 10.0;
    };
    for (model::Rack& rack : in_.cluster.racks) limit(rack.uplink_gbps);
    for (model::Pod& pod : in_.cluster.pods) limit(pod.uplink_gbps);
    for (model::Job& job : in_.workload.jobs) {
      if (!dice_.chance(75)) continue;
      job.communication.mbps = dice_.one_of({300, 500, 1000, 1000, 1500});
      job.communication.pattern =
          dice_.chance(70) ? model::CommunicationPattern::ring : model::CommunicationPattern::ps;
      job.communication.servers = static_cast<std::uint32_t>(dice_.below(job.groups));
    }
  }

  void use_machines() {
    in_.cluster.machine_state.assign(free_.size(), MachineState::up);
    for (std::size_t m = 0; m < free_.size(); ++m) {
      if (dice_.chance(20)) {
        in_.cluster.machine_state[m] = static_cast<MachineState>(1 + dice_.below(3));
      }
      const std::int64_t devices = in_.cluster.class_of(MachineId(m)).gpus;
      for (std::int64_t d = 0; d < devices; ++d) {
        if (!dice_.chance(30)) continue;
        put({.machine = MachineId(m),
             .devices = std::uint64_t{1} << d,
             .milli = static_cast<std::int32_t>(dice_.one_of({1000, 1000, 700, 500, 450, 150}))});
      }
      if (dice_.chance(30)) {
        model::Resources taken{dice_.one_of({0, 500, 1500}), dice_.one_of({0, 100, 250})};
        for (std::size_t r = model::kRequiredResources; r < model::kResources; ++r) {
          if (has_limit(MachineId(m), r)) taken[r] = dice_.one_of({0, 500});
        }
        put({.machine = MachineId(m), .taken = taken});
      }
    }
  }

  [[nodiscard]] bool has_limit(MachineId m, std::size_t resource) const {
    return in_.cluster.class_of(m).capacity[resource] != model::kNoLimit;
  }

  void put(const model::Immovable& piece) {
    model::FreeMachine& machine = free_[piece.machine.index()];
    if (!machine.fits(piece)) return;
    machine.take(piece);
    in_.cluster.immovable.push_back(piece);
  }

  /// Lets job j run somewhere if there is room; pins it where it would not be allowed.
  void run(std::size_t j) {
    model::Workload& w = in_.workload;
    model::Running running{.job = JobId(j),
                           .first_task = static_cast<std::uint32_t>(w.running_tasks.size()),
                           .rules = w.jobs[j].rules};
    const auto tasks = room_for(w.jobs[j]);
    if (!tasks) return;
    running.tasks = static_cast<std::uint32_t>(tasks->size());
    running.pinned = dice_.chance(25) || !allowed(w.jobs[j], *tasks);
    running.stop_cost = static_cast<double>(dice_.one_of({0, 0, 1, 2, 5})) / 4.0;
    running.move_cost = static_cast<double>(dice_.one_of({0, 1, 2, 5})) / 4.0;
    w.running_tasks.insert(w.running_tasks.end(), tasks->begin(), tasks->end());
    w.jobs[j].running = static_cast<std::int32_t>(w.running.size());
    w.running.push_back(running);
    if (!running.pinned) return;
    for (const model::TaskPlacement& t : *tasks) {
      const model::Shape& s = w.shape(w.groups_of(w.jobs[j])[t.group].shape);
      in_.cluster.immovable.push_back({t.machine, t.devices, t.milli, s.needs, JobId(j)});
    }
  }

  bool allowed(const model::Job& job, const std::vector<model::TaskPlacement>& tasks) const {
    std::int32_t used = -1;
    for (const model::TaskPlacement& t : tasks) {
      const MachineState state = in_.cluster.state_of(t.machine);
      if (state != MachineState::up && state != MachineState::drain) return false;
      if (t.devices == 0 && in_.workload.gpu_milli(job) > 0) continue;
      const std::int32_t type = in_.cluster.class_of(t.machine).gpu_type.value();
      const bool any = job.gpu_types == ~std::uint64_t{0};
      if (!any && (type < 0 || ((job.gpu_types >> type) & 1) == 0)) return false;
      if (t.devices == 0) continue;
      if (used >= 0 && used != type) return false;
      used = type;
    }
    return model::width(in_.cluster, tasks) <= job.domain;
  }

  /// Finds room for the job and takes it.
  std::optional<std::vector<model::TaskPlacement>> room_for(const model::Job& job) {
    std::vector<model::FreeMachine> free = free_;
    std::vector<model::TaskPlacement> tasks;
    const auto groups = in_.workload.groups_of(job);
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      const model::Shape& shape = in_.workload.shape(groups[g].shape);
      for (std::int32_t n = 0; n < groups[g].count; ++n) {
        const auto first = static_cast<std::size_t>(dice_.below(std::ssize(free)));
        std::size_t m = first;
        while (!free[m].fits(shape)) {
          m = (m + 1) % free.size();
          if (m == first) return std::nullopt;
        }
        tasks.push_back(free[m].choose(MachineId(m), g, shape));
        free[m].take(tasks.back(), shape);
      }
    }
    free_ = std::move(free);
    return tasks;
  }

  Dice& dice_;
  model::Instance in_;
  std::vector<model::FreeMachine> free_;  ///< by MachineId
};

}  // namespace

model::Instance at_work(Dice& dice, model::Instance instance) {
  return Live(dice, std::move(instance)).instance();
}

}  // namespace berth::test
