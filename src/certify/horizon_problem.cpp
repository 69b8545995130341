// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {

using horizon::Problem;
using model::Horizon;
using model::InstanceView;
using model::Job;

std::vector<GpuTypeId> types_of_machines(const model::Cluster& cluster) {
  std::vector<GpuTypeId> types;
  for (const ClassId id : cluster.machine_class) {
    const model::MachineClass& of = cluster.classes[id.index()];
    if (of.gpus > 0) types.push_back(of.gpu_type);
  }
  std::ranges::sort(types);
  types.erase(std::ranges::unique(types).begin(), types.end());
  return types;
}

namespace {

/// Most GPUs of one type in one domain, by level.
using LargestDomains = std::array<std::int64_t, model::kLevels>;

class BoundProblemBuilder {
 public:
  BoundProblemBuilder(const InstanceView& instance, const Horizon& horizon)
      : instance_(instance), horizon_(horizon) {
    result_.problem.now = horizon.now;
    result_.types = types_of_machines(instance.cluster);
    result_.problem.curves = result_.types.size();
  }

  BoundProblem build() {
    add_machines();
    find_waiting_queues();
    close_devices();
    for (const JobId job : model::planned_jobs(instance_.workload)) {
      if (instance_.workload.job(job).running < 0) add_job(job);
    }
    release_after_others(instance_, horizon_, result_);
    return std::move(result_);
  }

 private:
  void add_machines() {
    const model::Cluster& cluster = instance_.cluster;
    machine_.assign(cluster.machines(), {});
    for (std::size_t t = 0; t < result_.types.size(); ++t) {
      const auto first = static_cast<std::int32_t>(result_.problem.machines.size());
      LargestDomains most{}, sum{};
      MachineId before;
      for (std::size_t m = 0; m < cluster.machines(); ++m) {
        const model::MachineClass& of = cluster.class_of(MachineId(m));
        if (of.gpus == 0 || of.gpu_type != result_.types[t]) continue;
        machine_[m] = MachineId(result_.problem.machines.size());
        result_.problem.machines.push_back({.pool = PoolId(t), .gpus = of.gpus});
        count(MachineId(m), before, of.gpus, sum, most);
        before = MachineId(m);
      }
      const auto last = static_cast<std::int32_t>(result_.problem.machines.size());
      result_.problem.pools.push_back(
          {.curve = horizon::CurveId(t), .machines = {first, last}, .capacity = {}});
      result_.problem.pool_sets.push_back({PoolId(t)});
      largest_.push_back(most);
    }
  }

  /// Machines come rack by rack and pod by pod.
  void count(MachineId machine, MachineId before, std::int64_t gpus, LargestDomains& sum,
             LargestDomains& most) const {
    const model::Cluster& cluster = instance_.cluster;
    const bool first = !before.valid();
    const bool rack =
        first || cluster.machine_rack[machine.index()] != cluster.machine_rack[before.index()];
    const bool pod = first || cluster.pod_of(machine) != cluster.pod_of(before);
    sum = {gpus, (rack ? 0 : sum[1]) + gpus, (pod ? 0 : sum[2]) + gpus, sum[3] + gpus};
    for (std::size_t level = 0; level < sum.size(); ++level) {
      most[level] = std::max(most[level], sum[level]);
    }
  }

  void close(MachineId machine, std::int64_t from, std::int64_t to, std::uint64_t devices) {
    const MachineId own = machine_[machine.index()];
    if (!own.valid() || devices == 0 || to <= from) return;
    result_.problem.outages.push_back({.machine = own, .from = from, .to = to, .devices = devices});
  }

  void close_devices() {
    const model::Cluster& cluster = instance_.cluster;
    const std::int64_t now = horizon_.now;
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      if (cluster.state_of(MachineId(m)) != model::MachineState::up) {
        close(MachineId(m), now, horizon::kNever, all_devices(MachineId(m)));
      }
    }
    for (const model::Immovable& content : cluster.immovable) {
      if (content.job.valid()) continue;
      close(content.machine, now, horizon::kNever, content.devices);
    }
    for (const model::Running& running : instance_.workload.tables().running) {
      const std::int64_t end =
          end_of_running(instance_, horizon_, instance_.workload.job(running.job));
      for (const model::TaskPlacement& task : instance_.workload.tasks_of(running)) {
        close(task.machine, now, end, task.devices);
      }
    }
    for (const model::Window& window : cluster.windows) {
      if (window.kind == model::WindowKind::reservation && somebody_may_use(window)) continue;
      for (const model::MachineRange& range : window.machines) {
        for (auto m = range.first; m < range.end; ++m) {
          close(MachineId(m), std::max(now, window.from), window.to, all_devices(MachineId(m)));
        }
      }
    }
  }

  /// True when some waiting job is entitled to the reservation.
  [[nodiscard]] bool somebody_may_use(const model::Window& window) const {
    const auto waits = [&](JobId job) { return instance_.workload.job(job).running < 0; };
    if (std::ranges::any_of(window.job_ids, waits)) return true;
    return std::ranges::any_of(window.queues,
                               [&](QueueId queue) { return queue_waits_[queue.index()]; });
  }

  /// Queues that have, or whose children have, a waiting job.
  void find_waiting_queues() {
    queue_waits_.assign(instance_.cluster.queues.size(), false);
    for (const JobId id : model::planned_jobs(instance_.workload)) {
      const Job& job = instance_.workload.job(id);
      if (job.running >= 0) continue;
      QueueId queue = job.queue;
      for (; queue.valid(); queue = instance_.cluster.queues[queue.index()].parent) {
        queue_waits_[queue.index()] = true;
      }
    }
  }

  [[nodiscard]] std::uint64_t all_devices(MachineId machine) const {
    const auto gpus = static_cast<unsigned>(instance_.cluster.class_of(machine).gpus);
    return gpus >= 64 ? ~0ULL : (1ULL << gpus) - 1;
  }

  void add_job(JobId id) {
    Problem& problem = result_.problem;
    const Job& job = instance_.workload.job(id);
    const bool minimised = model::minimised(horizon_.objective);
    result_.jobs.push_back(id);
    const auto first = static_cast<std::int32_t>(problem.options.size());
    problem.jobs.push_back(
        {.release = release_of(instance_, horizon_, job),
         .deadline = std::min(instance_.workload.time_of(job).deadline, horizon::kNever),
         .required = job.required || minimised,
         .options = {first, first}});
    const bool on_gpus = milli_of(instance_.workload, job) > 0;
    for (const Run run : runs_of(instance_.workload, job)) {
      if (on_gpus) {
        add_options(job, run);
      } else {
        add_option(job, run, {}, 0, 0);
      }
    }
    problem.jobs.back().options.end = static_cast<std::int32_t>(problem.options.size());
  }

  /// One option for each GPU type that can hold the run.
  void add_options(const Job& job, Run run) {
    const std::int64_t gpus = milli_of_run(instance_.workload, job, run) / 1000;
    for (std::size_t t = 0; t < result_.types.size(); ++t) {
      const GpuTypeId type = result_.types[t];
      if (((job.gpu_types >> type.index()) & 1) == 0) continue;
      const LargestDomains& most = largest_[t];
      std::size_t width = 0;
      while (width < most.size() && most[width] < gpus) ++width;
      if (width > static_cast<std::size_t>(job.domain) || !some_machine_holds(job, run, type)) {
        continue;
      }
      add_option(job, run, {.width = static_cast<model::Level>(width), .type = type}, t, gpus);
    }
  }

  /// True when every task of the job with GPUs fits an empty machine of the type.
  [[nodiscard]] bool some_machine_holds(const Job& job, Run run, GpuTypeId type) const {
    const auto groups = instance_.workload.groups_of(job);
    return std::ranges::all_of(groups, [&](const model::TaskGroup& group) {
      const model::Shape& shape = instance_.workload.shape(group.shape);
      const auto g = static_cast<std::size_t>(&group - groups.data());
      return shape.gpus == 0 || (run != nullptr && run->counts[g] == 0) ||
             std::ranges::any_of(instance_.cluster.classes, [&](const model::MachineClass& of) {
               return of.gpu_type == type && of.gpus >= shape.gpus &&
                      shape.needs.within(of.capacity);
             });
    });
  }

  void add_option(const Job& job, Run run, const PlacementExtent& extent, std::size_t pool,
                  std::int64_t gpus) {
    Problem& problem = result_.problem;
    const auto seconds = run_seconds(instance_, horizon_, job, extent.type, run);
    if (!seconds || problem.pools.empty()) return;
    const double value = value_in_time(instance_, job, run, extent);
    const auto pieces =
        costs_in_time(instance_, horizon_, job, value, *seconds, problem.jobs.back().release);
    const auto begin = static_cast<std::int32_t>(problem.cost_pieces.size());
    problem.cost_pieces.insert(problem.cost_pieces.end(), pieces.begin(), pieces.end());
    problem.options.push_back(
        {.pools = horizon::PoolSetId(pool),
         .duration = *seconds,
         .gpus = gpus,
         .tasks = {0, 0},
         .cost = {begin, static_cast<std::int32_t>(problem.cost_pieces.size())}});
  }

  InstanceView instance_;
  Horizon horizon_;
  BoundProblem result_;
  std::vector<MachineId> machine_;       ///< by the cluster's machine: that of the problem
  std::vector<LargestDomains> largest_;  ///< by price curve
  std::vector<bool> queue_waits_;        ///< by QueueId
};

}  // namespace

BoundProblem bound_problem(const InstanceView& instance, const Horizon& horizon) {
  return BoundProblemBuilder(instance, horizon).build();
}

}  // namespace berth::certify
