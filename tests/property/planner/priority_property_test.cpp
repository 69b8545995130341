// SPDX-License-Identifier: Apache-2.0
// Plans by priority against all plans: no class bound below what the lexicographic optimum has of
// the class, every file accepted by the judge, and no job waits that fits in place of lower
// classes.
#include "exhaustive.hpp"
#include "petsc_environment.hpp"
#include "random_tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/priority_classes.hpp"
#include "berth/io/plan_file.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/planner_model/room.hpp"

namespace berth {
namespace {

constexpr std::int64_t kSteps = 100'000;  // of the exhaustive search
constexpr double kRounding = 1e-9;        // the search sums doubles
constexpr int kClasses = 3;
/// Weight of a class over the next one: above any quotient of two sums of values here.
constexpr double kAbove = 0x1p16;

model::Instance draw(std::uint64_t seed) {
  test::Dice dice(seed);
  model::Instance instance = test::random_tiny(dice);
  if (dice.chance(30)) instance = test::with_more_limits(dice, std::move(instance));
  for (model::Job& job : instance.workload.jobs) {
    job.priority = static_cast<std::int32_t>(dice.below(kClasses));
  }
  for (model::Running& running : instance.workload.running) {
    running.priority = instance.workload.job(running.job).priority;
  }
  return instance;
}

model::Plan plan_of(const model::Instance& instance, std::int32_t shards) {
  report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
  pipeline::PlanOptions options;
  options.order = pipeline::JobOrder::priority;
  options.partition.shards = shards;
  return pipeline::plan_cluster(comm::Communicator::serial(), instance, options, silent);
}

void expect_accepted(const model::Instance& instance, const model::Plan& plan) {
  const auto checked =
      certify::check(instance, io::parse_plan(io::plan_text(instance, plan), "plan.json"));
  for (const certify::Fault& fault : checked.faults) {
    ADD_FAILURE() << certify::name(fault.kind) << ": " << fault.text;
  }
  ASSERT_EQ(checked.classes.size(), plan.classes.size());
  for (std::size_t k = 0; k < plan.classes.size(); ++k) {
    EXPECT_EQ(checked.classes[k].value, plan.classes[k].value);
    EXPECT_EQ(checked.classes[k].upper_bound, plan.classes[k].upper_bound);
  }
}

std::vector<double> values_of(const model::Instance& instance, const model::Placement& placement) {
  certify::ClassTable table;
  certify::add_jobs(instance, model::Objective::value, model::planned_jobs(instance.workload),
                    table);
  certify::add_placed(instance, model::Objective::value, placement, table);
  std::vector<double> values;
  for (const auto& v : certify::class_values(instance, model::Objective::value, table)) {
    values.push_back(v.value);
  }
  return values;
}

/// The best plan by the values of classes, the highest first, that places at least `required`.
std::optional<test::Optimum> lexicographic_optimum(model::Instance instance,
                                                   const std::vector<JobId>& required) {
  const auto weight = [](std::int32_t priority) { return std::pow(kAbove, priority); };
  std::vector<bool> must(instance.workload.jobs.size(), false);
  for (const JobId job : required) must[job.index()] = true;
  for (model::Job& job : instance.workload.jobs) {
    job.weight *= weight(job.priority);
    job.value *= weight(job.priority);
  }
  for (model::Running& running : instance.workload.running) {
    running.stop_cost *= weight(running.priority);
    running.move_cost *= weight(running.priority);
  }
  return test::best_plan(instance, model::Objective::value, must, kSteps);
}

/// A bound speaks of the optimum as long as this keeps the plan's values of the classes above.
void expect_bounded(const model::Plan& plan, const std::vector<double>& optimum) {
  bool better = false;
  for (std::size_t k = 0; k < plan.classes.size(); ++k) {
    const model::PriorityClass& c = plan.classes[k];
    const double slack = kRounding * std::max(1.0, std::abs(optimum[k]));
    ASSERT_GE(c.upper_bound, optimum[k] - slack) << "class " << k;
    better = better || optimum[k] > c.value + slack;
    if (optimum[k] >= c.value - slack) continue;
    EXPECT_TRUE(better) << "the optimum is none";
    return;
  }
}

/// Free room beside the jobs of this priority and above and the required ones.
planner_model::Room room_beside(const model::Instance& instance, const model::Placement& placement,
                                std::int32_t priority) {
  planner_model::Room room(instance.cluster);
  for (const model::JobPlacement& placed : placement) {
    const model::Job& job = instance.workload.job(placed.job);
    if (job.priority >= priority || job.required) {
      planner_model::take(room, instance.workload, placed);
    }
  }
  return room;
}

/// No single task waits that fits in place of jobs of lower classes.
void expect_in_order(const model::Instance& instance, const model::Plan& plan) {
  for (const model::UnplacedJob& waiting : plan.waiting) {
    const model::Job& job = instance.workload.job(waiting.job);
    if (instance.workload.tasks(job) > 1 || job.queue.valid()) continue;
    const auto room = room_beside(instance, plan.placements, job.priority);
    const model::Shape& shape =
        instance.workload.shape(instance.workload.groups_of(job).front().shape);
    for (std::size_t m = 0; m < instance.cluster.machines(); ++m) {
      const bool allowed =
          model::WorkloadView(instance.workload)
              .allows(job, shape, instance.cluster.class_of(MachineId(m)).gpu_type);
      EXPECT_FALSE(allowed && room.fits(MachineId(m), shape))
          << "job " << waiting.job.value() << " fits machine " << m;
    }
  }
}

/// Instances whose plan is the lexicographic optimum in the first class, and in all.
struct Found {
  int judged = 0, first = 0, all = 0;
};

void judge(std::uint64_t seed, Found& found) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const model::Instance instance = draw(seed);
  const model::Plan plan = plan_of(instance, static_cast<std::int32_t>(seed % 3));
  expect_accepted(instance, plan);
  expect_in_order(instance, plan);
  const auto best =
      lexicographic_optimum(instance, certify::required_placed(instance, plan.placements));
  if (!best || plan.classes.empty()) return;
  const std::vector<double> optimum = values_of(instance, best->placement);
  ASSERT_EQ(optimum.size(), plan.classes.size());
  expect_bounded(plan, optimum);
  ++found.judged;
  std::size_t equal = 0;
  while (equal < optimum.size() && plan.classes[equal].value >= optimum[equal] - kRounding) ++equal;
  found.first += equal > 0 ? 1 : 0;
  found.all += equal == optimum.size() ? 1 : 0;
}

void judge_many(std::uint64_t first, int instances) {
  Found found;
  for (int i = 0; i < instances && !testing::Test::HasFailure(); ++i) {
    judge(first + static_cast<std::uint64_t>(i), found);
  }
  std::printf("%d judged: first class optimal in %d, all classes in %d\n", found.judged,
              found.first, found.all);
  EXPECT_GE(found.first, found.judged * 9 / 10);
  EXPECT_GE(found.all, found.judged * 8 / 10);
}

/// What the judge says of a plan file with one change.
std::vector<certify::FaultKind> faults_of(const model::Instance& instance, const model::Plan& plan,
                                          void (*change)(model::RawPlan&)) {
  model::RawPlan raw = io::parse_plan(io::plan_text(instance, plan), "plan.json");
  change(raw);
  std::vector<certify::FaultKind> kinds;
  for (const auto& fault : certify::check(instance, raw).faults) kinds.push_back(fault.kind);
  return kinds;
}

TEST(PriorityProperty, the_judge_refuses_changed_classes) {
  using certify::FaultKind;
  const model::Instance instance = draw(10'002);
  const model::Plan plan = plan_of(instance, 1);
  ASSERT_GE(plan.classes.size(), 2U);
  const auto refuses = [&](FaultKind kind, void (*change)(model::RawPlan&)) {
    const auto kinds = faults_of(instance, plan, change);
    EXPECT_NE(std::ranges::find(kinds, kind), kinds.end()) << certify::name(kind);
  };
  EXPECT_TRUE(faults_of(instance, plan, [](model::RawPlan&) {}).empty());
  refuses(FaultKind::wrong_class, [](model::RawPlan& p) { p.classes.pop_back(); });
  refuses(FaultKind::wrong_class, [](model::RawPlan& p) { p.classes[0].priority += 1; });
  refuses(FaultKind::wrong_class, [](model::RawPlan& p) { *p.classes[0].figures.objective += 1; });
  refuses(FaultKind::wrong_class, [](model::RawPlan& p) { p.classes[1].weights_log2 = {99}; });
  refuses(FaultKind::wrong_class, [](model::RawPlan& p) { p.classes[1].weights_log2.clear(); });
  refuses(FaultKind::wrong_proof_digest,
          [](model::RawPlan& p) { p.classes[1].weights_log2[0] += 1; });
  refuses(FaultKind::bound_too_low,
          [](model::RawPlan& p) { *p.classes[1].figures.upper_bound -= 0.5; });
  refuses(FaultKind::wrong_gap, [](model::RawPlan& p) { *p.classes[1].figures.gap += 0.5; });
  refuses(FaultKind::wrong_count,
          [](model::RawPlan& p) { *p.classes[0].figures.jobs_placed += 1; });
  refuses(FaultKind::missing_entry, [](model::RawPlan& p) { p.classes[0].certificate.reset(); });
}

TEST(PriorityProperty, every_bound_holds_and_classes_are_in_order) { judge_many(10'000, 60); }
TEST(PrioritySlow, every_bound_holds_and_classes_are_in_order) { judge_many(20'000, 1'500); }

}  // namespace
}  // namespace berth
