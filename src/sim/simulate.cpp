// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/simulate.hpp"

#include "device_ledger.hpp"
#include "rate_book.hpp"
#include "series.hpp"
#include "simulation_events.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "berth/base/archive.hpp"
#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/base/int128.hpp"

namespace berth::sim {
namespace {

using policy::Action;
using policy::Phase;
using policy::Progress;

class Simulation {
 public:
  Simulation(const model::Cluster& cluster, const Trace& trace, policy::Policy& policy,
             const World& world)
      : trace_(trace),
        policy_(policy),
        world_(world),
        state_(cluster, trace.demands, trace.jobs),
        ledger_(cluster),
        arrivals_(arrival_order(trace)),
        machine_events_(machine_events(world.closings)),
        versions_(trace.jobs.size()),
        series_(first_time()) {
    if (trace.history) state_.learn(*trace.history);
    if (!trace.quotas.empty()) state_.set_quotas(trace.quotas);
    if (!trace.licenses.rows.empty()) state_.set_licenses(trace.licenses);
    state_.set_rules(trace.rules);
    state_.set_slot(world.slot);
    if (world.speeds != nullptr) rates_.emplace(*world.speeds);
    make_records();
    make_dependencies();
  }

  Run run(const ProgressCall& progress) {
    if (world_.resume.empty()) {
      for (const RunningJob& running : trace_.running) start_running(running);
    } else {
      restore();
    }
    while (arrived_ < arrivals_.size() || held_back_ > 0 || !state_.running().empty() ||
           state_.waiting() > 0) {
      const Micros now = next_time();
      if (now > world_.stop_at || world_.stop.requested()) return save();
      step(now);
      ++run_.decisions;
      if (progress && run_.decisions % 65'536 == 0) progress(where());
    }
    check_conservation();
    run_.series = series_.points();
    run_.interval = series_.interval();
    return std::move(run_);
  }

 private:
  static constexpr std::size_t kFewEvents = 1024;  ///< not worth a search for void ones

  static Micros run_length(Micros work, double speed) {
    if (speed == 1.0) return work;
    return static_cast<Micros>(std::ceil(static_cast<double>(work) / speed));
  }

  /// The first arrival, or start of a running job.
  [[nodiscard]] Micros first_time() const {
    if (!trace_.running.empty()) return trace_.running.front().since;
    return arrivals_.empty() ? 0 : arrival(arrivals_.front());
  }

  /// Of a job that does not run when the simulation begins.
  [[nodiscard]] Micros arrival(JobId job) const {
    const Micros time = trace_.jobs[job.index()].arrival;
    return trace_.running.empty() ? time : std::max(time, trace_.begin);
  }

  /// Policies find the job among those that run: no arrival tells of it.
  void start_running(const RunningJob& running) {
    account(running.since);
    state_.advance(running.since);
    state_.arrive(running.job);
    if (running.pinned) {
      state_.hold(running.job, running.type, running.tasks);
    } else if (!state_.start_on(running.job, running.type, running.tasks)) {
      throw InputError(
          {.file = "", .line = 0, .field = "running"},
          "job number " + std::to_string(running.job.value() + 1) +
              " cannot be put where it runs: other jobs, a quota, licenses or the state "
              "of the machine do not allow it",
          "simulate without \"running\" of this job");
    }
    carry_out();
    state_.end_decision();
    ++run_.job_events;
  }

  void make_records() {
    run_.records.resize(trace_.jobs.size());
    for (std::size_t j = 0; j < trace_.jobs.size(); ++j) {
      const policy::Job& job = trace_.jobs[j];
      const policy::Demand& demand = trace_.demands[job.demand];
      double fastest = demand.speeds.empty() ? 1.0 : 0.0;
      for (std::uint32_t c = 0; c < job.configurations; ++c) {
        for (const double speed : trace_.demands[job.demand + c].speeds)
          fastest = std::max(fastest, speed);
      }
      run_.records[j] = {
          .job = JobId(j),
          .arrival = job.arrival,
          .milli = demand.milli,
          .work = trace_.work[j],
          .alone = run_length(trace_.work[j], fastest),
          .profiled = world_.speeds != nullptr && world_.speeds->has_profile(JobId(j))};
    }
  }

  void make_dependencies() {
    if (trace_.dependencies.empty()) return;
    awaited_.resize(trace_.jobs.size());
    std::vector<bool> runs(trace_.jobs.size());
    for (const RunningJob& running : trace_.running) runs[running.job.index()] = true;
    for (const model::Dependency& d : trace_.dependencies) {
      if (runs[d.job.index()]) continue;
      ++awaited_[d.job.index()];
      successors_.push_back({d.after, d.job});
    }
    std::ranges::sort(successors_);
  }

  [[nodiscard]] bool is_void(const JobEvent& event) const {
    return state_.progress(event.job).phase != Phase::running ||
           versions_[event.job.index()] != event.version;
  }

  /// The first multiple of the slot at or after this time.
  [[nodiscard]] Micros decision_time(Micros time) const {
    if (world_.slot == 0 || time >= kNever) return time;
    return (time + world_.slot - 1) / world_.slot * world_.slot;
  }

  [[nodiscard]] Micros next_time() {
    while (!events_.empty() && is_void(events_.top())) events_.pop();
    Micros next = kNever;
    if (state_.wake() < kNever) next = std::max(decision_time(state_.wake()), state_.now() + 1);
    if (arrived_ < arrivals_.size()) {
      next = std::min(next, arrival(arrivals_[arrived_]));
    }
    if (!events_.empty()) next = std::min(next, events_.top().time);
    if (machine_event_ < machine_events_.size())
      next = std::min(next, machine_events_[machine_event_].time);
    if (!state_.bookings().empty()) next = std::min(next, state_.bookings().front().time);
    if (world_.slot > 0 && (state_.waiting() > 0 || !state_.running().empty()))
      next = std::min(next, decision_time(state_.now() + 1));
    if (next >= kNever) refuse_standstill();
    return trace_.running.empty() ? next : std::max(next, state_.now());
  }

  /// Nothing will ever happen, and jobs are left.
  [[noreturn]] void refuse_standstill() const {
    for (const JobId job : state_.running()) {
      throw InputError({.file = "", .line = 0, .field = "profile"},
                       "job number " + std::to_string(job.value() + 1) +
                           " stands still: its profile has no speed for the machines it is on",
                       "give the profile a speed above 0 for jobs spread over machines");
    }
    BERTH_ASSERT(false);  // a policy lets jobs wait for ever
    std::abort();
  }

  void step(Micros now) {
    account(now);
    state_.advance(now);
    complete(now);
    change_machines(now);
    while (arrived_ < arrivals_.size() && arrival(arrivals_[arrived_]) <= now) {
      arrive(arrivals_[arrived_++]);
    }
    if (!state_.bookings().empty()) state_.start_booked();
    const bool decides = world_.slot == 0 || now % world_.slot == 0;
    if (decides) {
      state_.begin_decision();
      policy_.decide(state_);
    }
    carry_out();
    if (!decides) return;
    state_.end_decision();
    check_promises();
  }

  /// The actions of the moment take effect.
  void carry_out() {
    for (const Action& action : state_.take_actions()) apply(action);
    for (const JobId job : started_) ledger_.edit(run_.records[job.index()].runs.last().tasks, +1);
    if (rates_) rerate();
    started_.clear();
  }

  /// A job whose predecessors have not all ended is held back.
  void arrive(JobId job) {
    if (run_.records[job.index()].refused) return;
    if (!awaited_.empty() && awaited_[job.index()] > 0) {
      ++held_back_;
      return;
    }
    state_.arrive(job);
    ++run_.job_events;
  }

  void account(Micros now) {
    if (run_.decisions == 0 && milli_ == 0) return;
    series_.add(
        now,
        {.milli = milli_, .running = std::ssize(state_.running()), .waiting = state_.waiting()});
    allocated_ += Int128{milli_} * (now - state_.now());
  }

  void complete(Micros now) {
    while (!events_.empty() && events_.top().time == now) {
      const JobEvent event = events_.top();
      events_.pop();
      if (is_void(event)) continue;
      if (!event.completes) {
        rates_->touch(event.job);
        continue;
      }
      state_.end(event.job);
      model::JobRecord& record = run_.records[event.job.index()];
      close_run(record, record.work, model::RunEnd::completed);
      record.runs.pack();
      ++ended_;
      ++run_.job_events;
      release_successors(event.job);
    }
  }

  /// The policy never runs the job; neither do those run that wait for it.
  void refuse(JobId refused) {
    run_.records[refused.index()].refused = true;
    const auto first = std::ranges::lower_bound(successors_, refused, {}, &Successor::after);
    for (auto next = first; next != successors_.end() && next->after == refused; ++next) {
      if (run_.records[next->job.index()].refused) continue;
      if (has_arrived(next->job)) --held_back_;
      refuse(next->job);
    }
  }

  void release_successors(JobId ended) {
    const auto first = std::ranges::lower_bound(successors_, ended, {}, &Successor::after);
    for (auto next = first; next != successors_.end() && next->after == ended; ++next) {
      if (--awaited_[next->job.index()] > 0) continue;
      if (!has_arrived(next->job) || run_.records[next->job.index()].refused) continue;
      --held_back_;
      arrive(next->job);
    }
  }

  /// Whether the arrival of the job has been taken from the list: a job that arrives at this very
  /// moment has not.
  [[nodiscard]] bool has_arrived(JobId job) const {
    if (arrived_ == arrivals_.size()) return true;
    const JobId next = arrivals_[arrived_];
    return std::pair(trace_.jobs[job.index()].arrival, job) <
           std::pair(trace_.jobs[next.index()].arrival, next);
  }

  void change_machines(Micros now) {
    for (; machine_event_ < machine_events_.size(); ++machine_event_) {
      const MachineEvent& event = machine_events_[machine_event_];
      if (event.time > now) break;
      if (!event.closes) {
        state_.open(event.machine);
        continue;
      }
      for (const JobId job : state_.close(event.machine, event.outage)) {
        const bool failure = event.outage == policy::Outage::failure;
        close_run(run_.records[job.index()], state_.progress(job).done,
                  failure ? model::RunEnd::failed : model::RunEnd::stopped);
        ++run_.job_events;
      }
    }
  }

  /// @param done  work of the job so far that counts
  void close_run(model::JobRecord& record, Micros done, model::RunEnd ended) {
    model::JobRun& run = record.runs.last();
    run.end = state_.now();
    run.work = done - before_[record.job.index()];
    run.ended = ended;
    before_[record.job.index()] = done;
    milli_ -= run.milli;
    ledger_.edit(run.tasks, -1);
    if (rates_) rates_->leave(record.job);
  }

  void apply(const Action& action) {
    ++run_.job_events;
    if (action.kind == Action::Kind::refuse) return refuse(action.job);
    model::JobRecord& record = run_.records[action.job.index()];
    const Progress& p = state_.progress(action.job);
    if (action.kind == Action::Kind::stop) {
      close_run(record, p.done, model::RunEnd::stopped);
      return;
    }
    const bool elastic = state_.job(action.job).elastic;
    if (record.runs.empty() && p.promised < kNever) record.promised = p.promised;
    record.runs.push_back(
        {.start = state_.now(),
         .end = state_.now(),
         .overhead = p.overhead,
         .speed = p.speed,
         .milli = state_.demand(action.job).milli,
         .batch = p.last.batch,
         .configuration = elastic ? static_cast<std::int32_t>(p.last.configuration) : -1,
         .tasks = p.tasks});
    milli_ += record.runs.last().milli;
    started_.push_back(action.job);
    if (rates_) {
      rates_->start(state_, action.job);
    } else {
      schedule(action.job, std::numeric_limits<double>::infinity());
    }
  }

  /// Asks for the rates of the jobs that the moment has touched.
  void rerate() {
    for (const RateBook::JobRate& asked : rates_->update(state_)) {
      const Progress& p = state_.progress(asked.job);
      model::JobRun& run = run_.records[asked.job.index()].runs.last();
      const double speed = asked.rate.per_second, until = asked.rate.until_work;
      const bool fresh = run.start == state_.now() && run.rates.empty();
      if (fresh) run.speed = speed;
      if (p.speed != speed) {
        if (!fresh) run.rates.push_back({state_.now(), speed});
        state_.set_speed(asked.job, speed);
      } else if (!fresh && until == std::numeric_limits<double>::infinity()) {
        continue;
      }
      schedule(asked.job, until);
    }
  }

  /// The next event of a running job. @param until_work  seconds of work at which its rate changes
  void schedule(JobId job, double until_work) {
    const Progress& p = state_.progress(job);
    const std::uint32_t version = ++versions_[job.index()];
    if (p.speed <= 0.0) return;
    const Micros done = p.done + p.run_work;
    Micros left = trace_.work[job.index()] - done;
    const double until = until_work * static_cast<double>(kSecond);
    const bool completes = until >= static_cast<double>(trace_.work[job.index()]);
    if (!completes) left = std::max<Micros>(1, static_cast<Micros>(std::ceil(until)) - done);
    const Micros length = run_length(std::max<Micros>(0, left), p.speed);
    events_.push({p.rated + length, job, version, completes});
    if (events_.size() > kFewEvents + 4 * state_.running().size())
      events_.drop([&](const JobEvent& event) { return is_void(event); });
  }

  void check_promises() {
    if (const JobId next = policy_.next(); next.valid()) {
      BERTH_ASSERT(!state_.fits(state_.demand_index(next)) || !state_.within_limits(next));
    }
    if (!trace_.quotas.empty() || !trace_.licenses.rows.empty()) return;
    if (!policy_.starts_all_that_fit() || !state_.any_may_fit()) return;
    for (std::size_t d = 0; d < trace_.demands.size(); ++d) {
      if (state_.waiting_by_demand()[d] == 0 || trace_.demands[d].groups.size() > 1) continue;
      BERTH_ASSERT(!state_.fits(static_cast<std::uint32_t>(d)));
    }
  }

  void check_conservation() const {
    Int128 held = 0;
    for (const model::JobRecord& record : run_.records) {
      Micros work = 0;
      for (const model::JobRun& run : record.runs) {
        held += Int128{run.milli} * (run.end - run.start);
        work += run.work;
      }
      BERTH_ENSURE(record.runs.empty() || work == record.work);
    }
    BERTH_ENSURE(held == allocated_);
  }

  [[nodiscard]] SimulationProgress where() const {
    return {.now = state_.now(),
            .arrived = static_cast<std::int64_t>(arrived_),
            .ended = ended_,
            .waiting = state_.waiting(),
            .running = std::ssize(state_.running())};
  }

  /// What a checkpoint has beside state and policy.
  template <class Archive>
  void describe_progress(Archive& archive, std::vector<JobEvent>& events) {
    archive(events, arrived_, ended_, held_back_, machine_event_, awaited_, versions_, before_,
            series_, milli_, allocated_, run_.records, run_.job_events, run_.decisions);
  }

  Run save() {
    ByteWriter writer;
    state_.save(writer);
    std::vector<JobEvent> events;
    for (; !events_.empty(); events_.pop()) events.push_back(events_.top());
    describe_progress(writer, events);
    if (!policy_.save(writer)) {
      throw InputError({.file = "", .line = 0, .field = "checkpoint"}, "the policy cannot be saved",
                       "run without --checkpoint");
    }
    Run stopped;
    stopped.complete = false;
    stopped.checkpoint = writer.take();
    stopped.decisions = run_.decisions;
    stopped.job_events = run_.job_events;
    return stopped;
  }

  void restore() {
    ByteReader reader(world_.resume);
    state_.restore(reader);
    std::vector<JobEvent> events;
    describe_progress(reader, events);
    for (const JobEvent& event : events) events_.push(event);
    policy_.restore(reader);
    if (!reader.done() || run_.records.size() != trace_.jobs.size())
      throw std::out_of_range("a checkpoint of another simulation");
    for (const JobId job : state_.running()) {
      ledger_.edit(state_.progress(job).tasks, +1);
      if (rates_) rates_->start(state_, job);
    }
    if (rates_) rates_->forget_changes();
    if (trace_.history) relearn();
  }

  /// Durations of the jobs that have ended, in the order of their ends.
  void relearn() {
    std::vector<std::pair<Micros, JobId>> ends;
    for (const model::JobRecord& record : run_.records) {
      if (state_.progress(record.job).phase == Phase::ended)
        ends.emplace_back(record.end(), record.job);
    }
    std::ranges::sort(ends);
    for (const auto& [time, job] : ends) state_.learn_from(job);
  }

  struct Successor {
    JobId after, job;
    auto operator<=>(const Successor&) const = default;
  };

  const Trace& trace_;
  policy::Policy& policy_;
  const World& world_;
  policy::State state_;
  DeviceLedger ledger_;
  std::optional<RateBook> rates_;  ///< none: runs keep the speed of their GPU type
  std::vector<JobId> arrivals_;
  std::size_t arrived_ = 0;
  std::int64_t ended_ = 0;
  std::int64_t held_back_ = 0;  ///< jobs that wait for others to end
  std::vector<MachineEvent> machine_events_;
  std::size_t machine_event_ = 0;      ///< events before it have happened
  std::vector<std::int32_t> awaited_;  ///< by JobId: predecessors that have not ended; or empty
  std::vector<Successor> successors_;  ///< ascending
  JobEvents events_;
  std::vector<std::uint32_t> versions_;                                 ///< by JobId
  std::vector<Micros> before_ = std::vector<Micros>(versions_.size());  ///< work of closed runs
  Series series_;
  std::int64_t milli_ = 0;  ///< allocated GPU thousandths
  Int128 allocated_ = 0;    ///< thousandths x microseconds
  std::vector<JobId> started_;
  Run run_;
};

}  // namespace

Run simulate(const model::Cluster& cluster, const Trace& trace, policy::Policy& policy,
             const ProgressCall& progress, const World& world) {
  return Simulation(cluster, trace, policy, world).run(progress);
}

}  // namespace berth::sim
