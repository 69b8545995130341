// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/state.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::policy {
namespace {

/// Work of a run of this length. Rounded down: no job has done more than the clock allows.
Micros work_of(Micros length, double speed) {
  if (length <= 0) return 0;
  if (speed == 1.0) return length;
  return static_cast<Micros>(std::floor(static_cast<double>(length) * speed));
}

/// Microseconds that the work takes, rounded up.
Micros run_length(Micros work, double speed) {
  if (speed == 1.0) return work;
  return static_cast<Micros>(std::ceil(static_cast<double>(work) / speed));
}

bool resized(const Progress& progress) { return progress.choice != progress.last; }

bool on_machine(const Progress& progress, MachineId machine) {
  return std::ranges::find(progress.tasks, machine, &model::TaskPlacement::machine) !=
         progress.tasks.end();
}

/// Of work done, what lies behind the last checkpoint. That with which the run began is kept: the
/// run was made from it.
Micros lost(Micros checkpoint_every, Micros before, Micros done) {
  if (checkpoint_every == 0) return 0;
  if (checkpoint_every >= kNever) return done - before;
  return std::min(done % checkpoint_every, done - before);
}

}  // namespace

State::State(const model::Cluster& cluster, std::vector<Demand> demands, std::span<const Job> jobs)
    : demands_(std::move(demands)),
      jobs_(jobs),
      progress_(jobs_.size()),
      free_(cluster),
      place_in_running_(jobs_.size()),
      waiting_by_demand_(demands_.size()),
      failed_(demands_.size()) {}

Micros State::done(JobId id) const {
  const Progress& p = progress(id);
  if (p.phase != Phase::running && !p.stopped) return p.done;
  const Micros done = p.done + p.run_work + work_of(now_ - p.rated, p.speed);
  return p.stopped ? done - lost(job(id).checkpoint_every, p.done, done) : done;
}

Micros State::held(JobId id) const {
  const Progress& p = progress(id);
  return p.phase == Phase::running || p.stopped ? p.held + now_ - p.since : p.held;
}

Micros State::remaining(JobId id) const {
  if (job(id).estimate == 0 && history_) {
    return history_->remaining(job(id).queue, demand(id).milli, done(id));
  }
  const Micros left = job(id).estimate - done(id);
  return left > 0 ? left : kOverdue;
}

Micros State::expected_end(JobId id) const {
  const Progress& p = progress(id);
  if (p.speed <= 0.0) return kNever;
  const Micros overhead_left = std::max<Micros>(0, p.since + p.overhead - now_);
  return now_ + overhead_left + run_length(remaining(id), p.speed);
}

Micros State::expected_run(JobId id, GpuTypeId type) const {
  return overhead_of(id) + run_length(remaining(id), demand(id).speed_on(type));
}

void State::expected_runs(JobId id, std::vector<Micros>& runs) const {
  const Micros overhead = overhead_of(id), left = remaining(id);
  runs.clear();
  for (const double speed : demand(id).speeds) runs.push_back(overhead + run_length(left, speed));
}

bool State::start(JobId id) {
  return start_if(id, [](GpuTypeId, std::span<const model::TaskPlacement>) { return true; });
}

bool State::start_on(JobId id, GpuTypeId type, std::span<const model::TaskPlacement> tasks) {
  if (!within_limits(id) || !free_.take_again(demand(id), tasks)) return false;
  trial_.assign(tasks.begin(), tasks.end());
  return begin(id, type);
}

bool State::start_beside(JobId id, JobId ahead, std::span<const model::TaskPlacement> kept) {
  const std::uint32_t index = demand_index(id);
  if (failed_[index] == released_ || !within_limits(id)) return false;
  const FreeMachines::Kept held_back(free_, demand(ahead), kept);
  for (const GpuTypeId type : demands_[index].types) {
    if (free_.place(demands_[index], type, trial_)) return begin(id, type);
  }
  return false;
}

bool State::start_beside(JobId id, GpuTypeId type, JobId ahead,
                         std::span<const model::TaskPlacement> kept) {
  if (!within_limits(id)) return false;
  const FreeMachines::Kept held_back(free_, demand(ahead), kept);
  return free_.place(demand(id), type, trial_) && begin(id, type);
}

bool State::start(JobId id, GpuTypeId type) {
  return within_limits(id) && free_.place(demand(id), type, trial_) && begin(id, type);
}

bool State::fits(std::uint32_t index) {
  if (failed_[index] == released_) return false;
  for (const GpuTypeId type : demands_[index].types) {
    if (!free_.place(demands_[index], type, trial_)) continue;
    free_.release(demands_[index], trial_);
    return true;
  }
  failed_[index] = released_;
  return false;
}

/// @pre `trial_` has the tasks, whose devices are taken
bool State::begin(JobId id, GpuTypeId type) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::waiting);
  const Micros overhead = overhead_of(id);
  if (p.stopped) settle_stop(id);
  p.tasks = trial_;
  p.type = type;
  p.speed = demand(id).speed_on(type);
  p.since = now_;
  p.overhead = overhead;
  p.rated = now_ + overhead;
  p.run_work = 0;
  p.last = p.choice;
  ++p.runs;
  if (!bookings_.empty()) cancel(id);
  join_running(id);
  actions_.push_back({Action::Kind::start, id});
  return true;
}

void State::join_running(JobId id) {
  progress_[id.index()].phase = Phase::running;
  --waiting_;
  --waiting_by_demand_[demand_index(id)];
  place_in_running_[id.index()] = static_cast<std::uint32_t>(running_.size());
  running_.push_back(id);
  use_limits(id, +1);
}

/// Without progress at the begin of a run that starts now.
Micros State::overhead_of(JobId id) const {
  const Progress& p = progress(id);
  if (p.runs == 0) return 0;
  if (!p.stopped) return job(id).restart_cost;
  return resized(p) ? job(id).resize_cost : job(id).move_cost;
}

bool State::any_may_fit() const {
  const std::int64_t free = free_.free_milli();
  for (std::size_t d = 0; d < demands_.size(); ++d) {
    if (waiting_by_demand_[d] > 0 && failed_[d] != released_ && demands_[d].milli <= free)
      return true;
  }
  return false;
}

void State::leave_running(JobId id) {
  const std::uint32_t place = place_in_running_[id.index()];
  BERTH_ASSERT(running_[place] == id);
  running_[place] = running_.back();
  place_in_running_[running_[place].index()] = place;
  running_.pop_back();
  use_limits(id, -1);
  free_.release(demand(id), progress(id).tasks);
  ++released_;
}

/// The job has no GPUs from now on and waits.
void State::leave_to_wait(JobId id) {
  leave_running(id);
  progress_[id.index()].phase = Phase::waiting;
  ++waiting_;
  ++waiting_by_demand_[demand_index(id)];
}

void State::stop(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::running && !p.stopped && job(id).preemptible && p.since < now_);
  leave_to_wait(id);
  p.stopped = true;
  stopped_.push_back(id);
}

void State::refuse(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::waiting && p.runs == 0);
  p.phase = Phase::refused;
  --waiting_;
  --waiting_by_demand_[demand_index(id)];
  if (!bookings_.empty()) cancel(id);
  actions_.push_back({Action::Kind::refuse, id});
}

bool State::undo_stop(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.stopped);
  choose(id, p.last.configuration);
  if (!within_limits(id) || !free_.take_again(demand(id), p.tasks)) return false;
  p.choice = p.last;
  p.stopped = false;
  join_running(id);
  const auto stop = std::find(stopped_.rbegin(), stopped_.rend(), id);  // often the last one
  stopped_.erase(std::prev(stop.base()));
  return true;
}

void State::choose(JobId id, std::uint32_t configuration) {
  BERTH_EXPECT(progress(id).phase == Phase::waiting && configuration < job(id).configurations);
  --waiting_by_demand_[demand_index(id)];
  progress_[id.index()].choice.configuration = configuration;
  ++waiting_by_demand_[demand_index(id)];
}

bool State::resize(JobId id, std::uint32_t configuration) {
  stop(id);
  choose(id, configuration);
  if (start(id)) return true;
  const bool undone = undo_stop(id);
  BERTH_ENSURE(undone);
  return false;
}

void State::set_batch(JobId id, std::int64_t batch) {
  BERTH_EXPECT(batch >= 0);
  Progress& p = progress_[id.index()];
  if (p.choice.batch == batch) return;
  if (p.phase != Phase::running) {
    p.choice.batch = batch;
    return;
  }
  stop(id);
  p.choice.batch = batch;
  const std::vector<model::TaskPlacement> tasks = p.tasks;
  const bool started = start_on(id, p.type, tasks);
  BERTH_ENSURE(started);
}

/// The stop holds: what the run did is counted, and what lies behind its last checkpoint is lost.
void State::settle_stop(JobId id) {
  Progress& p = progress_[id.index()];
  const Micros before = p.done;
  close_run(id);
  p.done -= lost(job(id).checkpoint_every, before, p.done);
  p.stopped = false;
  actions_.push_back({Action::Kind::stop, id});
  std::erase(stopped_, id);
}

void State::close_run(JobId id) {
  Progress& p = progress_[id.index()];
  p.done += p.run_work + work_of(now_ - p.rated, p.speed);
  p.held += now_ - p.since;
}

void State::set_speed(JobId id, double speed) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::running && speed >= 0.0);
  if (now_ > p.rated) {
    p.run_work += work_of(now_ - p.rated, p.speed);
    p.rated = now_;
  }
  p.speed = speed;
}

void State::book(JobId id, Micros time, GpuTypeId type,
                 std::span<const model::TaskPlacement> tasks) {
  BERTH_EXPECT(time > now_);
  cancel(id);
  promise(id, time);
  Booking booking{.time = time,
                  .job = id,
                  .type = type,
                  .configuration = progress(id).choice.configuration,
                  .tasks = {tasks.begin(), tasks.end()}};
  const auto at = std::ranges::upper_bound(bookings_, std::pair(time, id), {},
                                           [](const auto& b) { return std::pair(b.time, b.job); });
  bookings_.insert(at, std::move(booking));
}

void State::cancel(JobId id) {
  std::erase_if(bookings_, [&](const Booking& booking) { return booking.job == id; });
}

void State::promise(JobId id, Micros time) {
  Micros& promised = progress_[id.index()].promised;
  if (promised == kNever) promised = time;
}

void State::start_booked() {
  const auto end = std::ranges::upper_bound(bookings_, now_, {}, &Booking::time);
  const std::vector<Booking> due(std::make_move_iterator(bookings_.begin()),
                                 std::make_move_iterator(end));
  bookings_.erase(bookings_.begin(), end);
  for (const Booking& booking : due) {
    if (progress(booking.job).phase != Phase::waiting) continue;
    choose(booking.job, booking.configuration);
    const bool started = start_on(booking.job, booking.type, booking.tasks);
    (started ? begun_ : missed_).push_back(booking.job);
  }
}

std::vector<JobId> State::close(MachineId machine, Outage outage) {
  machines_changed_ = true;
  if (closed_.empty()) closed_.resize(free_.cluster().machines());
  if (closed_[machine.index()]++ > 0) return {};
  std::vector<JobId> jobs;
  for (const JobId id : running_) {
    if (on_machine(progress(id), machine)) jobs.push_back(id);
  }
  std::ranges::sort(jobs);
  for (const JobId id : jobs) {
    Progress& p = progress_[id.index()];
    const Micros before = p.done;
    close_run(id);
    const bool failure = outage == Outage::failure;
    p.done -= lost(failure ? job(id).saved_every : job(id).checkpoint_every, before, p.done);
    p.failures += failure ? 1 : 0;
    leave_to_wait(id);
    arrived_.push_back(id);
  }
  free_.close(machine);
  return jobs;
}

void State::open(MachineId machine) {
  BERTH_EXPECT(!closed_.empty() && closed_[machine.index()] > 0);
  machines_changed_ = true;
  if (--closed_[machine.index()] > 0) return;
  free_.open(machine);
  ++released_;
}

void State::wake_at(Micros time) {
  BERTH_EXPECT(time > now_);
  wake_ = std::min(wake_, time);
}

void State::arrive(JobId id) {
  BERTH_EXPECT(progress(id).phase == Phase::ahead);
  progress_[id.index()].phase = Phase::waiting;
  ++waiting_;
  ++waiting_by_demand_[demand_index(id)];
  arrived_.push_back(id);
}

void State::end(JobId id) {
  Progress& p = progress_[id.index()];
  BERTH_EXPECT(p.phase == Phase::running);
  leave_running(id);
  close_run(id);
  p.phase = Phase::ended;
  std::vector<model::TaskPlacement>().swap(p.tasks);  // frees it, unlike an assignment of {}
  ended_.push_back(id);
  if (history_) learn_from(id);
}

std::vector<Action> State::take_actions() {
  while (!stopped_.empty()) settle_stop(stopped_.front());
  return std::exchange(actions_, {});
}

void State::end_decision() {
  arrived_.clear();
  ended_.clear();
  begun_.clear();
  missed_.clear();
  machines_changed_ = false;
}

void State::learn_from(JobId ended) {
  history_->add(job(ended).queue, demand(ended).milli, progress(ended).done);
}

void State::set_quotas(std::vector<QueueQuota> queues) {
  BERTH_EXPECT(running_.empty());
  queues_ = std::move(queues);
  queue_used_.assign(queues_.size(), 0);
}

void State::set_licenses(LicenseTable licenses) {
  BERTH_EXPECT(running_.empty());
  licenses_ = std::move(licenses);
}

void State::set_rules(const MachineRules& rules) {
  BERTH_EXPECT(running_.empty());
  free_.set_rules(rules);
}

void State::hold(JobId id, GpuTypeId type, std::span<const model::TaskPlacement> tasks) {
  free_.take(demand(id), tasks);
  trial_.assign(tasks.begin(), tasks.end());
  begin(id, type);
}

bool State::within_limits(JobId id) const {
  if (!licenses_.rows.empty()) {
    for (const model::LicenseUse& use : licenses_.rows[job(id).licenses]) {
      if (use.count > licenses_.free[use.license]) return false;
    }
  }
  if (queues_.empty()) return true;
  const std::int64_t milli = demand(id).milli;
  for (QueueId queue = job(id).queue; queue.valid(); queue = queues_[queue.index()].parent) {
    const std::int64_t quota = queues_[queue.index()].milli;
    if (quota >= 0 && queue_used_[queue.index()] + milli > quota) return false;
  }
  return true;
}

void State::use_limits(JobId id, int sign) {
  if (!licenses_.rows.empty()) {
    for (const model::LicenseUse& use : licenses_.rows[job(id).licenses]) {
      licenses_.free[use.license] -= sign * use.count;
    }
  }
  if (queues_.empty()) return;
  const std::int64_t milli = demand(id).milli;
  for (QueueId queue = job(id).queue; queue.valid(); queue = queues_[queue.index()].parent) {
    queue_used_[queue.index()] += sign * milli;
  }
}

/// Free room, quotas and licenses in use and history follow from the rest.
template <class Archive>
void State::describe_all(Archive& archive) {
  archive(now_, wake_, machines_changed_, progress_, running_, place_in_running_, waiting_,
          waiting_by_demand_, released_, failed_, arrived_, ended_, begun_, missed_, bookings_,
          closed_);
}

void State::save(ByteWriter& writer) const {
  const_cast<State*>(this)->describe_all(writer);  // which lists the fields and changes none
}

void State::restore(ByteReader& reader) {
  const std::size_t jobs = jobs_.size();
  describe_all(reader);
  if (progress_.size() != jobs) throw std::out_of_range("a state of other jobs");
  for (std::size_t m = 0; m < closed_.size(); ++m) {
    if (closed_[m] > 0) free_.close(MachineId(m));
  }
  for (const JobId id : running_) {
    free_.take(demand(id), progress(id).tasks);
    use_limits(id, +1);
  }
}

}  // namespace berth::policy
