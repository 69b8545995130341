// SPDX-License-Identifier: Apache-2.0
#include "search/placement_enumeration.hpp"

#include <algorithm>
#include <utility>

namespace berth::certify::search {

using model::Level;

void PlacementEnumeration::run(const SearchedJob& job, const Room& room, std::int64_t& steps,
                               const Sink& sink) {
  job_ = &job, room_ = &room, sink_ = &sink, steps_ = &steps;
  read(room);
  for (const SearchedJob::Choice& choice : job.choices) {
    choice_ = &choice;
    next_group(0);
  }
}

void PlacementEnumeration::read(const Room& room) {
  machines_.clear(), racks_.clear(), pods_.clear(), used_.clear();
  std::vector<std::size_t> rack_at, pod_at;
  for (std::size_t i = 0; i < room.size(); ++i) {
    if ((room[i] & kPodMark) != 0) {
      pods_.push_back({room[i] & ~kPodMark, -1, 0});
      pod_at.push_back(i);
    } else if ((room[i] & kRackMark) != 0) {
      racks_.push_back({room[i] & ~kRackMark, -1, 0});
      rack_at.push_back(i);
    } else {
      machines_.push_back({i, racks_.size() - 1, pods_.size() - 1, room[i], room[i], 0, false});
    }
  }
  // equal racks of a pod, and equal pods, are neighbours
  const auto find_twins = [&](std::vector<DomainState>& places, const std::vector<std::size_t>& at,
                              bool racks) {
    for (std::size_t p = 1; p < places.size(); ++p) {
      const auto end = [&](std::size_t q) {
        std::size_t stop = q + 1 < at.size() ? at[q + 1] : room.size();
        for (std::size_t i = at[q] + 1; racks && i < stop; ++i) {
          if ((room[i] & kPodMark) != 0) stop = i;
        }
        return stop;
      };
      const auto begin = room.begin();
      const bool adjacent = end(p - 1) == at[p];
      const bool equal = std::equal(begin + static_cast<std::ptrdiff_t>(at[p - 1]),
                                    begin + static_cast<std::ptrdiff_t>(end(p - 1)),
                                    begin + static_cast<std::ptrdiff_t>(at[p]),
                                    begin + static_cast<std::ptrdiff_t>(end(p)));
      if (adjacent && equal && places[p].mark == 0)
        places[p].twin = static_cast<std::ptrdiff_t>(p - 1);
    }
  };
  find_twins(racks_, rack_at, true);
  find_twins(pods_, pod_at, false);
}

void PlacementEnumeration::next_group(std::size_t group) {
  if (group == job_->groups.size()) {
    finish();
    return;
  }
  std::vector<std::int32_t> tasks;
  for (EnumeratedMachine& m : machines_) tasks.push_back(std::exchange(m.tasks, 0));
  place(group, job_->groups[group].count, 0);
  for (std::size_t m = 0; m < machines_.size(); ++m) machines_[m].tasks = tasks[m];
}

bool PlacementEnumeration::allowed(std::size_t group, std::size_t at) const {
  const EnumeratedMachine& m = machines_[at];
  const auto& workload = problem_.instance().workload;
  const model::Shape& shape = workload.shape(problem_.kinds()[job_->groups[group].kind].shape);
  const GpuTypeId type = states_.type(m.now);
  const model::Job& job = workload.job(job_->id);
  if (shape.uses_gpu() ? type != choice_->type
                       : !may_be_anywhere(job, shape, job_->milli > 0) &&
                             !(type.valid() && ((job.gpu_types >> type.index()) & 1) != 0)) {
    return false;
  }
  if (!used_.empty() && !job_->one_task) {
    const EnumeratedMachine& first = machines_[used_.front()];
    if (job_->domain == Level::machine && used_.front() != at) return false;
    if (job_->domain == Level::rack && first.rack != m.rack) return false;
    if (job_->domain == Level::pod && first.pod != m.pod) return false;
  }
  const auto unused_twin = [](const std::vector<DomainState>& places, std::size_t p) {
    return places[p].tasks == 0 && places[p].twin >= 0 &&
           places[static_cast<std::size_t>(places[p].twin)].tasks == 0;
  };
  return !unused_twin(racks_, m.rack) && !unused_twin(pods_, m.pod);
}

/// True when an interchangeable machine before this one has no more tasks.
bool PlacementEnumeration::reaches_twin(std::size_t group, std::size_t at) const {
  if (at == 0 || group > 0) return false;
  const EnumeratedMachine &before = machines_[at - 1], &now = machines_[at];
  return before.rack == now.rack && before.before == now.before && now.tasks >= before.tasks;
}

void PlacementEnumeration::place(std::size_t group, std::int32_t left, std::size_t m) {
  if (--*steps_ < 0) return;
  if (left == 0) {
    next_group(group + 1);
    return;
  }
  if (m == machines_.size()) return;
  std::int64_t room = 0;
  for (std::size_t i = m; i < machines_.size() && room < left; ++i) {
    room += states_.most(machines_[i].now, job_->groups[group].kind);
  }
  if (room < left) return;
  if (allowed(group, m)) fill(group, left, m);
  place(group, left, m + 1);
}

/// Adds tasks to machine m one by one; after each the rest is placed on later machines.
void PlacementEnumeration::fill(std::size_t group, std::int32_t left, std::size_t at) {
  EnumeratedMachine& m = machines_[at];
  const KindId kind = job_->groups[group].kind;
  const bool fresh = !m.used;
  const StateId before = m.now;
  if (left == 0 || reaches_twin(group, at)) return;
  if (fresh) m.used = true, used_.push_back(at);
  ++m.tasks, ++racks_[m.rack].tasks, ++pods_[m.pod].tasks;
  for (const MachineStates::Fill& fill_edge : states_.fills(before)) {
    if (fill_edge.kind != kind) continue;
    m.now = fill_edge.next;
    place(group, left - 1, at + 1);
    fill(group, left - 1, at);
    m.now = before;
    if (*steps_ < 0) break;
  }
  --m.tasks, --racks_[m.rack].tasks, --pods_[m.pod].tasks;
  if (fresh) m.used = false, used_.pop_back();
}

void PlacementEnumeration::finish() {
  Level width = Level::machine, distance = Level::machine;
  const EnumeratedMachine& first = machines_[used_.front()];
  for (const std::size_t u : used_) {
    const EnumeratedMachine& m = machines_[u];
    Level apart = u == used_.front() ? Level::machine : Level::rack;
    if (m.rack != first.rack) apart = Level::pod;
    if (m.pod != first.pod) apart = Level::cluster;
    width = std::max(width, apart);
    if (job_->home_pod == 0) continue;
    Level away = pods_[m.pod].mark == job_->home_pod ? Level::pod : Level::cluster;
    if (job_->home_rack != 0 && racks_[m.rack].mark == job_->home_rack) away = Level::rack;
    distance = std::max(distance, away);
  }
  Room after = *room_;
  for (const std::size_t u : used_) after[machines_[u].word] = machines_[u].now;
  sort_room(after);
  (*sink_)(std::move(after),
           choice_->gain[static_cast<std::size_t>(width)][static_cast<std::size_t>(distance)]);
}

}  // namespace berth::certify::search
