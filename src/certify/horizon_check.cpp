// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/certify/horizon.hpp"

namespace berth::certify {
namespace {

using horizon::JobStart;
using horizon::Option;
using horizon::Problem;
using horizon::Seconds;

/// A GPU set of a machine in [from, to), of a job or (invalid job) of an outage.
struct DeviceUse {
  std::int32_t machine;
  Seconds from, to;
  std::uint64_t devices;
  JobId job;
};

class Checker {
 public:
  Checker(const Problem& problem, const horizon::Plan& plan) : problem_(problem), plan_(plan) {}

  /// Option, pool and times of every placed job.
  void check_jobs() {
    if (plan_.starts.size() != problem_.jobs.size()) {
      fault(HorizonFaultKind::unknown_option, {});
      return;
    }
    for (std::size_t j = 0; j < problem_.jobs.size(); ++j) {
      if (plan_.starts[j].placed()) check_job(JobId(j), problem_.jobs[j], plan_.starts[j]);
    }
  }

  void check_shares() {
    for (std::size_t j = 0; j < problem_.jobs.size() && faults_.empty(); ++j) {
      if (plan_.starts[j].placed()) check_shares_of(JobId(j), plan_.starts[j]);
    }
  }

  /// No GPU twice at a time: uses by machine and start; a GPU is free from the end on.
  void check_devices() {
    for (const auto& outage : problem_.outages) {
      uses_.push_back({outage.machine.value(), outage.from, outage.to, outage.devices, {}});
    }
    std::ranges::sort(uses_, {},
                      [](const DeviceUse& u) { return std::tuple(u.machine, u.from, u.job); });
    std::vector<const DeviceUse*> active;
    std::int32_t machine = -1;
    for (const DeviceUse& use : uses_) {
      if (use.machine != machine) active.clear();
      machine = use.machine;
      std::erase_if(active, [&](const DeviceUse* a) { return a->to <= use.from; });
      for (const DeviceUse* a : active) {
        // outages may overlap each other
        if ((a->devices & use.devices) == 0 || (!a->job.valid() && !use.job.valid())) continue;
        fault(HorizonFaultKind::device_conflict, use.job.valid() ? use.job : a->job, machine,
              use.from);
      }
      active.push_back(&use);
    }
  }

  /// GPUs in use of every pool against its capacity, at every change of one of them.
  void check_pools() {
    struct UsageChange {
      std::int32_t pool;
      Seconds time;
      horizon::Gpus gpus;
    };
    std::vector<UsageChange> changes;
    for (std::size_t j = 0; j < plan_.starts.size() && faults_.empty(); ++j) {
      const JobStart& start = plan_.starts[j];
      if (!start.placed()) continue;
      const Option& option = option_of(problem_.jobs[j], start);
      changes.push_back({start.pool.value(), start.start, option.gpus});
      changes.push_back({start.pool.value(), start.start + option.duration, -option.gpus});
    }
    for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
      horizon::Gpus before = 0;
      for (const auto& step : problem_.pools[p].capacity) {
        changes.push_back({static_cast<std::int32_t>(p), step.from, before - step.gpus});
        before = step.gpus;
      }
    }
    std::ranges::sort(changes, {}, [](const UsageChange& c) { return std::tuple(c.pool, c.time); });
    horizon::Gpus in_use = 0;  // less the capacity
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const bool first = i == 0 || changes[i - 1].pool != changes[i].pool;
      in_use = (first ? 0 : in_use) + changes[i].gpus;
      const bool settled = i + 1 == changes.size() || changes[i + 1].pool != changes[i].pool ||
                           changes[i + 1].time != changes[i].time;
      if (settled && in_use > 0) {
        fault(HorizonFaultKind::pool_over_full, {}, changes[i].pool, changes[i].time);
      }
    }
  }

  std::vector<HorizonFault> faults() { return std::move(faults_); }
  [[nodiscard]] bool clean() const { return faults_.empty(); }

 private:
  const Option& option_of(const horizon::Job& job, const JobStart& start) const {
    return problem_.options_of(job)[static_cast<std::size_t>(start.option)];
  }

  void check_job(JobId id, const horizon::Job& job, const JobStart& start) {
    if (static_cast<std::size_t>(start.option) >= job.options.size()) {
      fault(HorizonFaultKind::unknown_option, id);
      return;
    }
    const Option& option = option_of(job, start);
    if (std::ranges::find(problem_.pools_of(option), start.pool) ==
        problem_.pools_of(option).end()) {
      fault(HorizonFaultKind::wrong_pool, id, start.pool.value(), start.start);
    }
    if (start.start < std::max(job.release, problem_.now)) {
      fault(HorizonFaultKind::before_release, id, -1, start.start);
    }
    if (start.start + option.duration > job.deadline) {
      fault(HorizonFaultKind::after_deadline, id, -1, start.start);
    }
  }

  void check_shares_of(JobId id, const JobStart& start) {
    const Option& option = option_of(problem_.jobs[id.index()], start);
    const auto groups = problem_.tasks_of(option);
    std::vector<std::int64_t> missing;
    for (const auto& group : groups) missing.push_back(group.tasks);
    for (const auto& share : start.shares.of(plan_.shares)) {
      const bool known = share.group >= 0 && static_cast<std::size_t>(share.group) < groups.size();
      if (!known || share.tasks <= 0) {
        fault(HorizonFaultKind::wrong_tasks, id, share.machine.value(), start.start);
        return;
      }
      const auto g = static_cast<std::size_t>(share.group);
      missing[g] -= share.tasks;
      if (!share.machine.valid() || share.machine.index() >= problem_.machines.size() ||
          problem_.machines[share.machine.index()].pool != start.pool) {
        fault(HorizonFaultKind::wrong_machine, id, share.machine.value(), start.start);
        return;
      }
      const std::int32_t gpus = problem_.machines[share.machine.index()].gpus;
      const bool beyond = gpus < 64 && (share.devices >> static_cast<unsigned>(gpus)) != 0;
      const std::int64_t taken = std::int64_t{share.tasks} * groups[g].gpus;
      if (beyond || std::popcount(share.devices) != taken) {
        fault(HorizonFaultKind::wrong_devices, id, share.machine.value(), start.start);
      }
      uses_.push_back(
          {share.machine.value(), start.start, start.start + option.duration, share.devices, id});
    }
    if (std::ranges::any_of(missing, [](std::int64_t tasks) { return tasks != 0; })) {
      fault(HorizonFaultKind::wrong_tasks, id, -1, start.start);
    }
  }

  void fault(HorizonFaultKind kind, JobId job, std::int32_t where = -1, Seconds time = 0) {
    faults_.push_back({.kind = kind, .job = job, .where = where, .time = time});
  }

  const Problem& problem_;
  const horizon::Plan& plan_;
  std::vector<HorizonFault> faults_;
  std::vector<DeviceUse> uses_;
};

}  // namespace

std::vector<HorizonFault> check_on_machines(const Problem& problem, const horizon::Plan& plan) {
  Checker checker(problem, plan);
  checker.check_jobs();
  if (checker.clean()) checker.check_shares();
  if (checker.clean()) checker.check_devices();
  return checker.faults();
}

std::vector<HorizonFault> check_on_pools(const Problem& problem, const horizon::Plan& plan) {
  Checker checker(problem, plan);
  checker.check_jobs();
  if (checker.clean()) checker.check_pools();
  return checker.faults();
}

}  // namespace berth::certify
