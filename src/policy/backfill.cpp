// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/backfill.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace berth::policy {
namespace {

using horizon::Gpus;
using horizon::Job;
using horizon::JobStart;
using horizon::kNever;
using horizon::Option;
using horizon::PlanBuilder;
using horizon::Problem;
using horizon::Seconds;
using horizon::Timeline;

/// The option and pool with the earliest start from `from` on; not placed when there is none.
JobStart earliest(const Problem& problem, Timeline& timeline, const Job& job, Seconds from) {
  JobStart best;
  auto key = std::tuple(kNever, kNever);
  const auto options = problem.options_of(job);
  for (std::size_t k = 0; k < options.size(); ++k) {
    for (const PoolId pool : problem.pools_of(options[k])) {
      const Seconds start = timeline.earliest_start(options[k], pool, from);
      const Seconds duration = options[k].duration;
      if (start >= kNever || start + duration > job.deadline) continue;
      if (std::tuple(start, duration) >= key) continue;
      key = std::tuple(start, duration);
      best = {.option = static_cast<std::int32_t>(k), .pool = pool, .start = start, .shares = {}};
    }
  }
  return best;
}

/// The option and pool that can start at `now`; of these the shortest.
JobStart startable(const Problem& problem, Timeline& timeline, const Job& job, Seconds now,
                   std::span<const Gpus> free) {
  JobStart best;
  Seconds shortest = kNever;
  const auto options = problem.options_of(job);
  for (std::size_t k = 0; k < options.size(); ++k) {
    if (options[k].duration >= shortest || now + options[k].duration > job.deadline) continue;
    for (const PoolId pool : problem.pools_of(options[k])) {
      if (options[k].gpus > free[pool.index()]) continue;
      if (timeline.earliest_start(options[k], pool, now) != now) continue;
      shortest = options[k].duration;
      best = {.option = static_cast<std::int32_t>(k), .pool = pool, .start = now, .shares = {}};
      break;
    }
  }
  return best;
}

/// The queue of an event-driven scheduler and the times at which it looks at it.
class EventLoop {
 public:
  EventLoop(const Problem& problem, Timeline& timeline, std::span<const JobId> order)
      : problem_(problem), built_(problem, timeline), free_(problem.pools.size()) {
    rank_.resize(problem.jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank_[order[i].index()] = i;
    arrivals_.assign(order.begin(), order.end());
    std::ranges::stable_sort(arrivals_, {},
                             [&](JobId job) { return problem.jobs[job.index()].release; });
    for (const auto& pool : problem.pools) {
      for (const auto& step : pool.capacity) events_.push(step.from);
    }
    for (const JobId job : order) events_.push(problem.jobs[job.index()].release);
  }

  /// Calls pass(now) at every release, completion and change of capacity.
  template <class Pass>
  horizon::Plan run(Pass&& pass) {
    while (!events_.empty() && (!queue_.empty() || arrived_ < arrivals_.size())) {
      const Seconds now = events_.top();
      while (!events_.empty() && events_.top() == now) events_.pop();
      admit(now);
      for (std::size_t p = 0; p < free_.size(); ++p) {
        free_[p] = built_.timeline().free_at(PoolId(p), now);
      }
      pass(now);
      std::erase_if(queue_, [&](JobId job) { return built_.start_of(job).placed(); });
    }
    return built_.plan();
  }

  /// Starts the job now if it can.
  bool start(JobId job, Seconds now) {
    const JobStart at = startable(problem_, built_.timeline(), job_of(job), now, free_);
    if (!at.placed()) return false;
    built_.place(job, at);
    events_.push(built_.end_of(job));
    free_[at.pool.index()] = built_.timeline().free_at(at.pool, now);
    return true;
  }
  void reserve(JobId job, Seconds now) {
    const JobStart at = earliest(problem_, built_.timeline(), job_of(job), now);
    if (!at.placed()) return;
    built_.place(job, at);
    events_.push(at.start);
  }
  void cancel(JobId job) {
    if (built_.start_of(job).placed()) (void)built_.remove(job);
  }

  [[nodiscard]] const std::vector<JobId>& queue() const { return queue_; }
  [[nodiscard]] bool any_free() const {
    return std::ranges::any_of(free_, [](Gpus gpus) { return gpus > 0; });
  }

 private:
  [[nodiscard]] const Job& job_of(JobId job) const { return problem_.jobs[job.index()]; }
  void admit(Seconds now) {
    const std::size_t before = queue_.size();
    while (arrived_ < arrivals_.size() && job_of(arrivals_[arrived_]).release <= now) {
      queue_.push_back(arrivals_[arrived_++]);
    }
    if (queue_.size() == before) return;
    std::ranges::sort(queue_, {}, [&](JobId job) { return rank_[job.index()]; });
  }

  const Problem& problem_;
  PlanBuilder built_;
  std::vector<Gpus> free_;         ///< by PoolId, at the event's time
  std::vector<std::size_t> rank_;  ///< by JobId, in the order
  std::vector<JobId> arrivals_;    ///< by release
  std::size_t arrived_ = 0;
  std::vector<JobId> queue_;  ///< released, not started, in order
  std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> events_;
};

}  // namespace

horizon::Plan fifo(const Problem& problem, Timeline& timeline, std::span<const JobId> order) {
  PlanBuilder built(problem, timeline);
  Seconds last = problem.now;
  for (const JobId id : order) {
    const Job& job = problem.jobs[id.index()];
    const JobStart start = earliest(problem, timeline, job, std::max(last, job.release));
    if (!start.placed()) continue;
    last = start.start;
    built.place(id, start);
  }
  return built.plan();
}

horizon::Plan conservative_backfill(const Problem& problem, Timeline& timeline,
                                    std::span<const JobId> order) {
  PlanBuilder built(problem, timeline);
  for (const JobId id : order) {
    const Job& job = problem.jobs[id.index()];
    const JobStart start = earliest(problem, timeline, job, job.release);
    if (start.placed()) built.place(id, start);
  }
  return built.plan();
}

horizon::Plan cheapest_list(const Problem& problem, Timeline& timeline,
                            std::span<const JobId> order) {
  PlanBuilder built(problem, timeline);
  for (const JobId id : order) {
    const Job& job = problem.jobs[id.index()];
    JobStart best;
    double least = 0.0;
    const auto options = problem.options_of(job);
    for (std::size_t k = 0; k < options.size(); ++k) {
      const auto cost = problem.cost_of(options[k]);
      for (const PoolId pool : problem.pools_of(options[k])) {
        const Seconds start = timeline.earliest_start(options[k], pool, job.release);
        if (start >= kNever || start + options[k].duration > job.deadline) continue;
        const double at = cost_at(cost, start + options[k].duration);
        if (best.placed() && at >= least) continue;
        least = at;
        best = {.option = static_cast<std::int32_t>(k), .pool = pool, .start = start, .shares = {}};
      }
    }
    if (best.placed()) built.place(id, best);
  }
  return built.plan();
}

horizon::Plan easy_backfill(const Problem& problem, Timeline& timeline,
                            std::span<const JobId> order) {
  EventLoop loop(problem, timeline, order);
  return loop.run([&](Seconds now) {
    const std::vector<JobId>& queue = loop.queue();
    std::size_t head = 0;
    while (head < queue.size() && loop.start(queue[head], now)) ++head;
    if (head == queue.size()) return;
    loop.reserve(queue[head], now);
    for (std::size_t i = head + 1; i < queue.size() && loop.any_free(); ++i) {
      (void)loop.start(queue[i], now);
    }
    loop.cancel(queue[head]);
  });
}

horizon::Plan first_fit(const Problem& problem, Timeline& timeline, std::span<const JobId> order) {
  EventLoop loop(problem, timeline, order);
  return loop.run([&](Seconds now) {
    for (const JobId job : loop.queue()) {
      if (!loop.any_free()) return;
      (void)loop.start(job, now);
    }
  });
}

}  // namespace berth::policy
