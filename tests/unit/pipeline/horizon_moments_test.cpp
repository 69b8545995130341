// SPDX-License-Identifier: Apache-2.0
// Starts in time from plans of single moments.
#include "horizon_moments.hpp"

#include "horizon_problem.hpp"
#include "with_petsc.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/comm/communicator.hpp"
#include "berth/horizon/machine_timeline.hpp"
#include "berth/horizon/timeline.hpp"
#include "berth/io/cluster_file.hpp"
#include "berth/io/jobs_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/solver/horizon_bound.hpp"
#include "berth/solver/horizon_plan.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kHour = 3600;

class HorizonMoments : public berth::test::WithPetsc<> {
 protected:
  /// Tasks with shares and many cores and gangs of machines, on 16 machines of 8 GPUs.
  void draw(int jobs, std::uint64_t seed) {
    instance_.cluster = io::parse_cluster(
        "schema: 1\nclasses: {a: {gpu_type: A, gpus: 8, cpu_milli: 96000}}\n"
        "pods: [{id: p, racks: [{id: r, machines: [{ids: \"m[00-15]\", class: a}]}]}]\n",
        "cluster.yaml");
    std::string text;
    for (int j = 0; j < jobs; ++j) {
      const auto turn = static_cast<std::uint64_t>(j);
      const auto below = [&](std::uint64_t bound, std::uint64_t what) {
        return random_below(bound, {seed, turn, what});
      };
      const bool gang = below(100, 0) >= 85;
      const std::uint64_t tasks = gang ? 1 + below(3, 1) : 2 + below(31, 1);
      const std::uint64_t milli = gang ? 8000 : 150 * (1 + below(4, 2));
      const std::uint64_t cores = gang ? 48'000 : milli * (6 + 5 * below(3, 3));
      const double value =
          static_cast<double>(tasks * milli) * (0.0005 + 0.0015 * random_unit({seed, turn, 4}));
      const std::string size = gang ? R"("gpus":8)" : R"("gpu_milli":)" + std::to_string(milli);
      text += R"({"id":"j)" + std::to_string(j) + R"(","duration":3600,"value":)" +
              std::to_string(value) + R"(,"tasks":[{"count":)" + std::to_string(tasks) + "," +
              size + R"(,"cpu_milli":)" + std::to_string(cores) + "}]}\n";
    }
    instance_.workload = io::parse_jobs(text, "jobs.jsonl", instance_.cluster);
  }

  [[nodiscard]] model::Horizon hours(std::int64_t count) const {
    return {.now = 0, .length = count * kHour};
  }

  model::Instance instance_;
  report::ProgressTable silent_{{.format = report::LogFormat::text, .verbosity = 0}};
};

/// Places all starts of the plan on an empty cluster; false when one is not free.
bool all_free(const horizon::Problem& problem, const horizon::Plan& plan) {
  horizon::MachineTimeline timeline(problem);
  horizon::PlanBuilder built(problem, timeline);
  for (std::size_t j = 0; j < plan.starts.size(); ++j) {
    const horizon::JobStart& start = plan.starts[j];
    if (!start.placed()) continue;
    const auto shares = start.shares.of(plan.shares);
    if (!built.restore_if_free({JobId(j), start, {shares.begin(), shares.end()}})) return false;
  }
  return true;
}

TEST_F(HorizonMoments, starts_of_one_moment_are_those_of_a_plan_without_a_horizon) {
  draw(80, 1);
  const HorizonProblem translated = horizon_problem(instance_, hours(1));
  const horizon::Plan starts = plan_moments(instance_, hours(1), translated, {});
  const model::Plan moment = plan_cluster(comm::Communicator::serial(), instance_, {}, silent_);
  EXPECT_NEAR(-cost_of(translated.problem, starts), moment.figures.objective,
              1e-3 * moment.figures.objective);
  EXPECT_TRUE(all_free(translated.problem, starts));
}

TEST_F(HorizonMoments, jobs_that_are_left_start_when_the_first_end) {
  draw(160, 2);
  const HorizonProblem translated = horizon_problem(instance_, hours(3));
  const horizon::Plan starts = plan_moments(instance_, hours(3), translated, {});
  std::set<horizon::Seconds> times;
  for (const auto& start : starts.starts) {
    if (start.placed()) times.insert(start.start);
  }
  EXPECT_TRUE(std::ranges::includes(times, std::vector<horizon::Seconds>{0, kHour, 2 * kHour}));
  EXPECT_TRUE(all_free(translated.problem, starts));
}

TEST_F(HorizonMoments, one_list_on_machines_takes_these_starts) {
  draw(80, 3);
  const HorizonProblem translated = horizon_problem(instance_, hours(1));
  const horizon::Problem& problem = translated.problem;
  const horizon::Plan starts = plan_moments(instance_, hours(1), translated, {});
  const solver::HorizonBound bound = solver::bound_horizon(problem);
  solver::HorizonPlanOptions lists{.shift_passes = 0, .reorderings = 0, .most_tries = 0};
  const horizon::Plan pools = solver::plan_on_pools(problem, bound, lists);
  const double without = cost_of(problem, solver::plan_on_machines(problem, bound, pools, lists));
  lists.moments = &starts;
  const double with = cost_of(problem, solver::plan_on_machines(problem, bound, pools, lists));
  EXPECT_LE(with, cost_of(problem, starts));
  EXPECT_LT(with, without);
}

}  // namespace
}  // namespace berth::pipeline
