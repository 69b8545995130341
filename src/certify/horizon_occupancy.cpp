// SPDX-License-Identifier: Apache-2.0
#include "horizon_occupancy.hpp"

#include "horizon_jobs.hpp"
#include "machine_variants.hpp"
#include "rule_check.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

using model::Horizon;
using model::InstanceView;

/// What one task or content takes of a machine in [from, to).
struct MachineUse {
  MachineId machine;
  std::int64_t from = 0, to = 0;
  std::uint64_t devices = 0;
  std::int64_t milli = 0;  ///< thousandths of each device
  model::Resources taken = {};
  JobId job = {};        ///< invalid: content outside the workload
  bool planned = false;  ///< by the plan; otherwise it is there already
};

class OccupancyCheck {
 public:
  OccupancyCheck(const InstanceView& instance, const Horizon& horizon, Findings& findings)
      : instance_(instance),
        horizon_(horizon),
        findings_(&findings),
        apart_(std::ranges::any_of(instance.workload.tables().rules,
                                   &model::PlacementRules::concern_others)) {}

  void add_contents() {
    for (const model::Immovable& content : instance_.cluster.immovable) {
      std::int64_t to = model::kNever;
      if (content.job.valid()) {
        to = end_of_running(instance_, horizon_, instance_.workload.job(content.job));
      }
      uses_.push_back({.machine = content.machine,
                       .from = horizon_.now,
                       .to = to,
                       .devices = content.devices,
                       .milli = taken_of_device(content.machine, content.milli),
                       .taken = content.taken,
                       .job = content.job});
    }
  }

  void add(const model::JobPlacement& placed, std::int64_t end) {
    const model::Job& job = instance_.workload.job(placed.job);
    const auto groups = instance_.workload.groups_of(job);
    for (const model::TaskPlacement& task : placed.tasks) {
      const model::Shape& shape = instance_.workload.shape(groups[task.group].shape);
      uses_.push_back({.machine = task.machine,
                       .from = placed.start,
                       .to = end,
                       .devices = task.devices,
                       .milli = taken_of_device(task.machine, task.milli),
                       .taken = shape.needs,
                       .job = placed.job,
                       .planned = is_decided(instance_, horizon_, job)});
    }
  }

  void check() {
    std::ranges::sort(uses_, {}, [](const MachineUse& u) {
      return std::tuple(u.machine, u.from, u.to, u.job, u.devices);
    });
    std::vector<const MachineUse*> active;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const MachineUse& use = uses_[i];
      if (i > 0 && uses_[i - 1].machine != use.machine) active.clear();
      std::erase_if(active, [&](const MachineUse* a) { return a->to <= use.from; });
      if (use.planned) check_state(use);
      active.push_back(&use);
      const bool settled = i + 1 == uses_.size() || uses_[i + 1].machine != use.machine ||
                           uses_[i + 1].from != use.from;
      if (!settled) continue;
      check_devices(active, use.from);
      if (apart_) check_apart(active, use.from);
      check_resources(use, active);
    }
  }

  /// Every planned task against every window of its machine.
  void check_windows() {
    for (const model::Window& window : instance_.cluster.windows) {
      for (const model::MachineRange& range : window.machines) {
        const auto first =
            std::ranges::lower_bound(uses_, MachineId(range.first), {}, &MachineUse::machine);
        for (auto use = first; use != uses_.end() && use->machine.value() < range.end; ++use) {
          if (!use->planned || use->to <= window.from || window.to <= use->from) continue;
          if (entitled(window, use->job)) continue;
          findings_->add(FaultKind::machine_not_up, told(*use) + ", which is closed from " +
                                                        std::to_string(window.from) + " to " +
                                                        std::to_string(window.to));
        }
      }
    }
  }

 private:
  [[nodiscard]] bool entitled(const model::Window& window, JobId id) const {
    if (window.kind == model::WindowKind::maintenance) return false;
    if (std::ranges::binary_search(window.job_ids, id)) return true;
    QueueId queue = instance_.workload.job(id).queue;
    for (; queue.valid(); queue = instance_.cluster.queues[queue.index()].parent) {
      if (std::ranges::find(window.queues, queue) != window.queues.end()) return true;
    }
    return false;
  }

  [[nodiscard]] std::int64_t taken_of_device(MachineId machine, std::int64_t milli) const {
    return in_slices(milli, instance_.cluster.class_of(machine).gpu_slices);
  }

  void check_state(const MachineUse& use) {
    if (instance_.cluster.state_of(use.machine) == model::MachineState::up) return;
    findings_->add(FaultKind::machine_not_up, told(use) + ", which takes no new tasks");
  }

  /// Every device that a use takes from `now` on, beside all that hold it then.
  void check_devices(const std::vector<const MachineUse*>& active, std::int64_t now) {
    std::uint64_t begun = 0;
    for (const MachineUse* use : active) {
      if (use->from == now) begun |= use->devices;
    }
    for (; begun != 0; begun &= begun - 1) {
      const int device = std::countr_zero(begun);
      std::int64_t taken = 0;
      const MachineUse* planned = nullptr;  // the last one
      for (const MachineUse* use : active) {
        if (((use->devices >> device) & 1) == 0) continue;
        taken += use->milli;
        if (use->planned) planned = use;
      }
      if (taken > 1000 && planned != nullptr) told_device(*planned, active, device, now);
    }
  }

  /// Jobs that begin on a machine against those that are there then.
  void check_apart(const std::vector<const MachineUse*>& active, std::int64_t now) {
    std::set<std::pair<JobId, JobId>> told_pairs;
    for (const MachineUse* use : active) {
      for (const MachineUse* other : active) {
        const bool begins = use->from == now || other->from == now;
        if (!begins || use->job == other->job || !(use->planned || other->planned)) continue;
        if (!use->job.valid() || !other->job.valid()) continue;
        const std::string_view why = why_apart(rules_of(use->job), rules_of(other->job));
        if (why.empty() || !told_pairs.emplace(use->job, other->job).second) continue;
        findings_->add(FaultKind::kept_apart, told(*use) + " beside " + name_of(other->job) +
                                                  " at " + std::to_string(now) + "; its " +
                                                  std::string(why) + " does not allow that");
      }
    }
  }
  [[nodiscard]] const model::PlacementRules& rules_of(JobId job) const {
    return instance_.workload.rules_of(instance_.workload.job(job));
  }

  void told_device(const MachineUse& use, const std::vector<const MachineUse*>& active, int device,
                   std::int64_t now) {
    const auto other = std::ranges::find_if(active, [&](const MachineUse* one) {
      return one != &use && ((one->devices >> device) & 1) != 0;
    });
    const JobId beside = other == active.end() ? JobId{} : (*other)->job;
    findings_->add(FaultKind::device_oversubscribed,
                   told(use) + ": device " + std::to_string(device) + " is in use by " +
                       (beside.valid() ? name_of(beside) : "content outside the jobs") + " at " +
                       std::to_string(now));
  }

  /// Content that is there already may be more than the machine has; planned tasks may not add.
  void check_resources(const MachineUse& last, const std::vector<const MachineUse*>& active) {
    const bool any = std::ranges::any_of(active, &MachineUse::planned);
    if (!any) return;
    const model::Resources& capacity = instance_.cluster.class_of(last.machine).capacity;
    model::Resources taken;
    for (const MachineUse* use : active) taken += use->taken;
    if (taken.within(capacity)) return;
    findings_->add(FaultKind::machine_oversubscribed,
                   told(last) + ": its tasks take " + amounts_text(taken) + " at " +
                       std::to_string(last.from) + "; it has less");
  }

  [[nodiscard]] std::string name_of(JobId job) const {
    return "job " + std::string(instance_.workload.tables().job_names[job.index()]);
  }
  [[nodiscard]] std::string told(const MachineUse& use) const {
    return (use.job.valid() ? name_of(use.job) : std::string("content")) + " on machine " +
           std::string(instance_.cluster.machine_names[use.machine.index()]);
  }

  InstanceView instance_;
  Horizon horizon_;
  Findings* findings_;
  bool apart_;  ///< some rules keep jobs apart
  std::vector<MachineUse> uses_;
};

}  // namespace

void check_machines_over_time(const InstanceView& instance, const Horizon& horizon,
                              const model::Placement& placements,
                              std::span<const std::int64_t> ends, Findings& findings) {
  OccupancyCheck occupancy(instance, horizon, findings);
  occupancy.add_contents();
  for (std::size_t p = 0; p < placements.size(); ++p) occupancy.add(placements[p], ends[p]);
  occupancy.check();
  occupancy.check_windows();
}

}  // namespace berth::certify
