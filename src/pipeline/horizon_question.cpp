// SPDX-License-Identifier: Apache-2.0
#include "horizon_question.hpp"

#include "horizon_costs.hpp"
#include "horizon_problem.hpp"
#include "limit_peaks.hpp"
#include "plan_starts.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::pipeline {

using horizon::JobStart;
using horizon::Seconds;

namespace {

model::Horizon horizon_of(const model::RawHorizonPlan& plan) {
  model::Horizon horizon{.now = plan.now, .length = plan.length};
  for (std::size_t k = 0; k < model::kHorizonObjectiveNames.size(); ++k) {
    if (plan.objective == model::kHorizonObjectiveNames[k]) {
      horizon.objective = static_cast<model::HorizonObjective>(k);
    }
  }
  return horizon;
}

/// Finds the answers to one question.
class AnswerSearch {
 public:
  AnswerSearch(const model::Instance& original, const model::RawHorizonPlan& plan,
               Question& question)
      : original_(original), plan_(plan), q_(question) {}

  void run() {
    const JobVariant& as_it_is = q_.variants.front();
    if (q_.trials.is_blocked(q_.position(as_it_is.id))) return;
    if (fits(as_it_is)) return;
    eviction(as_it_is);
    for (const TimedChangeKind kind : {TimedChangeKind::domain, TimedChangeKind::gpu_type}) {
      for (const JobVariant& variant : q_.variants) {
        if (variant.change.kind == kind && fits(variant)) break;
      }
    }
    count();
    for (const JobVariant& variant : q_.variants) {
      if (variant.change.kind == TimedChangeKind::quota) quota(variant);
      if (variant.change.kind == TimedChangeKind::license) license(variant);
      if (variant.change.kind == TimedChangeKind::deadline) deadline(variant);
    }
    length(as_it_is);
  }

 private:
  void answer(const JobVariant& variant, TimedChange change, const JobStart& start,
              std::vector<JobId> stopped = {}) {
    const JobId position = q_.position(variant.id);
    change.start = start.start;
    change.end = q_.trials.end_of(position, start);
    for (const JobId job : stopped) change.stopped.push_back(q_.translated.jobs[job.index()]);
    std::ranges::sort(change.stopped);
    q_.answers.push_back({std::move(change), position, start, std::move(stopped)});
  }

  std::optional<JobStart> earliest(const JobVariant& variant) {
    return q_.trials.earliest(q_.position(variant.id));
  }

  bool fits(const JobVariant& variant) {
    const auto start = earliest(variant);
    if (start) answer(variant, variant.change, *start);
    return start.has_value();
  }

  void eviction(const JobVariant& variant) {
    if (model::minimised(q_.horizon.objective)) return;  // such plans start every job they can
    const JobId position = q_.position(variant.id);
    const auto victims = q_.trials.victims(position);
    if (!victims || victims->empty()) return;
    TimedChange change{.kind = TimedChangeKind::eviction};
    for (const JobId job : *victims) change.loss += q_.trials.value_of(job);
    const auto start = q_.trials.earliest_without(position, *victims);
    BERTH_EXPECT(start.has_value());
    answer(variant, std::move(change), *start, *victims);
  }

  /// By bisection: variants with fewer tasks follow those with more.
  void count() {
    const auto [first, last] =
        std::ranges::equal_range(q_.variants, TimedChangeKind::count, {},
                                 [](const JobVariant& variant) { return variant.change.kind; });
    const auto least = std::partition_point(
        first, last, [&](const JobVariant& variant) { return !earliest(variant); });
    if (least != last) fits(*least);
  }

  /// Where exactly one quota is too small.
  void quota(const JobVariant& variant) {
    const auto start = earliest(variant);
    if (!start) return;
    const Seconds end = q_.trials.end_of(q_.position(variant.id), *start);
    const LimitPeaks peaks(original_, plan_);
    const model::Job& job = original_.workload.job(q_.asked);
    TimedChange change{.kind = TimedChangeKind::quota};
    for (QueueId q = job.queue; q.valid(); q = original_.cluster.queues[q.index()].parent) {
      const model::Queue& queue = original_.cluster.queues[q.index()];
      if (queue.gpu_hours >= 0) return;  // what it lacks is not known
      const std::int64_t needed =
          peaks.gpu_milli(q, start->start, end) + original_.workload.gpu_milli(job);
      if (queue.gpu_quota < 0 || needed <= model::kGpuMilli * queue.gpu_quota) continue;
      if (change.queue.valid()) return;
      change.queue = q;
      change.quota = (needed + model::kGpuMilli - 1) / model::kGpuMilli;
    }
    if (change.queue.valid()) answer(variant, std::move(change), *start);
  }

  /// Where too few of exactly one license are left.
  void license(const JobVariant& variant) {
    const auto start = earliest(variant);
    if (!start) return;
    const Seconds end = q_.trials.end_of(q_.position(variant.id), *start);
    const LimitPeaks peaks(original_, plan_);
    const model::Job& job = original_.workload.job(q_.asked);
    TimedChange change{.kind = TimedChangeKind::license};
    for (const model::LicenseUse& use : original_.workload.rules_of(job).licenses) {
      const std::int64_t needed = peaks.licenses(use.license, start->start, end) + use.count;
      if (needed <= original_.cluster.licenses[use.license].count) continue;
      if (change.licenses > 0) return;
      change.license = use.license;
      change.licenses = needed;
    }
    if (change.licenses > 0) answer(variant, std::move(change), *start);
  }

  void deadline(const JobVariant& variant) {
    const auto start = earliest(variant);
    if (!start) return;
    TimedChange change{.kind = TimedChangeKind::deadline};
    change.deadline = q_.trials.end_of(q_.position(variant.id), *start);
    answer(variant, std::move(change), *start);
  }

  /// Where nothing else depends on the end of the horizon: neither GPU-hours nor jobs that keep
  /// their places until then.
  void length(const JobVariant& variant) {
    if (model::minimised(q_.horizon.objective) || !q_.translated.problem.budgets.empty()) return;
    const auto endless = [](const std::optional<std::int64_t>& end) { return !end; };
    if (std::ranges::any_of(plan_.ends, endless)) return;
    for (const model::Running& running : original_.workload.running) {
      const model::Job& job = original_.workload.job(running.job);
      if (running_until(original_, q_.horizon, job) >= q_.horizon.end()) return;
    }
    const auto start = q_.trials.earliest(q_.position(variant.id), horizon::kNever);
    if (!start) return;
    const Seconds end = q_.trials.end_of(q_.position(variant.id), *start);
    if (end <= q_.horizon.end()) return;
    TimedChange change{.kind = TimedChangeKind::length};
    change.length = end - q_.horizon.now;  // a job counts when it ends within the horizon
    answer(variant, std::move(change), *start);
  }

  const model::Instance& original_;
  const model::RawHorizonPlan& plan_;
  Question& q_;
};

}  // namespace

Question::Question(const model::Instance& original, const model::RawHorizonPlan& plan, JobId job)
    : asked(job),
      horizon(horizon_of(plan)),
      instance(original),
      variants(add_variants(instance, job)),
      translated(horizon_problem(instance, horizon)),
      starts(plan_starts(instance, translated, plan)),
      trials(translated, starts, horizon) {}

JobId Question::position(JobId job) const {
  const auto found = std::ranges::lower_bound(translated.jobs, job);
  BERTH_EXPECT(found != translated.jobs.end() && *found == job);
  return JobId(static_cast<std::size_t>(found - translated.jobs.begin()));
}

void answer(const model::Instance& original, const model::RawHorizonPlan& plan,
            Question& question) {
  AnswerSearch(original, plan, question).run();
}

}  // namespace berth::pipeline
