// SPDX-License-Identifier: Apache-2.0
#include "local_search/gang_exchange.hpp"

#include "local_search/machines_of.hpp"
#include "local_search/return_running_jobs.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/domain_task_counts.hpp"
#include "berth/model/placement.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver::local_search {
namespace {

using model::JobPlacement;

constexpr int kSweepsOfGangs = 3;  ///< chosen, not tuned
/// Racks (pods) tried for one gang, those that lose least. Chosen, not tuned.
constexpr std::size_t kMostTargets = 4;
/// Gangs visited and exchanges tried, each of which looks at all machines and jobs: at most so many
/// of these in all. Chosen, not tuned.
constexpr std::size_t kMostRecords = 1'000'000;
constexpr double kLeastRise = 1e-9;  ///< value; guard against rounding

class GangExchange {
 public:
  explicit GangExchange(Occupancy& occupancy)
      : occupancy_(occupancy),
        workload_(occupancy.valuation().instance().workload),
        left_(kMostRecords / (occupancy.machines().size() + occupancy.entries().size() + 1)) {
    for (const JobEntry& entry : occupancy.entries()) {
      const model::Running* running = workload_.running_of(workload_.job(entry.job()));
      if (running == nullptr || running->move_cost <= 0.0) continue;
      for (const MachineId m : machines_of(workload_.tasks_of(*running))) {
        at_home_[m].push_back(entry.job());
      }
    }
  }

  double run(const StopToken& stop) {
    double gained = 0.0;
    for (int sweep = 0; sweep < kSweepsOfGangs && !at_home_.empty(); ++sweep) {
      double gain = 0.0;
      for (const auto& [away, gang] : gangs_by_cost()) {
        if (left_ == 0 || stop.requested()) return gained + gain;
        --left_;
        gain += try_exchange(gang);
      }
      gained += gain;
      if (gain <= 0.0) break;
    }
    return gained;
  }

 private:
  [[nodiscard]] const model::Cluster& cluster() const {
    return occupancy_.valuation().instance().cluster;
  }

  /// Move costs of the jobs whose present place is on the machine and that stay, or are elsewhere.
  [[nodiscard]] double move_costs(MachineId m, bool staying) const {
    const auto at = at_home_.find(m);
    if (at == at_home_.end()) return 0.0;
    double sum = 0.0;
    for (const JobId job : at->second) {
      if (stays(occupancy_, job) == staying)
        sum += workload_.running_of(workload_.job(job))->move_cost;
    }
    return sum;
  }

  [[nodiscard]] double away(std::span<const MachineId> machines) const {
    double sum = 0.0;
    for (const MachineId m : machines) sum += move_costs(m, false);
    return sum;
  }

  /// True when the job does not stay and is alone on each of its machines, all of one class.
  [[nodiscard]] bool takes_machines(const JobEntry& entry) const {
    if (!entry.is_placed() || stays(occupancy_, entry.job())) return false;
    const MachineId first = entry.placement.tasks.front().machine;
    return std::ranges::all_of(entry.placement.tasks, [&](const model::TaskPlacement& t) {
      return cluster().machine_class[t.machine.index()] == cluster().machine_class[first.index()] &&
             occupancy_.occupants(t.machine).size() == 1 &&
             std::popcount(t.devices) == cluster().class_of(t.machine).gpus;
    });
  }

  /// Jobs on machines that running jobs have left, by descending move cost of these.
  [[nodiscard]] std::vector<std::pair<double, JobId>> gangs_by_cost() const {
    std::vector<std::pair<double, JobId>> gangs;
    for (const JobEntry& entry : occupancy_.entries()) {
      if (!takes_machines(entry)) continue;
      const double cost = away(machines_of(entry.placement.tasks));
      if (cost > 0.0) gangs.emplace_back(-cost, entry.job());
    }
    std::ranges::sort(gangs);
    return gangs;
  }

  [[nodiscard]] bool has_immovable(MachineId m) const {
    return std::ranges::binary_search(cluster().immovable, m, {}, &model::Immovable::machine);
  }

  /// True when the machine's jobs are on no other machine.
  [[nodiscard]] bool has_jobs_of_its_own(MachineId m) const {
    return std::ranges::all_of(occupancy_.occupants(m), [&](const Occupant& o) {
      const auto& tasks = occupancy_.placed(o.job).tasks;
      return std::ranges::all_of(tasks, [&](const auto& t) { return t.machine == m; });
    });
  }

  /// The machines of the domain, beside the gang's, that lose least by moves of jobs; empty where
  /// the domain has too few. @param cost  set to what they lose
  [[nodiscard]] std::vector<MachineId> cheapest(const Domain& domain,
                                                std::span<const MachineId> gang,
                                                double& cost) const {
    const ClassId machine_class = cluster().machine_class[gang.front().index()];
    std::vector<std::pair<double, MachineId>> candidates;
    for (const MachineId m : domain.machines) {
      if (cluster().machine_class[m.index()] != machine_class || has_immovable(m)) continue;
      if (!occupancy_.room().shared(m).is_up() || !has_jobs_of_its_own(m)) continue;
      if (std::ranges::binary_search(gang, m)) continue;
      candidates.emplace_back(move_costs(m, true), m);
    }
    if (candidates.size() < gang.size()) return {};
    const auto end = candidates.begin() + std::ssize(gang);
    std::ranges::partial_sort(candidates, end);
    std::vector<MachineId> machines;
    cost = 0.0;
    for (auto at = candidates.begin(); at != end; ++at) {
      cost += at->first;
      machines.push_back(at->second);
    }
    std::ranges::sort(machines);
    return machines;
  }

  double try_exchange(JobId gang) {
    if (!occupancy_.is_placed(gang) || !takes_machines(entry_of(gang))) return 0.0;
    const std::vector<MachineId> from = machines_of(occupancy_.placed(gang).tasks);
    const model::Level width = model::width(cluster(), occupancy_.placed(gang).tasks);
    const auto level = std::max(width, model::Level::rack);
    const GpuTypeId type = cluster().class_of(from.front()).gpu_type;
    const double most = away(from) - kLeastRise;
    std::vector<std::pair<double, std::vector<MachineId>>> targets;
    for (const Domain& domain : occupancy_.index().domains(type, level)) {
      double cost = 0.0;
      std::vector<MachineId> machines = cheapest(domain, from, cost);
      if (!machines.empty() && cost < most) targets.emplace_back(cost, std::move(machines));
    }
    std::ranges::sort(targets);
    if (targets.size() > kMostTargets) targets.resize(kMostTargets);
    for (const auto& [cost, to] : targets) {
      if (left_ == 0) break;
      --left_;
      const double gain = try_exchange(from, to);
      if (gain > 0.0) return gain;
    }
    return 0.0;
  }

  /// Returns the gain; 0, and nothing has changed, if there is none.
  double try_exchange(std::span<const MachineId> from, std::span<const MachineId> to) {
    const double before = worth();
    const Occupancy::Mark mark = occupancy_.mark();
    if (exchange(from, to)) {
      return_running_jobs(occupancy_, jobs_at_home(from), {});
      const double gain = worth() - before;
      if (gain > kLeastRise) {
        occupancy_.keep(mark);
        return gain;
      }
    }
    occupancy_.roll_back(mark);
    return 0.0;
  }

  [[nodiscard]] const JobEntry& entry_of(JobId job) const {
    return occupancy_.entries()[occupancy_.position(job)];
  }
  [[nodiscard]] double worth() const {
    return occupancy_.value() - occupancy_.limit_usage().surcharges();
  }

  /// Running jobs that could return to these machines, by descending move cost.
  [[nodiscard]] std::vector<JobId> jobs_at_home(std::span<const MachineId> machines) const {
    std::vector<std::pair<double, JobId>> order;
    for (const MachineId m : machines) {
      const auto at = at_home_.find(m);
      if (at == at_home_.end()) continue;
      for (const JobId job : at->second) {
        order.emplace_back(-workload_.running_of(workload_.job(job))->move_cost, job);
      }
    }
    std::ranges::sort(order);
    order.erase(std::unique(order.begin(), order.end()), order.end());
    std::vector<JobId> jobs;
    for (const auto& [cost, job] : order) jobs.push_back(job);
    return jobs;
  }

  /// Exchanges what is on the machines, one by one. False, in between, where limits or rules do not
  /// allow it.
  bool exchange(std::span<const MachineId> from, std::span<const MachineId> to) {
    std::map<MachineId, MachineId> other;
    for (std::size_t i = 0; i < from.size(); ++i) {
      other[from[i]] = to[i];
      other[to[i]] = from[i];
    }
    std::vector<JobPlacement> moved;
    for (const auto& [machine, unused] : other) {
      while (!occupancy_.occupants(machine).empty()) {
        moved.push_back(occupancy_.placed(occupancy_.occupants(machine).front().job));
        occupancy_.give_back(moved.back().job);
      }
    }
    for (JobPlacement& placement : moved) {
      for (model::TaskPlacement& t : placement.tasks) t.machine = other.at(t.machine);
      if (!keeps_rules(placement) || !occupancy_.is_free(placement) ||
          !occupancy_.limit_usage().surcharge(placement.job) ||
          !occupancy_.limit_usage().carries(placement)) {
        return false;
      }
      occupancy_.take(std::move(placement));
    }
    return true;
  }

  /// True when the job's tasks are spread over machines, racks and pods as its rules ask.
  [[nodiscard]] bool keeps_rules(const JobPlacement& placement) const {
    model::DomainTaskCounts counts(cluster(), workload_.rules_of(workload_.job(placement.job)),
                                   std::ssize(placement.tasks));
    return std::ranges::all_of(placement.tasks, [&](const model::TaskPlacement& t) {
      const bool allowed = counts.allow(t.machine);
      counts.take(t.machine);
      return allowed;
    });
  }

  Occupancy& occupancy_;
  model::WorkloadView workload_;
  std::size_t left_;                                 ///< gangs and exchanges
  std::map<MachineId, std::vector<JobId>> at_home_;  ///< running jobs by machine
};

}  // namespace

double exchange_gangs(Occupancy& occupancy, const StopToken& stop) {
  return GangExchange(occupancy).run(stop);
}

}  // namespace berth::solver::local_search
