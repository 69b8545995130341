// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/plan.hpp"

#include "berth/base/assert.hpp"

namespace berth::horizon {
namespace {

const Option& option_of(const Problem& problem, JobId job, const JobStart& start) {
  BERTH_EXPECT(start.placed());
  return problem.options_of(problem.jobs[job.index()])[static_cast<std::size_t>(start.option)];
}

}  // namespace

Seconds end_of(const Problem& problem, JobId job, const JobStart& start) {
  return start.start + option_of(problem, job, start).duration;
}

double cost_of(const Problem& problem, const Plan& plan) {
  double sum = 0.0;
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const JobStart& start = plan.starts[j];
    if (!start.placed()) continue;
    const Option& option = option_of(problem, JobId(j), start);
    sum += cost_at(problem.cost_of(option), start.start + option.duration);
  }
  return sum;
}

}  // namespace berth::horizon
