// SPDX-License-Identifier: Apache-2.0
#include "horizon_worth.hpp"

#include "content_bound.hpp"
#include "machine_variants.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using horizon::CapacityStep;
using model::InstanceView;
using model::Shape;

constexpr std::int64_t kLargestFactor = std::int64_t{1} << 40;
constexpr std::int64_t kLargestWorth = std::int64_t{1} << 62;  ///< of all machines
/// Work for all states of machines together, shared by the different ones (decision 27).
constexpr std::size_t kStateLabels = 200'000;
constexpr std::size_t kStateCells = 100'000'000;

void expect_factor(bool holds, const std::string& why) {
  if (!holds) throw InputError({}, "factors of the horizon: " + why);
}

/// Free room of one machine.
struct RoomState {
  ClassId machine_class;
  std::vector<std::int16_t> free;  ///< thousandths of its devices, ascending
  model::Resources room = {};
  auto operator<=>(const RoomState&) const = default;
};

RoomState empty_machine(const model::Cluster& cluster, ClassId c) {
  const model::MachineClass& of = cluster.classes[c.index()];
  return {.machine_class = c,
          .free = std::vector<std::int16_t>(static_cast<std::size_t>(of.gpus), 1000),
          .room = of.capacity};
}

/// The machine's state beside these closures.
RoomState state_beside(const model::Cluster& cluster, MachineId machine,
                       std::span<const Closure* const> closures) {
  RoomState state = empty_machine(cluster, cluster.machine_class[machine.index()]);
  for (const Closure* closure : closures) {
    if (closure->all) {
      state.free.clear();
      state.room = {};
      return state;
    }
    for (std::uint64_t rest = closure->devices; rest != 0; rest &= rest - 1) {
      std::int16_t& free = state.free[static_cast<std::size_t>(std::countr_zero(rest))];
      free = static_cast<std::int16_t>(std::max(0, free - closure->milli));
    }
    for (std::size_t r = 0; r < model::kResources; ++r) {
      if (state.room[r] == model::kNoLimit) continue;
      state.room[r] = std::max<std::int64_t>(0, state.room[r] - closure->taken[r]);
    }
  }
  std::ranges::sort(state.free);
  return state;
}

/// From a time on, a machine has this state.
struct StateStep {
  std::int64_t from;
  RoomState state;
};

/// States of a machine over time, from `now` on.
std::vector<StateStep> states_of(const model::Cluster& cluster, std::int64_t now,
                                 std::span<const Closure> closures) {
  std::vector<std::int64_t> times{now};
  for (const Closure& closure : closures) {
    times.insert(times.end(), {std::max(now, closure.from), std::max(now, closure.to)});
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<StateStep> steps;
  std::vector<const Closure*> active;
  for (const std::int64_t time : times) {
    active.clear();
    for (const Closure& closure : closures) {
      if (closure.from <= time && time < closure.to) active.push_back(&closure);
    }
    steps.push_back({time, state_beside(cluster, closures.front().machine, active)});
  }
  return steps;
}

using WorthOfStates = std::map<RoomState, std::int64_t>;

/// The price curve of machines with GPUs.
std::size_t curve_of(const model::Cluster& cluster, std::span<const GpuTypeId> types, ClassId c) {
  const GpuTypeId type = cluster.classes[c.index()].gpu_type;
  return static_cast<std::size_t>(std::ranges::find(types, type) - types.begin());
}

/// Most that the tasks on a machine of one state pay together.
class ContentWorth {
 public:
  ContentWorth(const InstanceView& instance, std::span<const GpuTypeId> types,
               const ShapeFactors& factors)
      : instance_(instance), types_(types), factors_(factors) {}

  void solve(WorthOfStates& worths) const {
    std::vector<WorthOfStates::iterator> all;
    for (auto i = worths.begin(); i != worths.end(); ++i) all.push_back(i);
    const ContentWork most;
    const std::size_t count = std::max<std::size_t>(1, all.size());
    const ContentWork work{.labels = std::min(most.labels, kStateLabels / count),
                           .cells = std::min(most.cells, kStateCells / count)};
    parallel::run_tasks(all.size(),
                        [&](std::size_t i) { all[i]->second = worth_of(all[i]->first, work); });
  }

 private:
  [[nodiscard]] std::int64_t worth_of(const RoomState& state, const ContentWork& work) const {
    const std::size_t curve = curve_of(instance_.cluster, types_, state.machine_class);
    const model::MachineClass& of = instance_.cluster.classes[state.machine_class.index()];
    MachineRoom room{.whole = std::ranges::count(state.free, 1000), .partly = {}, .amounts = {}};
    const auto first = std::ranges::upper_bound(state.free, 0);
    const auto last = std::ranges::lower_bound(state.free, 1000);
    room.partly = {first, last};
    room.amounts = state.room;
    std::vector<KnapsackItem> items;
    const std::vector<Shape>& shapes = instance_.workload.tables().shapes;
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      const std::int64_t factor = factors_(ShapeId(s), curve);
      const std::int64_t milli =
          shapes[s].gpu_milli > 0 ? in_slices(shapes[s].gpu_milli, of.gpu_slices) : 0;
      if (factor == 0 || !fits(shapes[s], milli, room)) continue;
      items.push_back({.price = factor,
                       .devices = shapes[s].gpus,
                       .milli = shapes[s].gpus > 0 ? 1000 * std::int64_t{shapes[s].gpus} : milli,
                       .needs = shapes[s].needs});
    }
    const Int128 worth = content_bound(room, items, work);
    expect_factor(worth <= kLargestWorth / std::ssize(instance_.cluster.machine_class),
                  "a machine is worth too much");
    return static_cast<std::int64_t>(worth);
  }

  static bool fits(const Shape& shape, std::int64_t milli, const MachineRoom& room) {
    if (!shape.needs.within(room.amounts)) return false;
    if (shape.gpus > 0 || milli == 0) return shape.gpus <= room.whole;
    return room.whole > 0 || (!room.partly.empty() && milli <= room.partly.back());
  }

  InstanceView instance_;
  std::span<const GpuTypeId> types_;
  const ShapeFactors& factors_;
};

std::vector<CapacityStep> steps_of(std::int64_t now,
                                   const std::map<std::int64_t, std::int64_t>& changes) {
  std::vector<CapacityStep> steps{{.from = now, .gpus = 0}};
  for (const auto& [from, change] : changes) {
    const std::int64_t worth = steps.back().gpus + change;
    if (from > steps.back().from) steps.push_back({.from = from, .gpus = worth});
    steps.back().gpus = worth;
  }
  return steps;
}

/// The machines with GPUs by their states over time.
class MachinesInTime {
 public:
  MachinesInTime(const model::Cluster& cluster, std::int64_t now, std::vector<Closure> closures)
      : cluster_(cluster), now_(now) {
    for (const ClassId c : cluster.machine_class) ++empty_[c];
    std::erase_if(empty_, [&](const auto& entry) { return !has_gpus(entry.first); });
    std::ranges::stable_sort(closures, {}, &Closure::machine);
    for (auto first = closures.begin(); first != closures.end();) {
      const MachineId machine = first->machine;
      const auto last = std::find_if(first, closures.end(),
                                     [&](const Closure& c) { return c.machine != machine; });
      const ClassId c = cluster.machine_class[machine.index()];
      if (has_gpus(c)) {
        closed_.push_back(states_of(cluster, now, {first, last}));
        --empty_[c];
      }
      first = last;
    }
  }

  [[nodiscard]] WorthOfStates states() const {
    WorthOfStates worths;
    for (const auto& [c, count] : empty_) worths.emplace(empty_machine(cluster_, c), 0);
    for (const auto& steps : closed_) {
      for (const StateStep& step : steps) worths.emplace(step.state, 0);
    }
    return worths;
  }

  [[nodiscard]] std::vector<std::vector<CapacityStep>> worth(std::span<const GpuTypeId> types,
                                                             const WorthOfStates& worths) const {
    std::vector<std::map<std::int64_t, std::int64_t>> changes(types.size());
    const auto changes_of = [&](const RoomState& state) -> auto& {
      return changes[curve_of(cluster_, types, state.machine_class)];
    };
    for (const auto& [c, count] : empty_) {
      const RoomState state = empty_machine(cluster_, c);
      changes_of(state)[now_] += count * worths.at(state);
    }
    for (const auto& steps : closed_) {
      std::int64_t before = 0;
      for (const StateStep& step : steps) {
        const std::int64_t worth = worths.at(step.state);
        changes_of(step.state)[step.from] += worth - before;
        before = worth;
      }
    }
    std::vector<std::vector<CapacityStep>> result;
    for (const auto& of_curve : changes) result.push_back(steps_of(now_, of_curve));
    return result;
  }

 private:
  [[nodiscard]] bool has_gpus(ClassId c) const { return cluster_.classes[c.index()].gpus > 0; }

  const model::Cluster& cluster_;
  std::int64_t now_;
  std::map<ClassId, std::int64_t> empty_;       ///< machines without closures
  std::vector<std::vector<StateStep>> closed_;  ///< of the others, one each
};

/// True when all machines have GPUs, and none has room for any number of such tasks.
bool limited_everywhere(const InstanceView& instance, const Shape& shape) {
  return std::ranges::all_of(instance.cluster.machine_class, [&](ClassId c) {
    const model::MachineClass& of = instance.cluster.classes[c.index()];
    bool limited = false;
    for (std::size_t r = 0; r < model::kResources; ++r) {
      limited = limited || (shape.needs[r] > 0 && of.capacity[r] != model::kNoLimit);
    }
    return of.gpus > 0 && limited;
  });
}

}  // namespace

ShapeFactors::ShapeFactors(const InstanceView& instance, std::span<const GpuTypeId> types,
                           const model::PriceCurves& prices)
    : curves_(types.size()) {
  if (prices.factors.empty()) return;
  factors_.assign(instance.workload.tables().shapes.size() * curves_, -1);
  for (const auto& raw : prices.factors) read(instance, types, raw);
  for (std::size_t s = 0; s < instance.workload.tables().shapes.size(); ++s) {
    const Shape& shape = instance.workload.tables().shapes[s];
    const bool pays = shape.uses_gpu() || (curves_ == 1 && limited_everywhere(instance, shape));
    for (std::size_t c = 0; c < curves_; ++c) {
      std::int64_t& factor = factors_[s * curves_ + c];
      factor = pays ? std::max<std::int64_t>(0, factor) : 0;
    }
  }
}

void ShapeFactors::read(const InstanceView& instance, std::span<const GpuTypeId> types,
                        const model::PriceCurves::ShapeFactor& raw) {
  const auto curve = std::ranges::find_if(types, [&](GpuTypeId type) {
    return instance.cluster.gpu_types[type.index()] == raw.gpu_type;
  });
  expect_factor(curve != types.end(), "no machine has GPUs " + raw.gpu_type);
  expect_factor(raw.factor >= 0 && raw.factor <= kLargestFactor, "one is below 0 or beyond 2^40");
  const std::vector<Shape>& shapes = instance.workload.tables().shapes;
  bool found = false;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (shapes[s] != raw.shape) continue;
    std::int64_t& factor = factors_[s * curves_ + static_cast<std::size_t>(curve - types.begin())];
    expect_factor(factor < 0, "a shape has two for one GPU type");
    factor = raw.factor;
    found = true;
  }
  expect_factor(found, "no job asks for such a task");
}

std::vector<std::vector<CapacityStep>> worth_in_time(const InstanceView& instance, std::int64_t now,
                                                     std::span<const GpuTypeId> types,
                                                     std::span<const Closure> closures,
                                                     const ShapeFactors& factors) {
  const MachinesInTime machines(instance.cluster, now, {closures.begin(), closures.end()});
  WorthOfStates worths = machines.states();
  ContentWorth(instance, types, factors).solve(worths);
  return machines.worth(types, worths);
}

}  // namespace berth::certify
