// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/horizon_changes.hpp"

#include "horizon_placements.hpp"
#include "horizon_question.hpp"

#include <algorithm>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::pipeline {

struct HorizonChanges::State {
  model::Instance instance;
  model::RawHorizonPlan plan;
  std::unique_ptr<Question> question = {};  ///< the last one
};

HorizonChanges::HorizonChanges(const model::Instance& instance, const model::RawHorizonPlan& plan)
    : state_(new State{.instance = instance, .plan = plan}) {}
HorizonChanges::~HorizonChanges() = default;

std::vector<TimedChange> HorizonChanges::of(JobId job) {
  if (state_->instance.workload.job(job).running >= 0) return {};
  state_->question = std::make_unique<Question>(state_->instance, state_->plan, job);
  answer(state_->instance, state_->plan, *state_->question);
  std::vector<TimedChange> changes;
  for (const Question::Answer& answer : state_->question->answers) changes.push_back(answer.change);
  std::ranges::sort(changes, {}, &TimedChange::kind);
  return changes;
}

std::pair<model::Placement, std::vector<std::int64_t>> HorizonChanges::plan_with(
    const TimedChange& change) const {
  Question& q = *state_->question;
  const auto answer = std::ranges::find(
      q.answers, change.kind, [](const Question::Answer& one) { return one.change.kind; });
  BERTH_EXPECT(answer != q.answers.end());
  model::HorizonPlan plan;
  plan.horizon = q.horizon;
  if (change.kind == TimedChangeKind::length) plan.horizon.length = change.length;
  add_jobs(q.instance, q.translated,
           q.trials.plan_with(answer->stopped, answer->variant, answer->start), plan);
  const JobId variant = q.translated.jobs[answer->variant.index()];
  std::vector<std::pair<model::JobPlacement, std::int64_t>> placed;
  for (std::size_t p = 0; p < plan.placements.size(); ++p) {
    placed.emplace_back(std::move(plan.placements[p]), plan.ends[p]);
    if (placed.back().first.job == variant) placed.back().first.job = q.asked;
  }
  std::ranges::sort(placed, {}, [](const auto& one) { return one.first.job; });
  std::pair<model::Placement, std::vector<std::int64_t>> result;
  for (auto& [placement, end] : placed) {
    result.first.push_back(std::move(placement));
    result.second.push_back(end);
  }
  return result;
}

}  // namespace berth::pipeline
