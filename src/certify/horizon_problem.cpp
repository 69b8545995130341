// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"
#include "horizon_limits.hpp"
#include "horizon_worth.hpp"

#include <algorithm>
#include <array>
#include <utility>

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
  BoundProblemBuilder(const InstanceView& instance, const Horizon& horizon,
                      const model::PriceCurves& prices)
      : instance_(instance),
        horizon_(horizon),
        types_(types_of_machines(instance.cluster)),
        closures_(closures(instance, horizon)),
        factors_(instance, types_, prices),
        limits_(instance, horizon) {
    result_.problem.now = horizon.now;
    result_.types = types_;
    result_.problem.curves = result_.types.size();
  }

  BoundProblem build() {
    add_machines();
    close_devices();
    limits_.add_to(result_);
    for (const JobId job : model::planned_jobs(instance_.workload)) {
      if (is_decided(instance_, horizon_, instance_.workload.job(job))) add_job(job);
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

  void close_devices() {
    for (const Closure& closure : closures_) {
      const MachineId own = machine_[closure.machine.index()];
      if (!own.valid() || closure.devices == 0) continue;
      result_.problem.outages.push_back(
          {.machine = own, .from = closure.from, .to = closure.to, .devices = closure.devices});
    }
    if (!factors_.given() && !shares_wait()) return;
    auto worth = factors_.given()
                     ? worth_in_time(instance_, horizon_.now, result_.types, closures_, factors_)
                     : worth_of_devices(instance_.cluster, horizon_.now, result_.types, closures_);
    for (std::size_t t = 0; t < worth.size(); ++t) {
      result_.problem.pools[t].worth = std::move(worth[t]);
    }
  }

  /// True when some job to be planned takes a share of a GPU.
  [[nodiscard]] bool shares_wait() const {
    const auto& shapes = instance_.workload.tables().shapes;
    return std::ranges::any_of(shapes, [](const model::Shape& s) { return s.gpu_milli > 0; });
  }

  void add_job(JobId id) {
    Problem& problem = result_.problem;
    const Job& job = instance_.workload.job(id);
    const bool minimised = model::minimised(horizon_.objective);
    result_.jobs.push_back(id);
    const auto first = static_cast<std::int32_t>(problem.options.size());
    problem.jobs.push_back(
        {.release = release_of(instance_, horizon_, job),
         .deadline = job.running >= 0
                         ? horizon::kNever
                         : std::min(instance_.workload.time_of(job).deadline, horizon::kNever),
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

  /// Of a job that runs none: where it may not stay, it ends as early as it can.
  [[nodiscard]] std::int64_t deadline_of(const Job& job) const {
    if (job.running >= 0) return horizon::kNever;
    return std::min(instance_.workload.time_of(job).deadline, horizon::kNever);
  }

  /// One option for each GPU type that can hold the run.
  void add_options(const Job& job, Run run) {
    const std::int64_t milli = milli_of_run(instance_.workload, job, run);
    for (std::size_t t = 0; t < result_.types.size(); ++t) {
      const GpuTypeId type = result_.types[t];
      if (((job.gpu_types >> type.index()) & 1) == 0) continue;
      const LargestDomains& most = largest_[t];
      std::size_t width = 0;
      while (width < most.size() && 1000 * most[width] < milli) ++width;
      if (width > static_cast<std::size_t>(job.domain) || !some_machine_holds(job, run, type)) {
        continue;
      }
      add_option(job, run, {.width = static_cast<model::Level>(width), .type = type}, t, milli);
    }
  }

  /// True when every task of the job with GPUs fits an empty machine of the type.
  [[nodiscard]] bool some_machine_holds(const Job& job, Run run, GpuTypeId type) const {
    const auto groups = instance_.workload.groups_of(job);
    return std::ranges::all_of(groups, [&](const model::TaskGroup& group) {
      const model::Shape& shape = instance_.workload.shape(group.shape);
      const auto g = static_cast<std::size_t>(&group - groups.data());
      return !shape.uses_gpu() || (run != nullptr && run->counts[g] == 0) ||
             std::ranges::any_of(instance_.cluster.classes, [&](const model::MachineClass& of) {
               return of.gpu_type == type && of.gpus >= std::max(shape.gpus, 1) &&
                      shape.needs.within(of.capacity);
             });
    });
  }

  void add_option(const Job& job, Run run, const PlacementExtent& extent, std::size_t pool,
                  std::int64_t milli) {
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
         .gpus = milli / 1000,
         .share_milli = milli % 1000,
         .tasks = {0, 0},
         .cost = {begin, static_cast<std::int32_t>(problem.cost_pieces.size())},
         .rent = rent_of(job, run, pool, milli)});
    limits_.charge(job, problem);
  }

  [[nodiscard]] std::int64_t rent_of(const Job& job, Run run, std::size_t curve,
                                     std::int64_t milli) const {
    if (!factors_.given()) return horizon::kRentUnit * milli / 1000;
    const auto groups = instance_.workload.groups_of(job);
    std::int64_t rent = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::int64_t tasks = run == nullptr ? groups[g].count : run->counts[g];
      rent += tasks * factors_(groups[g].shape, curve);
    }
    return rent;
  }

  InstanceView instance_;
  Horizon horizon_;
  std::vector<GpuTypeId> types_;
  BoundProblem result_;
  std::vector<MachineId> machine_;       ///< by the cluster's machine: that of the problem
  std::vector<LargestDomains> largest_;  ///< by price curve
  std::vector<Closure> closures_;
  ShapeFactors factors_;
  HorizonLimits limits_;
};

}  // namespace

BoundProblem bound_problem(const InstanceView& instance, const Horizon& horizon,
                           const model::PriceCurves& prices) {
  return BoundProblemBuilder(instance, horizon, prices).build();
}

}  // namespace berth::certify
