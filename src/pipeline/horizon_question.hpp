// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_trials.hpp"
#include "job_variants.hpp"

#include <vector>

#include "berth/model/horizon_plan.hpp"
#include "berth/pipeline/horizon_changes.hpp"

namespace berth::pipeline {

/// A job and its variants beside the plan.
struct Question {
  Question(const model::Instance& original, const model::RawHorizonPlan& plan, JobId job);
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  /// Its position in the problem.
  [[nodiscard]] JobId position(JobId job) const;

  struct Answer {
    TimedChange change;
    JobId variant;               ///< in the problem
    horizon::JobStart start;     ///< of it
    std::vector<JobId> stopped;  ///< in the problem
  };

  JobId asked;
  model::Horizon horizon;
  model::Instance instance;  ///< with the variants
  std::vector<JobVariant> variants;
  HorizonProblem translated;
  horizon::Plan starts;
  HorizonTrials trials;
  std::vector<Answer> answers = {};  ///< one of a kind at most
};

/// Finds the answers. @param original  the instance without variants
void answer(const model::Instance& original, const model::RawHorizonPlan& plan, Question& question);

}  // namespace berth::pipeline
