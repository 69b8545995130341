// SPDX-License-Identifier: Apache-2.0
#include "horizon_notes.hpp"

#include "horizon_costs.hpp"
#include "horizon_moves.hpp"
#include "horizon_problem.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace berth::pipeline {
namespace {

using model::InstanceView;

/// Lines of one kind that are written in full.
constexpr std::size_t kMostInFull = 5;

/// A running job on one of its machines.
struct Stay {
  MachineId machine;
  JobId job;
  std::int64_t until = 0;

  auto operator<=>(const Stay&) const = default;
};

std::vector<Stay> stays_of(const InstanceView& instance, const model::Horizon& horizon) {
  std::vector<Stay> stays;
  for (const model::Running& running : instance.workload.tables().running) {
    if (must_move(instance, horizon, running.job)) continue;
    const std::int64_t until = running_until(instance, horizon, instance.workload.job(running.job));
    for (const model::TaskPlacement& task : instance.workload.tasks_of(running)) {
      stays.push_back({.machine = task.machine, .job = running.job, .until = until});
    }
  }
  std::ranges::sort(stays);
  const auto repeated = std::ranges::unique(stays);
  stays.erase(repeated.begin(), repeated.end());
  return stays;
}

class Collisions {
 public:
  Collisions(const InstanceView& instance, const model::Horizon& horizon)
      : instance_(instance), horizon_(horizon), stays_(stays_of(instance, horizon)) {}

  std::vector<std::string> with_windows() const {
    std::vector<std::string> lines;
    for (const model::Window& window : instance_.cluster.windows) {
      if (window.to <= horizon_.now) continue;
      for (const model::MachineRange& range : window.machines) {
        auto stay = std::ranges::lower_bound(stays_, MachineId(range.first), {}, &Stay::machine);
        for (; stay != stays_.end() && stay->machine.value() < range.end; ++stay) {
          if (stay->until <= window.from || allowed(window, stay->job)) continue;
          lines.push_back(fmt::format("{}, which is closed from {} to {}", told(*stay), window.from,
                                      window.to));
        }
      }
    }
    return lines;
  }

  std::vector<std::string> with_drains() const {
    std::vector<std::string> lines;
    for (const model::DrainDeadline& drain : instance_.cluster.drain_deadlines) {
      auto stay = std::ranges::lower_bound(stays_, drain.machine, {}, &Stay::machine);
      for (; stay != stays_.end() && stay->machine == drain.machine; ++stay) {
        if (stay->until <= drain.deadline) continue;
        lines.push_back(fmt::format("{}, which must be empty by {}: it is pinned", told(*stay),
                                    drain.deadline));
      }
    }
    return lines;
  }

 private:
  [[nodiscard]] bool allowed(const model::Window& window, JobId job) const {
    return window.kind == model::WindowKind::reservation && may_use(instance_, job, window);
  }

  [[nodiscard]] std::string told(const Stay& stay) const {
    return fmt::format("job {} runs until {} on machine {}",
                       instance_.workload.tables().job_names[stay.job.index()], stay.until,
                       instance_.cluster.machine_names[stay.machine.index()]);
  }

  InstanceView instance_;
  model::Horizon horizon_;
  std::vector<Stay> stays_;  ///< ascending
};

void append(std::vector<std::string>& notes, std::vector<std::string> lines,
            std::string_view what) {
  const std::size_t shown = std::min(lines.size(), kMostInFull);
  std::move(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown),
            std::back_inserter(notes));
  if (lines.size() > shown) {
    notes.push_back(fmt::format("{} more running jobs {}", lines.size() - shown, what));
  }
}

}  // namespace

std::vector<std::string> horizon_notes(const InstanceView& instance,
                                       const model::Horizon& horizon) {
  std::vector<std::string> notes;
  const Collisions collisions(instance, horizon);
  append(notes, collisions.with_windows(), "are on machines when these close");
  append(notes, collisions.with_drains(), "are on machines that must be empty before they end");
  for (const model::Queue& queue : instance.cluster.queues) {
    if (queue.gpu_quota < 0 || queue.hard()) continue;
    notes.push_back(
        fmt::format("the soft quota of queue {} is a limit in a plan with --horizon", queue.name));
  }
  if (!instance.cluster.spare.empty()) {
    notes.push_back("spare GPUs are a limit in a plan with --horizon");
  }
  return notes;
}

}  // namespace berth::pipeline
