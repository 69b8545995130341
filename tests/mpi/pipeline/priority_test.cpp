// SPDX-License-Identifier: Apache-2.0
// In order of priority: one plan and one proof on any ranks, from whole instances and from parts,
// which the judge accepts; a run that is stopped keeps the bound of the whole plan.
#include "planned.hpp"
#include "with_petsc.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "berth/certify/check.hpp"
#include "berth/generate/generate.hpp"
#include "berth/io/plan_file.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;

constexpr int kClasses = 3;

class InOrder : public berth::test::WithPetsc<> {
 protected:
  InOrder() {
    for (std::size_t j = 0; j < instance_.workload.jobs.size(); ++j) {
      instance_.workload.jobs[j].priority = static_cast<std::int32_t>(j % kClasses);
    }
  }

  static PlanOptions in_order(int shards) {
    PlanOptions options = test::quick_options();
    options.order = JobOrder::priority;
    options.partition.shards = shards;
    return options;
  }

  static model::Plan plan_whole(const Communicator& comm, const model::Instance& instance,
                                const PlanOptions& options) {
    report::ProgressTable silent({.format = report::LogFormat::text, .verbosity = 0});
    return plan_cluster(comm, instance, options, silent);
  }

  void expect_same_on_any_ranks(int shards) const {
    const Communicator world = Communicator::world();
    const PlanOptions options = in_order(shards);
    const model::Plan together = plan_whole(world, instance_, options);
    const model::Plan in_parts = test::plan_as_program(world, instance_, options);
    if (world.rank() != 0) return;
    const model::Plan alone = plan_whole(Communicator::serial(), instance_, options);
    test::expect_same(together, alone);
    test::expect_same(in_parts, alone);
    EXPECT_EQ(alone.classes.size(), kClasses);
    EXPECT_FALSE(alone.waiting.empty());  // else the classes have not met
    const auto checked =
        certify::check(instance_, io::parse_plan(io::plan_text(instance_, alone), "plan.json"));
    EXPECT_TRUE(checked.valid()) << (checked.faults.empty() ? "" : checked.faults[0].text);
  }

  model::Instance instance_ =
      generate::generate_hetero({.gpus = test::kSanitized ? 32 : 64, .seed = 4, .load = 1.3});
};

TEST_F(InOrder, one_plan_and_proof_on_any_ranks) { expect_same_on_any_ranks(0); }
TEST_F(InOrder, one_plan_and_proof_of_several_shards) { expect_same_on_any_ranks(2); }

TEST_F(InOrder, stopped_after_the_first_class_keeps_the_bound_of_the_whole_plan) {
  const Communicator alone = Communicator::serial();
  if (Communicator::world().rank() != 0) return;
  const PlanOptions options = in_order(1);
  const double bound = plan_whole(alone, instance_, options).figures.upper_bound;
  StopSource source;
  std::int64_t asked = 0;
  source.watch([&](std::int64_t) { return ++asked, false; });
  static_cast<void>(test::plan_as_program(alone, instance_, options, StopToken(source)));
  StopSource early;
  early.watch([&](std::int64_t question) { return question > asked / 2; });
  const model::Plan stopped = test::plan_as_program(alone, instance_, options, StopToken(early));
  EXPECT_FALSE(stopped.reproducible);
  EXPECT_EQ(stopped.figures.upper_bound, bound);
}

}  // namespace
}  // namespace berth::pipeline
