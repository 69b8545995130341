// SPDX-License-Identifier: Apache-2.0
#include "instantiation.hpp"

#include <algorithm>
#include <functional>

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

class Instantiation {
 public:
  Instantiation(const PackingProblem& problem, const model::WorkloadView& workload,
                planner_model::Room& room)
      : problem_(problem), workload_(workload), room_(room), next_job_(problem.types.size(), 0) {}

  void fill(MachineId machine, const MachinePattern& pattern) {
    const BinType& bin = problem_.bins[static_cast<std::size_t>(pattern.bin)];
    Devices devices(room_, machine, bin);
    for (const DeviceShares& content : pattern.devices) {
      const std::uint64_t device =
          content.capacity == model::kGpuMilli ? devices.whole() : devices.opened(content.capacity);
      for (const TypeCount& t : content.shares) {
        for (std::int32_t i = 0; i < t.count; ++i) {
          put(t.type, machine, device, bin.share(shape(t.type)));
        }
      }
    }
    for (const TypeCount& t : pattern.tasks) {
      if (shape(t.type).gpu_milli > 0) continue;
      for (std::int32_t i = 0; i < t.count; ++i) {
        std::uint64_t mask = 0;
        for (std::int32_t g = 0; g < shape(t.type).gpus; ++g) mask |= devices.whole();
        put(t.type, machine, mask, mask == 0 ? 0 : static_cast<std::int32_t>(model::kGpuMilli));
      }
    }
  }

  model::Placement result() {
    std::ranges::sort(placed_, {}, &model::JobPlacement::job);
    return std::move(placed_);
  }

 private:
  [[nodiscard]] const model::Shape& shape(std::int32_t type) const {
    return problem_.types[static_cast<std::size_t>(type)].shape;
  }

  void put(std::int32_t type, MachineId machine, std::uint64_t devices, std::int32_t milli) {
    const auto t = static_cast<std::size_t>(type);
    BERTH_ASSERT(next_job_[t] < problem_.types[t].jobs.size());
    const JobId job = problem_.types[t].jobs[next_job_[t]++];
    const model::TaskPlacement task{
        .machine = machine, .group = 0, .devices = devices, .milli = milli};
    BERTH_ASSERT(workload_.groups_of(workload_.job(job)).size() == 1);
    room_.take(task, shape(type));
    placed_.push_back({.job = job, .start = 0, .tasks = {task}});
  }

  const PackingProblem& problem_;
  model::WorkloadView workload_;
  planner_model::Room& room_;
  std::vector<std::size_t> next_job_;
  model::Placement placed_;
};

}  // namespace

model::Placement instantiate(const PackingProblem& problem, const model::WorkloadView& workload,
                             planner_model::Room& room, const Usage& usage) {
  Instantiation out(problem, workload, room);
  std::vector<std::size_t> next_machine(problem.bins.size(), 0);
  for (const PatternUse& used : usage) {
    const auto s = static_cast<std::size_t>(used.pattern.bin);
    for (std::int64_t c = 0; c < used.copies; ++c) {
      BERTH_ASSERT(next_machine[s] < problem.bins[s].machines.size());
      out.fill(problem.bins[s].machines[next_machine[s]++], used.pattern);
    }
  }
  return out.result();
}

}  // namespace berth::solver
