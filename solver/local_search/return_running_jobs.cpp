// SPDX-License-Identifier: Apache-2.0
#include "local_search/return_running_jobs.hpp"

#include "local_search/fill_idle_capacity.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/model/placement.hpp"

namespace berth::solver::local_search {
namespace {

using model::JobPlacement;
using model::TaskPlacement;

/// Most tasks of evicted jobs for one return, or twice the job's own. Chosen, not tuned.
constexpr std::int64_t kMostTasks = 64;
/// Machines that a gang clears to stay in its rack or pod, at most. Chosen, not tuned.
constexpr std::size_t kMostCleared = 4;
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
  /// Of these jobs only, in this order.
  ReturnOfRunningJobs(Occupancy& occupancy, std::span<const JobId> jobs)
      : occupancy_(occupancy), workload_(occupancy.valuation().instance().workload) {
    std::ranges::copy_if(jobs, std::back_inserter(jobs_), [&](JobId job) {
      const model::Running* running = running_of(job);
      return running != nullptr && is_inside(*running);
    });
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

  double try_return(JobId job) {
    JobPlacement present = planner_model::current_placement(workload_, *running_of(job));
    if (stays(occupancy_, job)) return 0.0;
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
    std::vector<JobPlacement> cleared;
    for (std::size_t i = 0; i < evicted.size() + cleared.size(); ++i) {  // `cleared` grows
      const bool first = i < evicted.size();
      const JobPlacement old = first ? evicted[i] : cleared[i - evicted.size()];
      gain -= occupancy_.valuation().placed(old);
      if (!place_again(old, left, first ? &cleared : nullptr)) {
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
      if (stays(occupancy_, job)) lost += running_of(job)->move_cost;
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

  /// Places an evicted job: where it runs, else on its old machines and those that were left. If it
  /// loses value there, in idle capacity or in its old rack or pod.
  /// @param cleared  adds the jobs that it evicts from its rack or pod; null: it may not
  bool place_again(const JobPlacement& old, std::span<const MachineId> left,
                   std::vector<JobPlacement>* cleared) {
    if (!occupancy_.limit_usage().surcharge(old.job)) return false;
    if (const model::Running* running = running_of(old.job);
        running != nullptr && is_inside(*running)) {
      JobPlacement present = planner_model::current_placement(workload_, *running);
      if (occupancy_.is_free(present) && occupancy_.limit_usage().carries(present)) {
        occupancy_.take(std::move(present));
        return true;
      }
    }
    auto near = place_near(old, left);
    const double was = occupancy_.valuation().placed(old);
    const double value = near ? occupancy_.valuation().placed(*near) : -kInfinity;
    if (value >= was) {
      occupancy_.take(std::move(*near));
      return true;
    }
    const Occupancy::Mark mark = occupancy_.mark();
    const bool found = place_in_idle_capacity(occupancy_, old.job);
    const double idle = found ? occupancy_.value_of(old.job) : -kInfinity;
    if (idle >= was) {
      occupancy_.keep(mark);
      return true;
    }
    if (idle > value) near = occupancy_.placed(old.job);
    occupancy_.roll_back(mark);
    if (cleared != nullptr && place_in_old_domain(old, *cleared)) return true;
    if (near) occupancy_.take(std::move(*near));
    return near.has_value();
  }

  /// True when a job loses nothing by a move within its GPU type: it has left its present place,
  /// and neither width nor distance matter to it.
  [[nodiscard]] bool is_free_to_move(JobId id, GpuTypeId type) const {
    const model::Job& job = workload_.job(id);
    if (stays(occupancy_, id) || job.home_pod.valid() || job.home_rack.valid() || job.rules != 0)
      return false;
    if (job.communication.pattern != model::CommunicationPattern::none) return false;
    const planner_model::Valuation& valuation = occupancy_.valuation();
    const bool anywhere = workload_.tasks(job) == 1 || job.domain == model::Level::cluster;
    return anywhere && valuation.option(id, type, job.domain, model::Level::machine) ==
                           valuation.best(id, type);
  }

  /// Tasks of the jobs on a machine if all are free to move; 0 when it is empty or one is not.
  [[nodiscard]] std::int64_t tasks_free_to_move(MachineId machine, GpuTypeId type) const {
    std::int64_t tasks = 0;
    for (const Occupant& occupant : occupancy_.occupants(machine)) {
      if (!is_free_to_move(occupant.job, type)) return 0;
      tasks += workload_.tasks(workload_.job(occupant.job));
    }
    return tasks;
  }

  /// Places a gang in its old rack or pod, on machines from which it evicts jobs that are free to
  /// move. No effect if it finds no place of its old value.
  bool place_in_old_domain(const JobPlacement& old, std::vector<JobPlacement>& cleared) {
    const model::Cluster& cluster = occupancy_.valuation().instance().cluster;
    const model::Level width = model::width(cluster, old.tasks);
    if (width != model::Level::rack && width != model::Level::pod) return false;
    const MachineId first = old.tasks.front().machine;
    const GpuTypeId type = cluster.class_of(first).gpu_type;
    const auto domains = occupancy_.index().domains(type, width);
    const auto domain = std::ranges::find_if(
        domains, [&](const Domain& d) { return std::ranges::binary_search(d.machines, first); });
    if (domain == domains.end()) return false;
    std::vector<std::pair<std::int64_t, MachineId>> others;
    for (const MachineId m : domain->machines) {
      if (const auto tasks = tasks_free_to_move(m, type); tasks > 0) others.emplace_back(tasks, m);
    }
    std::ranges::sort(others);
    if (others.size() > kMostCleared) others.resize(kMostCleared);
    const Occupancy::Mark mark = occupancy_.mark();
    const std::size_t before = cleared.size();
    const double was = occupancy_.valuation().placed(old);
    for (const auto& [tasks, machine] : others) {
      while (!occupancy_.occupants(machine).empty()) {
        cleared.push_back(occupancy_.placed(occupancy_.occupants(machine).front().job));
        occupancy_.give_back(cleared.back().job);
      }
      auto placement = occupancy_.fit(old.job, domain->machines);
      if (!placement || occupancy_.valuation().placed(*placement) < was) continue;
      occupancy_.take(std::move(*placement));
      occupancy_.keep(mark);
      return true;
    }
    occupancy_.roll_back(mark);
    cleared.resize(before);
    return false;
  }

  /// A place on the job's old machines and those that were left.
  [[nodiscard]] std::optional<JobPlacement> place_near(const JobPlacement& old,
                                                       std::span<const MachineId> left) {
    const model::Cluster& cluster = occupancy_.valuation().instance().cluster;
    std::vector<MachineId> machines(left.begin(), left.end());
    std::erase_if(machines, [&](MachineId m) { return !may_use(old, cluster.class_of(m)); });
    add_machines(old, machines);
    auto placement = occupancy_.fit(old.job, machines);
    const model::Level widest = workload_.job(old.job).domain;
    if (placement && model::width(cluster, placement->tasks) > widest) placement.reset();
    return placement;
  }

  Occupancy& occupancy_;
  model::WorkloadView workload_;
  std::vector<JobId> jobs_;
};

}  // namespace

bool stays(const Occupancy& occupancy, JobId job) {
  const model::WorkloadView& workload = occupancy.valuation().instance().workload;
  const model::Running* running = workload.running_of(workload.job(job));
  return running != nullptr && occupancy.is_placed(job) &&
         planner_model::stays(workload, *running, occupancy.placed(job));
}

double return_running_jobs(Occupancy& occupancy, const StopToken& stop) {
  return ReturnOfRunningJobs(occupancy).run(stop);
}

double return_running_jobs(Occupancy& occupancy, std::span<const JobId> jobs,
                           const StopToken& stop) {
  return ReturnOfRunningJobs(occupancy, jobs).run(stop);
}

}  // namespace berth::solver::local_search
