// SPDX-License-Identifier: Apache-2.0
// Which machines the tasks of a job take.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/spread_count.hpp"

namespace berth::horizon {

MachineTimeline::MachineRoom MachineTimeline::room_of(std::size_t machine, const Option& option,
                                                      Seconds start) const {
  const Seconds end = start + option.duration;
  MachineRoom of{.room = machines_.least_free(machine, start, end)};
  if (option.share_milli > 0) {
    of.shared.emplace(machines_.shares(machine), machines_.gpus(machine), start, end);
  }
  return of;
}

std::int32_t MachineTimeline::assign_some(TaskShare first, const TaskGroup& group,
                                          std::int32_t left, MachineRoom& room,
                                          std::vector<TaskShare>& shares) const {
  auto fit = static_cast<std::int32_t>(room.room.tasks_of(group, left));
  if (fit <= 0) return 0;
  if (group.milli == 0) {
    first.tasks = fit;
    shares.push_back(first);
    if (room.shared) room.shared->take_gpus(Gpus{fit} * group.gpus);
  } else {
    fit = assign_shares(first, group, fit, *room.shared, shares);
    room.room.gpus = room.shared->free_gpus();
  }
  room.room.take(group, fit);
  return fit;
}

/// One after the other, each on the lane that suits it best.
std::int32_t MachineTimeline::assign_shares(TaskShare one, const TaskGroup& group,
                                            std::int32_t most, SharedGpus& shared,
                                            std::vector<TaskShare>& shares) const {
  const Gpus milli = problem_.machines[one.machine.index()].share_taken(group.milli);
  one.tasks = 1;
  for (std::int32_t task = 0; task < most; ++task) {
    one.lane = shared.take_share(milli);
    if (one.lane < 0) return task;
    const bool again =
        task > 0 && shares.back().lane == one.lane && shares.back().machine == one.machine;
    if (again) {
      ++shares.back().tasks;
    } else {
      shares.push_back(one);
    }
  }
  return most;
}

bool MachineTimeline::assign_tasks(const PoolState& pool, const MachineRange& range,
                                   const Option& option, Seconds start,
                                   std::vector<TaskShare>& shares) const {
  PlaceRoom places(machines_.limits(), option, start, range.first, range.last);
  const std::size_t before = shares.size();
  while (assign_within(pool, range, option, start, places, shares)) {
    if (places.carries(std::span(shares).subspan(before))) return true;
    shares.resize(before);
  }
  return false;
}

bool MachineTimeline::shares_a_machine(const PoolState& pool, std::span<const TaskGroup> tasks) {
  return tasks.size() == 1 && tasks.front().tasks == 1 && tasks.front().milli == 0 &&
         tasks.front().gpus > 0 && tasks.front().gpus < pool.machine_gpus;
}

std::optional<MachineTimeline::MachineStart> MachineTimeline::nearest_in_time(
    PoolState& pool, const Option& option, Seconds start, Seconds latest,
    double delay_weight) const {
  const auto tasks = problem_.tasks_of(option);
  if (!shares_a_machine(pool, tasks)) return std::nullopt;
  const TaskGroup& task = tasks.front();
  const std::size_t row = row_of(pool, task, option.duration);
  const std::vector<Seconds>& earliest = pool.earliest[row];
  std::optional<MachineStart> nearest;
  double least = std::numeric_limits<double>::infinity();
  bool seen_empty = false;  // empty machines are alike
  for (std::size_t i = 0; i < pool.machines; ++i) {
    if (earliest[i] > latest) continue;
    const std::size_t m = pool.first + i;
    const CapacityProfile& gpus = machines_.gpus(m);
    const Gpus all = problem_.machines[m].gpus;
    const Seconds from =
        machines_.earliest_fit(m, std::max(start, earliest[i]), option.duration, task, latest);
    if (from > latest) {
      if (earliest[i] <= start) raise_earliest(pool, row, i, task, latest + 1);
      continue;
    }
    const double delay = delay_weight * static_cast<double>(from - start);
    const bool empty = gpus.least_free(start, start + 1) == all;
    if (empty && seen_empty) continue;
    seen_empty = seen_empty || empty;
    if (delay >= least) continue;
    const Seconds free_from = gpus.earliest_fit(from, 1, all);
    const double apart =
        static_cast<double>(std::abs(free_from - (from + option.duration))) + delay;
    if (apart >= least) continue;
    least = apart;
    nearest = {.machine = m, .start = from};
  }
  return nearest;
}

Seconds MachineTimeline::suited_start(const Option& option, PoolId pool, Seconds start,
                                      Seconds latest, double delay_weight) {
  const auto nearest = nearest_in_time(pools_[pool.index()], option, start, latest, delay_weight);
  if (!nearest || limits_allow(option, nearest->start) != nearest->start) return start;
  return nearest->start;
}

bool MachineTimeline::assign_within(const PoolState& pool, const MachineRange& range,
                                    const Option& option, Seconds start, PlaceRoom& places,
                                    std::vector<TaskShare>& shares) const {
  const auto groups = problem_.tasks_of(option);
  const bool gang =
      groups.size() > 1 || groups.front().tasks > 1 || takes_whole_machines(pool, groups);
  const Seconds end = start + option.duration;
  const std::size_t before = shares.size();
  SpreadCount spread(problem_, option);
  std::int64_t missing = 0;
  std::vector<std::int32_t> left;
  for (const TaskGroup& group : groups) {
    missing += group.tasks;
    left.push_back(group.tasks);
  }
  const bool known = groups.size() == 1 && (groups.front().gpus > 0 || groups.front().milli > 0);
  const std::vector<Seconds>* const earliest =
      known ? &pool.earliest[row_of(pool, groups.front(), option.duration)] : nullptr;
  for (std::size_t i = 0; i < range.last - range.first && missing > 0; ++i) {
    const std::size_t m = gang ? range.last - 1 - i : range.first + i;
    if (earliest != nullptr && (*earliest)[m - pool.first] > start) continue;
    if (!machines_.clear_for(groups.front(), m, start, end)) continue;
    MachineRoom room = room_of(m, option, start);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const TaskShare first{.machine = MachineId(m), .group = static_cast<std::int32_t>(g)};
      const auto most = static_cast<std::int32_t>(
          std::min({Gpus{left[g]}, spread.most_on(first.machine), places.most_on(m, groups[g])}));
      const std::int32_t fit = assign_some(first, groups[g], most, room, shares);
      spread.add(first.machine, fit);
      places.add(m, groups[g], fit);
      left[g] -= fit;
      missing -= fit;
    }
  }
  const bool complete = missing == 0 && spread.complete();
  if (!complete) shares.resize(before);
  return complete;
}

}  // namespace berth::horizon
