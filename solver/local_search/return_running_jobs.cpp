// SPDX-License-Identifier: Apache-2.0
#include "local_search/return_running_jobs.hpp"

#include "local_search/fill_idle_capacity.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/model/placement.hpp"

namespace berth::solver::local_search {
namespace {

using model::JobPlacement;
using model::TaskPlacement;

/// Most tasks of evicted jobs for one return, or twice the job's own. Chosen, not tuned.
constexpr std::int64_t kMostTasks = 64;
constexpr int kSweeps = 3;           ///< chosen, not tuned
constexpr double kLeastGain = 1e-9;  ///< value; guard against rounding

class ReturnOfRunningJobs {
 public:
  explicit ReturnOfRunningJobs(Occupancy& occupancy)
      : occupancy_(occupancy), workload_(occupancy.valuation().instance().workload) {
    std::vector<std::tuple<double, planner_model::Precedence>> order;
    for (const JobEntry& entry : occupancy.entries()) {
      const model::Running* running = workload_.running_of(workload_.job(entry.job()));
      if (running == nullptr || !is_inside(*running)) continue;
      order.emplace_back(-running->move_cost,
                         planner_model::precedence(occupancy.valuation(), entry.job()));
    }
    std::ranges::sort(order, std::less<>{});
    for (const auto& [cost, precedence] : order) jobs_.push_back(precedence.job);
  }

  double run(const StopToken& stop) {
    double gained = 0.0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      double gain = 0.0;
      for (const JobId job : jobs_) {
        if (stop.requested()) return gained + gain;
        gain += try_return(job);
      }
      gained += gain;
      if (gain <= 0.0) break;
    }
    return gained;
  }

 private:
  [[nodiscard]] bool is_inside(const model::Running& running) const {
    return std::ranges::all_of(workload_.tasks_of(running), [&](const TaskPlacement& t) {
      return std::ranges::binary_search(occupancy_.machines(), t.machine) &&
             occupancy_.room().shared(t.machine).is_up();  // else the machine is being evacuated
    });
  }

  [[nodiscard]] const model::Running* running_of(JobId job) const {
    return workload_.running_of(workload_.job(job));
  }

  [[nodiscard]] bool stays(JobId job) const {
    const model::Running* running = running_of(job);
    return running != nullptr && planner_model::stays(workload_, *running, occupancy_.placed(job));
  }

  double try_return(JobId job) {
    JobPlacement present = planner_model::current_placement(workload_, *running_of(job));
    if (occupancy_.is_placed(job) && stays(job)) return 0.0;
    const double rise = occupancy_.valuation().placed(present) - occupancy_.value_of(job);
    if (rise <= kLeastGain) return 0.0;
    const Occupancy::Mark mark = occupancy_.mark();
    const double gain = exchange(std::move(present), rise);
    if (gain > kLeastGain) {
      occupancy_.keep(mark);
      return gain;
    }
    occupancy_.roll_back(mark);
    return 0.0;
  }

  /// Places the job at its present place. Returns the gain; not positive when limits or the
  /// machines do not allow it, or jobs lose more than `rise`.
  double exchange(JobPlacement present, double rise) {
    const JobId job = present.job;
    double gain = rise + occupancy_.limit_usage().surcharges();
    std::vector<MachineId> left;
    if (occupancy_.is_placed(job)) {
      add_machines(occupancy_.placed(job), left);
      occupancy_.give_back(job);
    }
    add_machines(present, left);
    std::vector<JobPlacement> evicted;
    if (!evict_from(present, rise, evicted)) return 0.0;
    if (!occupancy_.limit_usage().surcharge(job) || !occupancy_.limit_usage().carries(present)) {
      return 0.0;
    }
    occupancy_.take(std::move(present));
    std::ranges::sort(evicted, [&](const JobPlacement& a, const JobPlacement& b) {
      const auto key = [&](const JobPlacement& p) {
        return std::tuple(!workload_.job(p.job).required,
                          -workload_.gpu_milli(workload_.job(p.job)), p.job);
      };
      return key(a) < key(b);
    });
    for (const JobPlacement& old : evicted) {
      gain -= occupancy_.valuation().placed(old);
      if (!place_again(old, left)) {
        if (workload_.job(old.job).required) return 0.0;
        continue;
      }
      gain += occupancy_.value_of(old.job);
    }
    return gain - occupancy_.limit_usage().surcharges();
  }

  static void add_machines(const JobPlacement& placement, std::vector<MachineId>& machines) {
    for (const TaskPlacement& t : placement.tasks) machines.push_back(t.machine);
    std::ranges::sort(machines);
    machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
  }

  /// Makes jobs unplaced until the place is free: those on its devices, then the others on its
  /// machines in order of eviction. False if it cannot be free, or costs moves worth `most`.
  bool evict_from(const JobPlacement& place, double most, std::vector<JobPlacement>& evicted) {
    double lost = 0.0;
    std::int64_t tasks = std::max(kMostTasks, 2 * std::ssize(place.tasks));  // that may be evicted
    const auto evict = [&](JobId job) {
      if (stays(job)) lost += running_of(job)->move_cost;
      evicted.push_back(occupancy_.placed(job));
      occupancy_.give_back(job);
    };
    for (const JobId other : excluded_by(place)) evict(other);
    if (lost >= most) return false;
    const auto groups = workload_.groups_of(workload_.job(place.job));
    for (const bool same_devices : {true, false}) {
      for (const TaskPlacement& t : place.tasks) {
        const model::Shape& shape = workload_.shape(groups[t.group].shape);
        if (occupancy_.room().fits(t, shape)) continue;
        for (const JobId other : jobs_on(t, same_devices)) {
          tasks -= workload_.tasks(workload_.job(other));
          if (tasks < 0) return false;
          evict(other);
          if (lost >= most) return false;
          if (occupancy_.room().fits(t, shape)) break;
        }
      }
      if (occupancy_.is_free(place)) return true;
    }
    return false;
  }

  /// Jobs that rules keep off the machines of the place, ascending.
  [[nodiscard]] std::vector<JobId> excluded_by(const JobPlacement& place) const {
    std::vector<JobId> jobs;
    const model::PlacementRules& rules = workload_.rules_of(workload_.job(place.job));
    if (!rules.concern_others && !occupancy_.room().has_rules()) return jobs;
    for (const TaskPlacement& task : place.tasks) {
      for (const Occupant& occupant : occupancy_.occupants(task.machine)) {
        const model::Job& other = workload_.job(occupant.job);
        if (!model::may_share_machine(rules, workload_.rules_of(other))) {
          jobs.push_back(occupant.job);
        }
      }
    }
    std::ranges::sort(jobs);
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    return jobs;
  }

  /// Jobs on the machine of a task, in order of eviction; `same_devices`: those that use some of
  /// its devices.
  [[nodiscard]] std::vector<JobId> jobs_on(const TaskPlacement& task, bool same_devices) const {
    std::vector<JobId> jobs;
    for (const Occupant& occupant : occupancy_.occupants(task.machine)) {
      const auto overlaps = [&](const TaskPlacement& other) {
        return other.machine == task.machine && (other.devices & task.devices) != 0;
      };
      if (!same_devices || std::ranges::any_of(occupancy_.placed(occupant.job).tasks, overlaps)) {
        jobs.push_back(occupant.job);
      }
    }
    return jobs;
  }

  /// True when tasks of the job may be on such machines while its GPU tasks keep their GPU type.
  [[nodiscard]] bool may_use(const JobPlacement& old, const model::MachineClass& c) const {
    const auto on_gpu =
        std::ranges::find_if(old.tasks, [](const auto& t) { return t.devices != 0; });
    if (on_gpu == old.tasks.end() || !c.gpu_type.valid()) {
      return workload_.allows(workload_.job(old.job), {}, c.gpu_type);
    }
    return c.gpu_type ==
           occupancy_.valuation().instance().cluster.class_of(on_gpu->machine).gpu_type;
  }

  /// Places an evicted job: where it runs, else on its old machines and those that were left, else
  /// in idle capacity.
  bool place_again(const JobPlacement& old, std::span<const MachineId> left) {
    if (!occupancy_.limit_usage().surcharge(old.job)) return false;
    if (const model::Running* running = running_of(old.job);
        running != nullptr && is_inside(*running)) {
      JobPlacement present = planner_model::current_placement(workload_, *running);
      if (occupancy_.is_free(present) && occupancy_.limit_usage().carries(present)) {
        occupancy_.take(std::move(present));
        return true;
      }
    }
    const model::Cluster& cluster = occupancy_.valuation().instance().cluster;
    std::vector<MachineId> machines(left.begin(), left.end());
    std::erase_if(machines, [&](MachineId m) { return !may_use(old, cluster.class_of(m)); });
    add_machines(old, machines);
    auto placement = occupancy_.fit(old.job, machines);
    if (placement && model::width(cluster, placement->tasks) <= workload_.job(old.job).domain) {
      occupancy_.take(std::move(*placement));
      return true;
    }
    return place_in_idle_capacity(occupancy_, old.job);
  }

  Occupancy& occupancy_;
  model::WorkloadView workload_;
  std::vector<JobId> jobs_;
};

}  // namespace

double return_running_jobs(Occupancy& occupancy, const StopToken& stop) {
  return ReturnOfRunningJobs(occupancy).run(stop);
}

}  // namespace berth::solver::local_search
