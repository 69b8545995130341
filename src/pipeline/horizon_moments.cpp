// SPDX-License-Identifier: Apache-2.0
#include "horizon_moments.hpp"

#include "horizon_costs.hpp"
#include "horizon_mix.hpp"
#include "horizon_moves.hpp"
#include "horizon_promises.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/report/progress.hpp"

namespace berth::pipeline {
namespace {

using horizon::Option;
using horizon::Problem;
using horizon::Seconds;
using model::InstanceView;

constexpr int kMostMoments = 8;  ///< each costs a plan; chosen, not tuned

/// The instance of one moment.
struct Moment {
  model::Cluster cluster;
  model::WorkloadTables tables;
  model::JobSet records;
};

/// Of the search of one moment: its proof is not needed.
PlanOptions options_of_moment() {
  PlanOptions options;
  options.tree_nodes = 0;
  options.search_steps = 0;
  return options;
}

class Moments {
 public:
  Moments(const InstanceView& instance, const model::Horizon& horizon,
          const HorizonProblem& translated)
      : instance_(instance),
        horizon_(horizon),
        translated_(translated),
        open_(translated.problem.jobs.size(), 1) {
    for (const model::Dependency& pair : translated.problem.dependencies) {
      open_[pair.job.index()] = 0;
    }
  }

  horizon::Plan run(const StopToken& stop) {
    const Seconds length = common_length();
    Seconds at = horizon_.now;
    for (int i = 0; i < kMostMoments && !stop.requested(); ++i) {
      if (!plan(at, stop) || length == 0) break;
      at += length;
    }
    std::ranges::stable_sort(starts_, {}, &PromisedStart::job);
    return starts_to_keep(translated_, starts_);
  }

 private:
  /// Duration of all options; 0 when they differ.
  [[nodiscard]] Seconds common_length() const {
    const auto& options = translated_.problem.options;
    if (options.empty()) return 0;
    const Seconds length = options.front().duration;
    const bool all = std::ranges::all_of(
        options, [&](const Option& option) { return option.duration == length; });
    return all ? length : 0;
  }

  [[nodiscard]] bool ended(const model::Running& running, Seconds at) const {
    return running_until(instance_, horizon_, instance_.workload.job(running.job)) <= at;
  }

  /// Plans the moment; false when nothing starts.
  bool plan(Seconds at, const StopToken& stop) {
    const Moment moment = moment_at(at);
    if (!any_takes_part_) return false;
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    const model::Plan found = plan_cluster(comm::Communicator::serial(),
                                           {moment.cluster, {moment.tables, moment.records}},
                                           options_of_moment(), silent, stop);
    for (const model::JobPlacement& placed : found.placements) {
      starts_.push_back({.job = placed.job, .start = at, .end = at, .tasks = placed.tasks});
      const auto position = std::ranges::lower_bound(translated_.jobs, placed.job);
      open_[static_cast<std::size_t>(position - translated_.jobs.begin())] = 0;
    }
    return !found.placements.empty();
  }

  Moment moment_at(Seconds at) {
    Moment moment{.cluster = instance_.cluster,
                  .tables = instance_.workload.tables(),
                  .records = instance_.workload.records()};
    close_machines(at, moment.cluster);
    pin_running(at, moment);
    std::vector<double> values = values_at(at);
    any_takes_part_ = std::ranges::any_of(values, [](double value) { return value > 0.0; });
    for (std::size_t j = 0; j < values.size(); ++j) {
      model::Job& job = moment.records.jobs[j];
      if (job.running >= 0) continue;
      if (values[j] > 0.0) {
        job.value = values[j];
      } else {
        job.gpu_types = 0;
        job.required = false;
      }
    }
    return moment;
  }

  /// Windows that are open at the moment close their machines.
  void close_machines(Seconds at, model::Cluster& cluster) const {
    for (const model::Window& window : cluster.windows) {
      if (window.to <= at || at < window.from) continue;
      cluster.machine_state.resize(cluster.machines(), model::MachineState::up);
      for (const model::MachineRange& range : window.machines) {
        for (auto m = range.first; m < range.end; ++m) {
          cluster.machine_state[static_cast<std::size_t>(m)] = model::MachineState::drained;
        }
      }
    }
  }

  /// Jobs that still run are content of their machines; the others are gone.
  void pin_running(Seconds at, Moment& moment) const {
    const std::vector<model::Running> all = std::exchange(moment.tables.running, {});
    for (model::Running running : all) {
      model::Job& job = moment.records.jobs[running.job.index()];
      if (!running.pinned && ended(running, at)) {
        job.running = -1;
        continue;
      }
      if (!running.pinned) {
        const auto groups = instance_.workload.groups_of(job);
        for (const model::TaskPlacement& task : instance_.workload.tasks_of(running)) {
          moment.cluster.immovable.push_back(
              {.machine = task.machine,
               .devices = task.devices,
               .milli = task.milli,
               .taken = instance_.workload.shape(groups[task.group].shape).needs,
               .job = running.job});
        }
      }
      running.pinned = true;
      job.running = static_cast<std::int32_t>(moment.tables.running.size());
      moment.tables.running.push_back(running);
    }
    std::ranges::stable_sort(moment.cluster.immovable, {}, &model::Immovable::machine);
  }

  /// By job of the instance: its largest gain a second, at speed 1, times the shortest duration; 0:
  /// it cannot start at the moment, or gains nothing.
  [[nodiscard]] std::vector<double> values_at(Seconds at) const {
    const Problem& problem = translated_.problem;
    std::vector<double> values(instance_.workload.size(), 0.0);
    Seconds shortest = horizon::kNever;
    for (const Option& option : problem.options) shortest = std::min(shortest, option.duration);
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const horizon::Job& job = problem.jobs[j];
      if (open_[j] == 0 || job.release > at) continue;
      const model::Job& record = instance_.workload.job(translated_.jobs[j]);
      double& value = values[translated_.jobs[j].index()];
      for (const Option& option : problem.options_of(job)) {
        if (at + option.duration > job.deadline) continue;
        const double gain = gain_rate(problem, job, option, at) * static_cast<double>(shortest);
        const double speed = gpus_of(option) > 0.0
                                 ? instance_.workload.speed(record, pool_type(translated_, option))
                                 : 1.0;
        value = std::max(value, gain / std::max(speed, 1e-12));
      }
    }
    return values;
  }

  InstanceView instance_;
  model::Horizon horizon_;
  const HorizonProblem& translated_;
  std::vector<char> open_;  ///< by job of the problem: not placed, and waits for no other
  bool any_takes_part_ = false;
  std::vector<PromisedStart> starts_;
};

}  // namespace

horizon::Plan plan_moments(const InstanceView& instance, const model::Horizon& horizon,
                           const HorizonProblem& translated, const StopToken& stop) {
  return Moments(instance, horizon, translated).run(stop);
}

}  // namespace berth::pipeline
