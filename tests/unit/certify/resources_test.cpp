// SPDX-License-Identifier: Apache-2.0
// Every row of model::kResourceTable: the judge counts it, and its prices bound it.
#include "faults.hpp"
#include "tiny.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/check.hpp"

namespace berth::certify {
namespace {

using model::kResourceTable;
using testing::Contains, testing::HasSubstr, testing::Not;

class Resource : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Rows, Resource, testing::Range<std::size_t>(0, model::kResources),
                         [](const auto& row) {
                           return std::string(kResourceTable[row.param].key);
                         });

/// One machine of 4 GPUs with 10 of the resource, `jobs` of one GPU that ask for `each`.
test::Tiny machine_of_ten(std::size_t r, int jobs, std::int64_t each) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 1000, 1000);
  tiny[c].capacity[r] = 10;
  tiny.pod(), tiny.rack(), tiny.machine(c);
  for (int j = 0; j < jobs; ++j) tiny.job({{.gpus = 1}});
  tiny.instance.workload.shapes[0].needs[r] = each;
  return tiny;
}

/// All jobs on the machine, each on a device of its own.
model::RawPlan all_of(const test::Tiny& tiny, std::size_t r) {
  model::RawPlan plan;
  for (std::size_t j = 0; j < tiny.instance.workload.jobs.size(); ++j) {
    model::RawTask task{"task", "m0", {{static_cast<std::int64_t>(j), 1000}}};
    task.needs[r] = tiny.instance.workload.shapes[0].needs[r];
    plan.placements.push_back({"j" + std::to_string(j), 0, {task}});
  }
  return plan;
}

TEST_P(Resource, check_refuses_more_than_the_machine_has) {
  const std::size_t r = GetParam();
  for (const std::int64_t each : {5, 6}) {
    const test::Tiny tiny = machine_of_ten(r, 2, each);
    const CheckResult v = check(tiny.instance, all_of(tiny, r));
    const auto over = Contains(FaultKind::machine_oversubscribed);
    if (each == 5) {
      EXPECT_THAT(kinds(v), Not(over));
      continue;
    }
    EXPECT_THAT(kinds(v), over);
    EXPECT_THAT(texts(v), HasSubstr("machine m0: tasks take 12 of 10 " +
                                    std::string(kResourceTable[r].unit)));
  }
}

TEST_P(Resource, check_counts_what_is_used_already) {
  const std::size_t r = GetParam();
  for (const std::int64_t used : {4, 5}) {
    test::Tiny tiny = machine_of_ten(r, 1, 6);
    model::Immovable content{.machine = MachineId(0)};
    content.taken[r] = used;
    tiny.use(content);
    const CheckResult v = check(tiny.instance, all_of(tiny, r));
    EXPECT_EQ(std::ranges::count(kinds(v), FaultKind::machine_oversubscribed), used == 5 ? 1 : 0);
  }
}

TEST_P(Resource, check_refuses_another_amount_than_asked_for) {
  const std::size_t r = GetParam();
  const test::Tiny tiny = machine_of_ten(r, 1, 6);
  model::RawPlan plan = all_of(tiny, r);
  EXPECT_THAT(kinds(check(tiny.instance, plan)), Not(Contains(FaultKind::wrong_amounts)));
  plan.placements[0].tasks[0].needs[r] = 5;
  EXPECT_THAT(kinds(check(tiny.instance, plan)), Contains(FaultKind::wrong_amounts));
}

/// Four jobs of 5 on a machine of 10: at 1 / 5 a unit the machine is worth 2, and the jobs nothing
/// beyond what they pay. At 1 a task and 1 / 5 a unit as a multiplier the same.
TEST_P(Resource, prices_bound_what_fits) {
  const std::size_t r = GetParam();
  const test::Tiny tiny = machine_of_ten(r, 4, 5);
  const auto bound = [&](const model::Certificate& prices) {
    return upper_bound(tiny.instance, model::Objective::value, prices, {}).value;
  };
  model::Certificate prices;
  prices.scale_log2 = 10;
  EXPECT_EQ(bound(prices), 4.0);
  prices.pools = {{PodId(0), {}, ClassId(0), 0, {}}};
  prices.pools[0].unit_price[r] = 205;
  EXPECT_EQ(bound(prices), 2.0);
  prices.pools = {};
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 1024}};
  prices.multipliers = {{ClassId(0), {}}};
  prices.multipliers[0].unit_price[r] = 205;
  EXPECT_EQ(bound(prices), 2.0);
}

/// Tasks without GPUs: 2 of 4 in 10, whatever limits them.
TEST_P(Resource, bounds_tasks_without_gpus) {
  const std::size_t r = GetParam();
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", {}, 0, 1000, 1000);
  tiny[c].capacity[r] = 10;
  tiny.pod(), tiny.rack(), tiny.machine(c);
  for (int j = 0; j < 9; ++j) tiny[tiny.job({{.cpu_milli = 1}})].value = 1.0;
  tiny.instance.workload.shapes[0].needs[r] = 4;
  model::Certificate prices;
  prices.shapes = {{ShapeId(0), {}, 1}};
  EXPECT_EQ(upper_bound(tiny.instance, model::Objective::value, prices, {}).value, 2.0);
}

TEST_P(Resource, a_price_needs_a_limit) {
  const std::size_t r = GetParam();
  if (!kResourceTable[r].optional()) return;  // always has one
  test::Tiny tiny = machine_of_ten(r, 1, 1);
  tiny[ClassId(0)].capacity[r] = model::kNoLimit;
  model::Certificate prices;
  prices.pools = {{PodId(0), {}, ClassId(0), 0, {}}};
  prices.pools[0].unit_price[r] = 1;
  EXPECT_THAT(unusable(tiny.instance, model::Objective::value, prices),
              HasSubstr(std::string(kResourceTable[r].key) + " without a limit"));
}

}  // namespace
}  // namespace berth::certify
