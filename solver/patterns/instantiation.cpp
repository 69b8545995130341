// SPDX-License-Identifier: Apache-2.0
#include "instantiation.hpp"

#include "gang_selection.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "berth/base/assert.hpp"

namespace berth::solver {
namespace {

/// Free devices of one machine, assigned to the device patterns by their capacity.
class Devices {
 public:
  Devices(const planner_model::Room& room, MachineId machine, const BinType& bin) : bin_(bin) {
    const auto free = room.devices(machine);
    for (std::size_t d = 0; d < free.size(); ++d) {
      if (free[d] == model::kGpuMilli) whole_.push_back(d);
      if (free[d] > 0 && free[d] < model::kGpuMilli) opened_.push_back(d);
    }
    // Descending, the order of BinType::partial, whose entries may be rounded down.
    std::ranges::stable_sort(opened_, std::greater{}, [&](std::size_t d) { return free[d]; });
    taken_.assign(opened_.size(), 0);
  }

  std::uint64_t whole() {
    BERTH_ASSERT(next_ < whole_.size());
    return std::uint64_t{1} << whole_[next_++];
  }

  std::uint64_t opened(int capacity) {
    for (std::size_t i = 0; i < opened_.size(); ++i) {
      if (taken_[i] != 0 || bin_.partial[i] != capacity) continue;
      taken_[i] = 1;
      return std::uint64_t{1} << opened_[i];
    }
    BERTH_ASSERT(capacity == model::kGpuMilli);
    return 0;
  }

 private:
  const BinType& bin_;
  std::vector<std::size_t> whole_, opened_;
  std::vector<char> taken_;
  std::size_t next_ = 0;
};

/// A place for a task, and the slot of its machine.
struct TaskPlace {
  std::size_t slot;
  model::TaskPlacement task;
};
using Places = std::vector<TaskPlace>;

class Instantiation {
 public:
  Instantiation(const PackingProblem& problem, const planner_model::Room& room)
      : problem_(problem), room_(room), places_(problem.types.size()) {}

  void fill(MachineId machine, const MachinePattern& pattern) {
    const BinType& bin = problem_.bins[static_cast<std::size_t>(pattern.bin)];
    Devices devices(room_, machine, bin);
    for (const DeviceShares& content : pattern.devices) {
      const std::uint64_t device =
          content.capacity == model::kGpuMilli ? devices.whole() : devices.opened(content.capacity);
      for (const TypeCount& t : content.shares) {
        for (std::int32_t i = 0; i < t.count; ++i) {
          put(t.type, bin.slot, {machine, 0, device, bin.share(shape(t.type))});
        }
      }
    }
    for (const TypeCount& t : pattern.tasks) {
      if (shape(t.type).gpu_milli > 0) continue;
      for (std::int32_t i = 0; i < t.count; ++i) {
        std::uint64_t mask = 0;
        for (std::int32_t g = 0; g < shape(t.type).gpus; ++g) mask |= devices.whole();
        const auto milli = static_cast<std::int32_t>(mask == 0 ? 0 : model::kGpuMilli);
        put(t.type, bin.slot, {machine, 0, mask, milli});
      }
    }
  }

  /// By job type.
  std::vector<Places> take_places() { return std::move(places_); }

 private:
  [[nodiscard]] const model::Shape& shape(std::int32_t type) const {
    return problem_.types[static_cast<std::size_t>(type)].shape;
  }

  void put(std::int32_t type, std::size_t slot, const model::TaskPlacement& task) {
    places_[static_cast<std::size_t>(type)].push_back({slot, task});
  }

  const PackingProblem& problem_;
  const planner_model::Room& room_;
  std::vector<Places> places_;
};

bool single_tasks_only(const PackingProblem& problem, const model::WorkloadView& workload) {
  return std::ranges::all_of(problem.types, [&](const JobType& type) {
    return std::ranges::all_of(type.jobs,
                               [&](JobId job) { return workload.tasks(workload.job(job)) == 1; });
  });
}

/// Gives the places of each job type to its jobs, in their order.
model::Placement place_single_tasks(const PackingProblem& problem,
                                    const std::vector<Places>& places) {
  model::Placement placed;
  for (std::size_t t = 0; t < places.size(); ++t) {
    std::size_t next = 0;
    for (const TaskPlace& place : places[t]) {
      BERTH_ASSERT(next < problem.types[t].jobs.size());
      placed.push_back({.job = problem.types[t].jobs[next++], .start = 0, .tasks = {place.task}});
    }
  }
  return placed;
}

/// Joins the places of all job types of a shape, and gives them to whole jobs.
model::Placement place_gangs(const PackingProblem& problem,
                             const planner_model::Valuation& valuation,
                             const std::vector<Places>& places) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::vector<PlaceCounts> counts(places.size());
  std::map<std::pair<ShapeId, std::size_t>, std::vector<model::TaskPlacement>> open;
  for (std::size_t t = 0; t < places.size(); ++t) {
    const JobType& type = problem.types[t];
    for (const TaskPlace& place : places[t]) {
      const std::size_t slot = type.shape.uses_gpu() ? place.slot : 0;
      if (counts[t].size() <= slot) counts[t].resize(slot + 1, 0);
      ++counts[t][slot];
      open[{type.shape_id, slot}].push_back(place.task);
    }
  }
  for (auto& [key, tasks] : open) {
    std::ranges::stable_sort(tasks, std::greater{}, &model::TaskPlacement::machine);
  }
  model::Placement placed;
  for (const SelectedJob& selected : select_gangs(problem, valuation, counts)) {
    model::JobPlacement& gang =
        placed.emplace_back(model::JobPlacement{.job = selected.job, .tasks = {}});
    const auto groups = workload.groups_of(workload.job(selected.job));
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      const bool on_gpus = workload.shape(groups[g].shape).uses_gpu();
      auto& left = open[{groups[g].shape, on_gpus ? selected.slot : 0}];
      for (std::int64_t n = groups[g].count; n > 0; --n) {
        BERTH_ASSERT(!left.empty());
        gang.tasks.push_back(left.back());
        gang.tasks.back().group = g;
        left.pop_back();
      }
    }
  }
  return placed;
}

}  // namespace

model::Placement instantiate(const PackingProblem& problem,
                             const planner_model::Valuation& valuation, planner_model::Room& room,
                             const Usage& usage) {
  Instantiation out(problem, room);
  std::vector<std::size_t> next_machine(problem.bins.size(), 0);
  for (const PatternUse& used : usage) {
    const auto s = static_cast<std::size_t>(used.pattern.bin);
    for (std::int64_t c = 0; c < used.copies; ++c) {
      BERTH_ASSERT(next_machine[s] < problem.bins[s].machines.size());
      out.fill(problem.bins[s].machines[next_machine[s]++], used.pattern);
    }
  }
  model::Placement placed = single_tasks_only(problem, valuation.instance().workload)
                                ? place_single_tasks(problem, out.take_places())
                                : place_gangs(problem, valuation, out.take_places());
  std::ranges::sort(placed, {}, &model::JobPlacement::job);
  const model::WorkloadView& workload = valuation.instance().workload;
  std::erase_if(placed, [&](const model::JobPlacement& p) {  // patterns do not know labels
    if (!planner_model::admits(room, workload, p)) return true;
    planner_model::take(room, workload, p);
    return false;
  });
  return placed;
}

}  // namespace berth::solver
