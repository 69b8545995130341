// SPDX-License-Identifier: Apache-2.0
#include "conservative_policy.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "berth/horizon/capacity_profile.hpp"

namespace berth::policy {

/// Free GPU thousandths by type from now on: which times are worth a look at the devices. Times are
/// microseconds after now, so that they are below horizon::kNever on any axis.
class Conservative::Profiles {
 public:
  Profiles(const State& state, const std::vector<BookedStart>& waiting) : state_(state) {
    const std::size_t types = state.free().cluster().gpu_types.size();
    std::vector<std::map<Micros, std::int64_t>> freed(types);
    for (const JobId job : state.running()) {
      const GpuTypeId type = state.progress(job).type;
      if (!type.valid()) continue;
      freed[type.index()][state.expected_end(job) - state.now()] += state.demand(job).milli;
    }
    for (std::size_t t = 0; t < types; ++t) {
      std::vector<horizon::CapacityStep> steps{{0, state.free().free_milli(GpuTypeId(t))}};
      for (const auto& [time, milli] : freed[t]) steps.push_back({time, steps.back().gpus + milli});
      profiles_.emplace_back(steps, horizon::CapacityProfile::IdleSteps::keep);
    }
    for (const BookedStart& reservation : waiting) edit(reservation, +1);
  }

  /// Takes what is reserved, or returns it when the sign is -1.
  void edit(const BookedStart& reservation, int sign) {
    const Micros from = std::max<Micros>(0, reservation.start - state_.now());
    const Micros to = reservation.end - state_.now();
    if (!reservation.type.valid() || to <= from) return;
    profiles_[reservation.type.index()].reserve(from, to,
                                                sign * state_.demand(reservation.job).milli);
  }
  [[nodiscard]] const horizon::CapacityProfile& of(GpuTypeId type) const {
    return profiles_[type.index()];
  }

 private:
  const State& state_;
  std::vector<horizon::CapacityProfile> profiles_;
};

void Conservative::decide(State& state) {
  const bool late = std::ranges::any_of(
      waiting_, [&](const BookedStart& waiting) { return waiting.start <= state.now(); });
  const bool anew = !state.ended().empty() || state.machines_changed() || late;
  std::size_t first = anew ? 0 : waiting_.size();
  for (const JobId job : state.arrived()) queue(state, job);
  if (first < waiting_.size()) {
    Profiles free(state, waiting_);
    for (; first < waiting_.size(); ++first) place(state, free, waiting_[first]);
    std::erase_if(waiting_, [&](const BookedStart& waiting) {
      return state.progress(waiting.job).phase != Phase::waiting;
    });
  }
  for (const BookedStart& waiting : waiting_) {
    if (waiting.start > state.now() && waiting.start < kNever) state.wake_at(waiting.start);
  }
}

/// In order of arrival: a job that comes back from a machine that failed stands before later ones.
void Conservative::queue(const State& state, JobId job) {
  const auto order = [&](JobId id) { return std::pair(state.job(id).arrival, id); };
  const auto at = std::ranges::upper_bound(
      waiting_, order(job), {}, [&](const BookedStart& waiting) { return order(waiting.job); });
  waiting_.insert(at, BookedStart{.job = job, .type = {}});
}

/// Starts the job, or makes its reservation anew.
void Conservative::place(State& state, Profiles& free, BookedStart& reservation) const {
  const JobId job = reservation.job;
  if (!state.demand(job).uses_gpus()) {
    (void)state.start(job);
    return;
  }
  free.edit(reservation, -1);
  reservation = {.job = job, .type = {}};
  BookedStart best = reservation;
  for (const GpuTypeId type : state.demand(job).types) {
    BookedStart found = earliest(state, free, job, type);
    if (found.start < best.start) best = std::move(found);
  }
  reservation = std::move(best);
  free.edit(reservation, +1);
  if (reservation.start < kNever) state.promise(job, reservation.start);
  if (reservation.start == state.now()) {
    (void)state.start_on(job, reservation.type, reservation.tasks);
  }
}

Conservative::BookedStart Conservative::earliest(const State& state, Profiles& free, JobId job,
                                                 GpuTypeId type) const {
  BookedStart found{.job = job, .type = type};
  const Micros length = state.expected_run(job, type);
  const horizon::CapacityProfile& profile = free.of(type);
  for (Micros from = 0;; from = profile.next_step(from)) {
    if (from >= horizon::kNever) return found;
    from = profile.earliest_fit(from, length, state.demand(job).milli);
    if (from >= horizon::kNever) return found;
    found.start = state.now() + from;
    found.end = found.start + length;
    FreeMachines machines = room(state, found.start, found.end);
    if (machines.place(state.demand(job), type, found.tasks)) return found;
    found.start = found.end = kNever;
  }
}

/// What is free throughout [from, to), as far as running jobs and reservations tell.
FreeMachines Conservative::room(const State& state, Micros from, Micros to) const {
  FreeMachines machines = state.free();
  for (const JobId job : state.running()) {
    if (state.expected_end(job) > from) continue;
    machines.release(state.demand(job), state.progress(job).tasks);
  }
  for (const BookedStart& other : waiting_) {
    if (other.start >= to || other.end <= from) continue;
    if (state.progress(other.job).phase != Phase::waiting) continue;  // it started just now
    machines.take_free_devices(state.demand(other.job), other.tasks);
  }
  return machines;
}

}  // namespace berth::policy
