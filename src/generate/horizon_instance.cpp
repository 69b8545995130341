// SPDX-License-Identifier: Apache-2.0
#include "cluster_builder.hpp"
#include "workload_builder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "berth/base/assert.hpp"
#include "berth/generate/horizon.hpp"

namespace berth::generate {
namespace {

using horizon::Option;
using horizon::Problem;
using horizon::Seconds;

constexpr std::size_t kMachinesOfRack = 16;
/// GPU types by price curve: the faster one first.
constexpr const char* kTypes[] = {"fast", "slow"};

model::Cluster cluster_of(const Problem& problem) {
  ClusterBuilder builder;
  for (const auto& pool : problem.pools) {
    builder.start_pod();
    const char* name = kTypes[pool.curve.index()];
    const GpuTypeId type = builder.gpu_type(name);
    const auto machines = pool.machines.of(problem.machines);
    for (std::size_t m = 0; m < machines.size(); ++m) {
      if (m % kMachinesOfRack == 0) builder.start_rack();
      builder.add_machine(builder.class_id({.name = fmt::format("{}-{}", name, machines[m].gpus),
                                            .gpu_type = type,
                                            .gpus = machines[m].gpus}));
    }
  }
  model::Cluster cluster = builder.take();
  std::map<std::pair<Seconds, Seconds>, std::vector<model::MachineRange>> closed;
  for (const horizon::Outage& outage : problem.outages) {
    closed[{outage.from, outage.to}].push_back(
        {.first = outage.machine.value(), .end = outage.machine.value() + 1});
  }
  for (auto& [times, machines] : closed) {
    model::Window window{.machines = {}, .from = times.first, .to = times.second};
    std::ranges::sort(machines, {}, &model::MachineRange::first);
    for (const model::MachineRange& one : machines) {
      if (window.machines.empty() || window.machines.back().end < one.first) {
        window.machines.push_back(one);
      }
      window.machines.back().end = one.end;
    }
    cluster.windows.push_back(std::move(window));
  }
  return cluster;
}

class JobsOfProblem {
 public:
  explicit JobsOfProblem(const Problem& problem)
      : problem_(problem), builder_(problem.jobs.size(), problem.curves, {"worker"}) {}

  model::Workload build() {
    for (const horizon::Job& job : problem_.jobs) add(job);
    model::Workload workload = builder_.take();
    workload.time_rules = std::move(rules_);
    return workload;
  }

 private:
  void add(const horizon::Job& from) {
    const auto options = problem_.options_of(from);
    const Option& first = options.front();
    Dice unused(0, 0);
    model::Job job = builder_.start_job(unused);
    job.arrival = from.release;
    const auto cost = problem_.cost_of(first).front();
    job.weight = from.required ? cost.slope : -cost.cost / static_cast<double>(first.gpus);
    job.gpu_types = 0;
    std::vector<double> speeds(problem_.curves, 1.0);
    for (const Option& option : options) {
      const std::size_t curve =
          problem_.pools[problem_.pools_of(option).front().index()].curve.index();
      if (option.gpus != first.gpus) continue;  // of an elastic job, the first configuration
      job.gpu_types |= std::uint64_t{1} << curve;
      speeds[curve] = static_cast<double>(first.duration) / static_cast<double>(option.duration);
    }
    if (std::ranges::any_of(speeds, [](double speed) { return speed != 1.0; })) {
      builder_.add_speed_row(speeds);
      job.speed = ++speed_rows_;
    }
    job.time = static_cast<std::uint32_t>(rules_.size());
    rules_.push_back({.duration = first.duration, .not_before = from.release});
    for (const horizon::TaskGroup& group : problem_.tasks_of(first)) {
      builder_.add_group({.needs = {}, .gpus = group.gpus}, group.tasks, 0);
    }
    builder_.finish_job(job);
  }

  const Problem& problem_;
  WorkloadBuilder builder_;
  std::vector<model::TimeRules> rules_{model::TimeRules{}};
  std::uint32_t speed_rows_ = 0;
};

}  // namespace

model::Instance instance_of(const Problem& problem) {
  BERTH_EXPECT(problem.curves <= std::size(kTypes));
  return {.cluster = cluster_of(problem), .workload = JobsOfProblem(problem).build()};
}

}  // namespace berth::generate
