// SPDX-License-Identifier: Apache-2.0
// NICs that are handed out and GPUs that are cut into slices: bounds by hand (prices at scale 2^0)
// and faults. A share of 300 takes 3 of 7 slices: 428 thousandths.
#include "faults.hpp"
#include "tiny.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/check.hpp"

namespace berth::certify {
namespace {

using model::Certificate;
using model::Objective;

double bound(const test::Tiny& tiny, const Certificate& prices) {
  return upper_bound(tiny.instance, Objective::value, prices, {}).value;
}

/// One machine of 4 GPUs, 1000 Mbit/s.
test::Tiny one_nic() {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 4000, 1000);
  tiny[c].capacity[model::kNic] = 1000;
  tiny.pod(), tiny.rack(), tiny.machine(c);
  return tiny;
}

/// Four jobs of one GPU want 500 Mbit/s each: two fit. At 1 a task and e = 1 / 500 (scale 2^-9:
/// 512 a task, 1 a Mbit/s, rounded up) the machine is worth its NIC alone. So it is without
/// multipliers, unless a job has a price of its own, here its value.
TEST(MoreLimits, a_multiplier_charges_the_nic) {
  test::Tiny tiny = one_nic();
  for (int i = 0; i < 4; ++i) tiny.job({{.gpus = 1, .nic_mbps = 500}});
  Certificate prices;
  prices.scale_log2 = 9;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 500}};
  EXPECT_EQ(bound(tiny, prices), 2.0);  // (1000 + 4 x 12) / 512 = 2.05, rounded down
  prices.jobs = {{tiny.job({{.gpus = 1}}), 512}};
  EXPECT_EQ(bound(tiny, prices), 5.0);  // 4 x 500 / 512 + 4 x 12 / 512 + 1
  prices.multipliers = {{ClassId(0), {0, 0, 1}}};
  EXPECT_EQ(bound(tiny, prices), 3.0);  // 2.05 + 1, rounded down
}

/// 8 + 2 and 6 + 4 fill two NICs of 10; at 1 / 10 a unit (scale 2^10: 103) these cost 20, and what
/// jobs keep is .2 + .4 + .6 + .8 + .1, nearly; the two that need none keep 1 each.
TEST(MoreLimits, a_pool_price_is_paid_by_the_tasks) {
  test::Tiny tiny = one_nic();
  tiny[ClassId(0)].capacity[model::kNic] = 10;
  tiny.machine(ClassId(0));
  for (const std::int64_t nic : {9, 8, 6, 4, 2, 0, 0}) tiny.job({{.gpus = 1, .nic_mbps = nic}});
  Certificate prices;
  prices.scale_log2 = 10;
  EXPECT_EQ(bound(tiny, prices), 7.0);
  prices.pools = {{PodId(0), {}, ClassId(0), 0, {0, 0, 103}}};
  // 2 x 10 x 103 + 7 x 1024 - 29 x 103 = 6241: 6.09, and values are integers
  EXPECT_EQ(bound(tiny, prices), 6.0);
}

/// No task of 1001 Mbit/s fits: neither the machine nor the job is worth anything.
TEST(MoreLimits, a_task_beyond_every_nic_has_no_place) {
  test::Tiny tiny = one_nic();
  tiny.job({{.gpus = 1, .nic_mbps = 1001}});
  tiny.job({{.count = 3, .gpus = 1, .nic_mbps = 400}});  // two of them fit
  EXPECT_EQ(bound(tiny, {}), 0.0);
  tiny.job({{.count = 2, .gpus = 1, .nic_mbps = 400}});
  EXPECT_EQ(bound(tiny, {}), 2.0);
}

/// CPU-only tasks of 250 Mbit/s at 10 each: four by the NIC, although 40 by the CPU.
TEST(MoreLimits, tasks_without_gpus_are_held_by_the_nic) {
  test::Tiny tiny = one_nic();
  for (int i = 0; i < 20; ++i) tiny[tiny.job({{.cpu_milli = 100, .nic_mbps = 250}})].value = 10.0;
  Certificate prices;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 10}};
  EXPECT_EQ(bound(tiny, prices), 40.0);
  tiny[ClassId(0)].capacity[model::kNic] = model::kNoLimit;
  EXPECT_EQ(bound(tiny, prices), 200.0);
}

/// 400 Mbit/s and one whole GPU are gone from one of two machines.
TEST(MoreLimits, content_that_stays_takes_its_part_of_the_nic) {
  test::Tiny tiny = one_nic();
  for (int i = 0; i < 2; ++i) tiny.job({{.gpus = 1, .nic_mbps = 700}});
  EXPECT_EQ(bound(tiny, {}), 2.0);
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 1000, .taken = {0, 0, 400}});
  EXPECT_EQ(bound(tiny, {}), 0.0);
}

TEST(MoreLimits, a_multiplier_needs_a_nic_with_a_limit) {
  test::Tiny tiny = one_nic();
  tiny.job({{.gpus = 1}});
  Certificate prices;
  prices.multipliers = {{ClassId(0), {0, 0, 1}}};
  EXPECT_EQ(unusable(tiny.instance, Objective::value, prices), "");
  tiny[ClassId(0)].capacity[model::kNic] = model::kNoLimit;
  EXPECT_THAT(unusable(tiny.instance, Objective::value, prices), testing::HasSubstr("nic_mbps"));
  prices.multipliers.clear();
  prices.pools = {{PodId(0), {}, ClassId(0), 0, {0, 0, 1}}};
  EXPECT_THAT(unusable(tiny.instance, Objective::value, prices), testing::HasSubstr("nic_mbps"));
  tiny[ClassId(0)].capacity[model::kNic] = 10;
  EXPECT_EQ(unusable(tiny.instance, Objective::value, prices), "");
  prices.pools[0].unit_price[model::kNic] = -1;
  EXPECT_THAT(unusable(tiny.instance, Objective::value, prices), testing::HasSubstr("negative"));
}

/// One machine of one GPU, cut into 7 slices or not at all.
test::Tiny one_device(std::int32_t slices) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 1, 4000, 1000);
  tiny[c].gpu_slices = slices;
  tiny.pod(), tiny.rack(), tiny.machine(c);
  return tiny;
}

/// Three shares of 300 at 3 each fill 900 thousandths, but two times 3 of 7 slices.
TEST(MoreLimits, a_device_holds_whole_slices) {
  Certificate prices;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 3}};
  for (const auto& [slices, most] : {std::pair{0, 9.0}, {7, 6.0}, {10, 9.0}, {2, 6.0}, {1, 3.0}}) {
    test::Tiny tiny = one_device(slices);
    for (int i = 0; i < 5; ++i) tiny[tiny.job({{.gpu_milli = 300}})].value = 3.0;
    EXPECT_EQ(bound(tiny, prices), most) << slices << " slices";
  }
}

/// A pool's price is per thousandth taken: 428 for each of three jobs, of which the device holds
/// two.
TEST(MoreLimits, a_share_pays_for_its_slices) {
  test::Tiny tiny = one_device(7);
  for (int i = 0; i < 3; ++i) tiny[tiny.job({{.gpu_milli = 300}})].value = 1000.0;
  Certificate prices;
  prices.pools = {{PodId(0), {}, ClassId(0), 1, {0, 0}}};
  EXPECT_EQ(bound(tiny, prices), 2 * 428 + 3 * (1000.0 - 428));
}

/// A piece of 150 thousandths takes 2 of 7 slices; one share of 5 slices is left, no two of 3.
TEST(MoreLimits, content_that_stays_takes_whole_slices) {
  test::Tiny tiny = one_device(7);
  tiny.use({.machine = MachineId(0), .devices = 1, .milli = 150});
  for (int i = 0; i < 2; ++i) tiny[tiny.job({{.gpu_milli = 300}})].value = 3.0;
  Certificate prices;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 3}};
  EXPECT_EQ(bound(tiny, prices), 3.0);
}

/// A plan of one device: shares of 300 that say they take so many thousandths of it.
CheckResult shares_taking(std::int32_t slices, std::initializer_list<std::int64_t> each) {
  test::Tiny tiny = one_device(slices);
  model::RawPlan plan;
  for (const std::int64_t milli : each) {
    tiny.job({{.gpu_milli = 300}});
    const std::string job = "j" + std::to_string(plan.placements.size());
    plan.placements.push_back({job, 0, {{"task", "m0", {{0, milli}}, {0, 0}}}});
  }
  return check(tiny.instance, plan);
}

TEST(MoreLimits, check_counts_slices) {
  using testing::Contains, testing::Not;
  for (const FaultKind kind :
       {FaultKind::broken_slice, FaultKind::wrong_amounts, FaultKind::device_oversubscribed}) {
    EXPECT_THAT(kinds(shares_taking(7, {428, 428})), Not(Contains(kind)));
    EXPECT_THAT(kinds(shares_taking(0, {300, 300, 300})), Not(Contains(kind)));
  }
  const CheckResult broken = shares_taking(7, {300});
  EXPECT_THAT(kinds(broken), Contains(FaultKind::broken_slice));
  EXPECT_THAT(texts(broken), testing::HasSubstr("300 thousandths of device 0 of machine m0 are not "
                                                "a whole number of its 7 slices"));
  const CheckResult more = shares_taking(7, {571});  // 4 slices instead of 3
  EXPECT_THAT(kinds(more), Contains(FaultKind::wrong_amounts));
  EXPECT_THAT(kinds(more), Not(Contains(FaultKind::broken_slice)));
  const CheckResult full = shares_taking(7, {428, 428, 428});
  EXPECT_THAT(kinds(full), Contains(FaultKind::device_oversubscribed));
  EXPECT_THAT(texts(full), testing::HasSubstr("device 0 holds 9 of 7 slices"));
}

}  // namespace
}  // namespace berth::certify
