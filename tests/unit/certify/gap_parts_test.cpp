// SPDX-License-Identifier: Apache-2.0
// Gaps taken apart by hand; prices at scale 2^0 unless said otherwise.
#include "berth/certify/gap_parts.hpp"

#include "tiny.hpp"

#include <gtest/gtest.h>

#include "berth/certify/figures.hpp"

namespace berth::certify {
namespace {

using model::BoundBasis;
using model::Certificate;
using model::GapParts;
using model::Objective;
using model::Placement;

/// The parts, which must be the whole: apart from rounding, of which there is none here.
GapParts parts_of(const test::Tiny& tiny, const Placement& placement, const Certificate& prices,
                  Objective kind = Objective::value) {
  const auto f = figures(tiny.instance, kind, placement, prices);
  GapParts parts = gap_parts(tiny.instance, kind, placement, prices, f);
  double sum = 0.0;
  for (const auto& r : parts.regret) sum += r.amount;
  for (const auto& i : parts.idle) sum += i.amount;
  EXPECT_EQ(sum, f.upper_bound - f.objective);
  EXPECT_EQ(parts.rounding, 0.0);
  return parts;
}

model::JobPlacement put(JobId job, int machine, std::uint64_t devices) {
  return {job, 0, {{MachineId(machine), 0, devices, devices == 0 ? 0 : 1000}}};
}

/// 2 machines of 2 GPUs at 2000 a GPU (8000). Job 0 (1 GPU, worth 5000) and job 2 (2 GPUs, 4000)
/// lie on one each and pay 6000: 2000 idle. Jobs 1 and 3 (2 GPUs, 6000 and 5000) would keep 2000
/// and 1000.
TEST(GapParts, are_regret_of_jobs_and_idle_machines) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 4000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c), tiny.machine(c);
  for (const auto& [gpus, value] : {std::pair(1, 5000.), {2, 6000.}, {2, 4000.}, {2, 5000.}}) {
    tiny[tiny.job({{.gpus = gpus}})].value = value;
  }
  Certificate prices;
  prices.pools = {{PodId(0), {}, c, 2, {0, 0}}};
  const auto parts = parts_of(tiny, {put(JobId(0), 0, 1), put(JobId(2), 1, 3)}, prices);
  EXPECT_EQ(parts.basis, BoundBasis::prices);
  ASSERT_EQ(parts.regret.size(), 1U);
  EXPECT_EQ(parts.regret[0].gpus, 2);
  EXPECT_EQ(parts.regret[0].jobs, 2);
  EXPECT_EQ(parts.regret[0].amount, 3000.0);
  ASSERT_EQ(parts.idle.size(), 1U);
  EXPECT_EQ(parts.idle[0].gpu_type, "A");
  EXPECT_EQ(parts.idle[0].amount, 2000.0);
}

/// A required job may lose by its price; it still regrets nothing at its cheapest place. 3 cores
/// at 1 a thousandth, of which it pays 1000, on a machine without GPUs.
TEST(GapParts, of_a_required_job_without_gpus) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", {}, 0, 3000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  model::Job& job = tiny[tiny.job({{.cpu_milli = 1000}})];
  job.required = true;
  job.value = 10.0;
  tiny[tiny.job({{.cpu_milli = 2000}})].value = 2500.0;
  Certificate prices;
  prices.pools = {{PodId(0), {}, c, 0, {1, 0}}};
  const auto parts = parts_of(tiny, {put(JobId(0), 0, 0)}, prices);
  ASSERT_EQ(parts.regret.size(), 1U);
  EXPECT_EQ(parts.regret[0].gpus, 0);
  EXPECT_EQ(parts.regret[0].amount, 500.0);  // of the other: 2500 - 2000
  ASSERT_EQ(parts.idle.size(), 1U);
  EXPECT_EQ(parts.idle[0].gpu_type, "");
  EXPECT_EQ(parts.idle[0].amount, 2000.0);
}

/// Prices too high to say anything: the job could be worth 4 on A and is worth 3 on B.
TEST(GapParts, without_scarcity_are_what_jobs_miss) {
  test::Tiny tiny;
  const ClassId a = tiny.machine_class("a", tiny.type("A"), 1, 0, 0);
  const ClassId b = tiny.machine_class("b", tiny.type("B"), 1, 0, 0);
  tiny.pod(), tiny.rack(), tiny.machine(a), tiny.machine(b);
  model::Job& job = tiny[tiny.job({{.gpus = 1}})];
  job.value = 4.0;
  job.speed = tiny.speeds({1.0, 0.75});
  Certificate prices;
  prices.pools = {{PodId(0), {}, a, 9, {0, 0}}};
  const auto parts = parts_of(tiny, {put(JobId(0), 1, 1)}, prices);
  EXPECT_EQ(parts.basis, BoundBasis::values);
  EXPECT_TRUE(parts.idle.empty());
  ASSERT_EQ(parts.regret.size(), 1U);
  EXPECT_EQ(parts.regret[0].amount, 1.0);
}

/// The cluster's GPUs bind below the prices: what is not allocated is the gap.
TEST(GapParts, at_capacity_are_idle_thousandths) {
  test::Tiny tiny;
  const ClassId a = tiny.machine_class("a", tiny.type("A"), 2, 0, 0);
  const ClassId b = tiny.machine_class("b", tiny.type("B"), 1, 0, 0);
  tiny.pod(), tiny.rack(), tiny.machine(a), tiny.machine(b);
  for (int i = 0; i < 3; ++i) tiny.job({{.gpus = 1}});
  tiny.job({{.gpu_milli = 400}});
  const Placement placement{put(JobId(0), 0, 1), {JobId(3), 0, {{MachineId(1), 0, 1, 400}}}};
  const auto parts = parts_of(tiny, placement, {}, Objective::allocate);
  EXPECT_EQ(parts.basis, BoundBasis::capacity);
  EXPECT_TRUE(parts.regret.empty());
  ASSERT_EQ(parts.idle.size(), 2U);
  EXPECT_EQ(parts.idle[0].amount, 1000.0);
  EXPECT_EQ(parts.idle[1].amount, 600.0);
}

/// Jobs of 1 and 2 GPUs on 2, worth 3 and 4, with prices 1 and 2: either set is worth 2. The one
/// that waits regrets its price.
TEST(GapParts, of_jobs_with_a_price_of_their_own) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 0, 0);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  tiny[tiny.job({{.gpus = 1}})].value = 3.0;
  tiny[tiny.job({{.gpus = 2}})].value = 4.0;
  Certificate prices;
  prices.jobs = {{JobId(0), 1}, {JobId(1), 2}};
  const auto parts = parts_of(tiny, {put(JobId(0), 0, 1)}, prices);
  EXPECT_TRUE(parts.idle.empty());
  ASSERT_EQ(parts.regret.size(), 1U);
  EXPECT_EQ(parts.regret[0].gpus, 2);
  EXPECT_EQ(parts.regret[0].amount, 2.0);
  const auto other = parts_of(tiny, {}, prices);
  EXPECT_EQ(other.idle.at(0).amount, 2.0);  // 5 = 2 + 1 + 2
}

/// 3 GPUs count as up to 4, a share as up to 1.
TEST(GapParts, sort_jobs_by_size) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 0, 0);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  tiny.job({{.gpus = 3}}), tiny.job({{.gpu_milli = 500}}), tiny.job({{.count = 2, .gpus = 4}});
  const auto parts = parts_of(tiny, {}, {}, Objective::value);
  ASSERT_EQ(parts.regret.size(), 3U);
  EXPECT_EQ(parts.regret[0].gpus, 1);
  EXPECT_EQ(parts.regret[1].gpus, 4);
  EXPECT_EQ(parts.regret[2].gpus, 8);
  EXPECT_EQ(parts.regret[2].amount, 8.0);
}

/// j0 (worth 6000, move 1000, stop 500) runs on m0 at 2000 and is placed on m1 at 1000; j1 (worth
/// 3000, stop 700) runs on m1 and is stopped; j2 (4000) takes m0.
TEST(GapParts, count_running_jobs_from_being_stopped) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 1, 4000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c), tiny.rack(), tiny.machine(c);
  for (const double value : {6000., 3000., 4000.}) tiny[tiny.job({{.gpus = 1}})].value = value;
  model::Running* running = &tiny.run(JobId(0), {{MachineId(0), 0, 1, 1000}});
  running->move_cost = 1000.0, running->stop_cost = 500.0;
  tiny.run(JobId(1), {{MachineId(1), 0, 1, 1000}}).stop_cost = 700.0;
  Certificate prices;
  prices.level = model::Level::rack;
  prices.pools = {{PodId(0), RackId(0), c, 3, {0, 0}}, {PodId(0), RackId(1), c, 3, {0, 0}}};
  const auto parts = parts_of(tiny, {put(JobId(0), 1, 1), put(JobId(2), 0, 1)}, prices);
  EXPECT_EQ(parts.basis, BoundBasis::prices);
  ASSERT_EQ(parts.regret.size(), 1U);
  EXPECT_EQ(parts.regret[0].jobs, 1);
  EXPECT_EQ(parts.regret[0].amount, 700.0) << "j1 could be in for 3000";
  ASSERT_EQ(parts.idle.size(), 1U);
  EXPECT_EQ(parts.idle[0].amount, 1000.0) << "j0 could stay on m0 for 4000, and j2 pays 3000";
  for (auto& pool : prices.pools) pool.gpu_milli = 100;  // nothing is that scarce
  const auto values = parts_of(tiny, {put(JobId(0), 1, 1), put(JobId(2), 0, 1)}, prices);
  EXPECT_EQ(values.basis, BoundBasis::values);
  EXPECT_EQ(values.regret[0].amount, 1000.0 + 3700.0);
  EXPECT_EQ(values.regret[0].jobs, 2);
}

}  // namespace
}  // namespace berth::certify
