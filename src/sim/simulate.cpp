// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/simulate.hpp"

#include "device_ledger.hpp"
#include "series.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "berth/base/assert.hpp"
#include "berth/base/int128.hpp"

namespace berth::sim {
namespace {

using policy::Action;
using policy::Phase;
using policy::Progress;

/// A completion is void when the job has been stopped since: its number of runs differs.
struct Completion {
  Micros time;
  JobId job;
  std::uint32_t runs;
  auto operator<=>(const Completion&) const = default;
};

/// Jobs that arrive, by arrival, then id.
std::vector<JobId> arrival_order(const Trace& trace) {
  std::vector<bool> refused(trace.jobs.size());
  for (const RefusedJob& job : trace.refused) refused[job.job.index()] = true;
  std::vector<JobId> order;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    if (!refused[j]) order.emplace_back(j);
  }
  std::ranges::stable_sort(order, {}, [&](JobId job) { return trace.jobs[job.index()].arrival; });
  return order;
}

class Simulation {
 public:
  Simulation(const model::Cluster& cluster, const Trace& trace, policy::Policy& policy)
      : trace_(trace),
        policy_(policy),
        state_(cluster, trace.demands, trace.jobs),
        ledger_(cluster),
        arrivals_(arrival_order(trace)),
        series_(arrivals_.empty() ? 0 : trace.jobs[arrivals_.front().index()].arrival) {
    run_.records.resize(trace.jobs.size());
    for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
      const policy::Job& job = trace.jobs[j];
      const policy::Demand& demand = trace.demands[job.demand];
      const double fastest = demand.speeds.empty() ? 1.0 : *std::ranges::max_element(demand.speeds);
      run_.records[j] = {.job = JobId(j),
                         .arrival = job.arrival,
                         .milli = demand.milli,
                         .work = trace.work[j],
                         .alone = run_length(trace.work[j], fastest)};
    }
  }

  Run run(const ProgressCall& progress) {
    while (arrived_ < arrivals_.size() || !state_.running().empty() || state_.waiting() > 0) {
      step();
      ++run_.decisions;
      if (progress && run_.decisions % 65'536 == 0) progress(where());
    }
    check_conservation();
    run_.series = series_.points();
    run_.interval = series_.interval();
    return std::move(run_);
  }

 private:
  static Micros run_length(Micros work, double speed) {
    if (speed == 1.0) return work;
    return static_cast<Micros>(std::ceil(static_cast<double>(work) / speed));
  }

  [[nodiscard]] bool is_void(const Completion& completion) const {
    const Progress& p = state_.progress(completion.job);
    return p.phase != Phase::running || p.runs != completion.runs;
  }

  [[nodiscard]] Micros next_time() {
    while (!completions_.empty() && is_void(completions_.top())) completions_.pop();
    Micros next = std::max(state_.wake(), state_.now() + 1);
    if (arrived_ < arrivals_.size()) {
      next = std::min(next, trace_.jobs[arrivals_[arrived_].index()].arrival);
    }
    if (!completions_.empty()) next = std::min(next, completions_.top().time);
    return next;
  }

  void step() {
    const Micros now = next_time();
    BERTH_ASSERT(now < kNever);  // else jobs wait for ever
    account(now);
    state_.advance(now);
    complete(now);
    while (arrived_ < arrivals_.size() && trace_.jobs[arrivals_[arrived_].index()].arrival <= now) {
      state_.arrive(arrivals_[arrived_++]);
      ++run_.job_events;
    }
    policy_.decide(state_);
    for (const Action& action : state_.take_actions()) apply(action);
    check_promises();
  }

  void account(Micros now) {
    if (run_.decisions == 0) return;
    series_.add(
        now,
        {.milli = milli_, .running = std::ssize(state_.running()), .waiting = state_.waiting()});
    allocated_ += Int128{milli_} * (now - state_.now());
  }

  void complete(Micros now) {
    while (!completions_.empty() && completions_.top().time == now) {
      const Completion completion = completions_.top();
      completions_.pop();
      if (is_void(completion)) continue;
      state_.end(completion.job);
      model::JobRecord& record = run_.records[completion.job.index()];
      close_run(record, record.work);
      ++ended_;
      ++run_.job_events;
    }
  }

  /// @param done  work of the job so far that counts
  void close_run(model::JobRecord& record, Micros done) {
    model::JobRun& run = record.runs.back();
    run.end = state_.now();
    run.work = done;
    for (std::size_t r = 0; r + 1 < record.runs.size(); ++r) run.work -= record.runs[r].work;
    milli_ -= record.milli;
    ledger_.edit(run.tasks, -1);
  }

  void apply(const Action& action) {
    ++run_.job_events;
    model::JobRecord& record = run_.records[action.job.index()];
    const Progress& p = state_.progress(action.job);
    if (action.kind == Action::Kind::stop) {
      close_run(record, p.done);
      return;
    }
    record.runs.push_back({.start = state_.now(),
                           .end = state_.now(),
                           .overhead = p.overhead,
                           .work = 0,
                           .speed = p.speed,
                           .tasks = p.tasks});
    milli_ += record.milli;
    started_.push_back(action.job);
    const Micros length = p.overhead + run_length(record.work - p.done, p.speed);
    completions_.push({state_.now() + length, action.job, p.runs});
  }

  /// Tasks are added when all stops of the decision are done, so that devices that change hands
  /// carry one job at a time.
  void check_promises() {
    for (const JobId job : started_) ledger_.edit(run_.records[job.index()].runs.back().tasks, +1);
    started_.clear();
    if (const JobId next = policy_.next(); next.valid()) {
      BERTH_ASSERT(!state_.fits(trace_.jobs[next.index()].demand));
    }
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
        held += Int128{record.milli} * (run.end - run.start);
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

  const Trace& trace_;
  policy::Policy& policy_;
  policy::State state_;
  DeviceLedger ledger_;
  std::vector<JobId> arrivals_;
  std::size_t arrived_ = 0;
  std::int64_t ended_ = 0;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> completions_;
  Series series_;
  std::int64_t milli_ = 0;  ///< allocated GPU thousandths
  Int128 allocated_ = 0;    ///< thousandths x microseconds
  std::vector<JobId> started_;
  Run run_;
};

}  // namespace

Run simulate(const model::Cluster& cluster, const Trace& trace, policy::Policy& policy,
             const ProgressCall& progress) {
  return Simulation(cluster, trace, policy).run(progress);
}

}  // namespace berth::sim
