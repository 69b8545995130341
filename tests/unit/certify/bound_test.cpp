// SPDX-License-Identifier: Apache-2.0
// Bounds written out by hand. All prices at scale 2^0 unless said otherwise.
#include "berth/certify/bound.hpp"

#include "tiny.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"

namespace berth::certify {
namespace {

using model::Certificate;
using model::Level;
using model::Objective;

double bound(const test::Tiny& tiny, const Certificate& prices, Objective kind = Objective::value) {
  return upper_bound(tiny.instance, kind, prices, {}).value;
}

/// One rack with `machines` machines of 2 GPUs, 4 cores, 1000 MiB.
test::Tiny one_rack(int machines) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 2, 4000, 1000);
  tiny.pod(), tiny.rack();
  for (int m = 0; m < machines; ++m) tiny.machine(c);
  return tiny;
}

TEST(UpperBound, of_nothing_is_zero) {
  EXPECT_EQ(bound({}, {}), 0.0);
  EXPECT_EQ(bound(one_rack(2), {}), 0.0);
}

/// Without prices every job that fits counts in full; one that fits nowhere does not.
TEST(UpperBound, at_zero_prices_is_the_sum_of_values) {
  test::Tiny tiny = one_rack(1);
  for (int i = 0; i < 5; ++i) tiny.job({{.gpus = 2}});
  tiny.job({{.gpus = 3}});
  EXPECT_EQ(bound(tiny, {}), 10.0);
  EXPECT_EQ(upper_bound(tiny.instance, Objective::allocate, {}, {}).zero_price, 10000);
}

/// Five jobs of 2 GPUs ask for more than the one machine has: 2000 thousandths, whatever the
/// prices. Values are not bound by what there is of GPUs.
TEST(UpperBound, of_allocation_is_not_above_the_cluster) {
  test::Tiny tiny = one_rack(1);
  for (int i = 0; i < 5; ++i) tiny.job({{.gpus = 2}});
  Certificate prices;
  EXPECT_EQ(bound(tiny, prices, Objective::allocate), 2000.0);
  EXPECT_EQ(bound(tiny, prices), 10.0);
  prices.scale_log2 = 30;
  prices.pools = {{PodId(0), {}, ClassId(0), (std::int64_t{1} << 30) + 1000, {0, 0}}};
  EXPECT_EQ(bound(tiny, prices, Objective::allocate), 2000.0);
}

/// 5 jobs of 2 GPUs on 1 machine: at 1 per GPU, jobs are left with nothing, the machine is worth 2.
TEST(UpperBound, prices_gpus) {
  test::Tiny tiny = one_rack(1);
  for (int i = 0; i < 5; ++i) tiny.job({{.gpus = 2}});
  Certificate prices;
  prices.scale_log2 = 10;
  prices.pools = {{PodId(0), {}, ClassId(0), 2, {0, 0}}};  // 2 / 1024 a thousandth: 1.95 a GPU
  EXPECT_EQ(bound(tiny, prices), 3.0);                     // 2000 * 2 / 1024 = 3.9, floored
  prices.scale_log2 = 0;
  prices.pools[0].gpu_milli = 1;
  EXPECT_EQ(bound(tiny, prices, Objective::allocate), 2000.0);
}

/// Shares of 600: only one fits a device, so a machine of 2 GPUs holds 1200 thousandths.
TEST(UpperBound, sees_that_shares_do_not_fill_a_device) {
  test::Tiny tiny = one_rack(1);
  for (int i = 0; i < 9; ++i) tiny.job({{.gpu_milli = 600}});
  Certificate prices;
  prices.pools = {{PodId(0), {}, ClassId(0), 1, {0, 0}}};
  EXPECT_EQ(bound(tiny, prices, Objective::allocate), 1200.0);
}

/// 2 cores a task, 4 cores a machine: with CPU at its price only 2 of the 4 shares count.
TEST(UpperBound, charges_cpu_by_class_multiplier) {
  test::Tiny tiny = one_rack(1);
  for (int i = 0; i < 9; ++i) tiny.job({{.gpu_milli = 500, .cpu_milli = 2000}});
  Certificate prices;
  prices.scale_log2 = 2;
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 2000}};
  prices.multipliers = {{ClassId(0), {1, 0}}};  // 2000 a task: nothing is left for the GPU
  EXPECT_EQ(bound(tiny, prices, Objective::allocate), 1000.0);
}

/// Exclusive jobs of three single GPUs, worth 8000 each, and two machines of 2 GPUs: each job needs
/// both. At 2 a thousandth a machine earns 4000, which two of the tasks pay together, and the job
/// pays for two machines. Its share of a server's machine is not charged beside that.
TEST(UpperBound, charges_exclusive_jobs_for_whole_machines) {
  const auto at = [](std::int32_t tasks, bool exclusive, Level domain, bool server) {
    test::Tiny tiny = one_rack(2);
    for (int j = 0; j < 3; ++j) {
      const test::TinyTask worker{.count = tasks, .gpus = 1};
      const test::TinyTask other{.cpu_milli = 1000, .label = "server"};
      const JobId job = server ? tiny.job({worker, other}) : tiny.job({worker});
      tiny[job].value = 8000.0;
      tiny[job].domain = domain;
      tiny.rule(job, {.exclusive = exclusive});
    }
    Certificate prices;
    prices.pools = {{PodId(0), {}, ClassId(0), 2, {0, 0}}};
    return bound(tiny, prices);
  };
  EXPECT_EQ(at(3, true, Level::cluster, false), 8000.0);
  EXPECT_EQ(at(3, false, Level::cluster, false), 8000.0 + 3 * 2000.0);
  EXPECT_EQ(at(1, true, Level::cluster, false), 8000.0 + 3 * 4000.0);
  EXPECT_EQ(at(1, false, Level::cluster, false), 3 * 8000.0);  // at zero prices
  EXPECT_EQ(at(3, true, Level::cluster, true), 8000.0);
  EXPECT_EQ(at(2, true, Level::machine, true), 8000.0 + 3 * 4000.0);
}

/// Three gangs of five single GPUs, each worth 5000, that must lie on one machine, and a machine of
/// 8 GPUs at 1 a thousandth. Five GPUs can pay, not eight; the CPU-only task that each brings pays,
/// too.
TEST(UpperBound, takes_a_gang_on_one_machine_as_one) {
  const auto at = [](Level domain, std::int32_t share) {
    test::Tiny tiny;
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 8, 4000, 1000);
    tiny.pod(), tiny.rack(), tiny.machine(c);
    for (int i = 0; i < 3; ++i) {
      const JobId j = tiny.job({{.count = 5, .gpus = share == 0 ? 1 : 0, .gpu_milli = share},
                                {.cpu_milli = 1000, .label = "server"}});
      tiny[j].domain = domain;
      tiny[j].value = 5000.0;
    }
    Certificate prices;
    prices.pools = {{PodId(0), {}, ClassId(0), 1, {0, 0}}};
    return bound(tiny, prices);
  };
  EXPECT_EQ(at(Level::machine, 0), 5000.0);
  EXPECT_EQ(at(Level::rack, 0), 8000.0);  // the tasks of the second gang fill the machine
  EXPECT_EQ(at(Level::machine, 600), 3 * 2000.0 + 8 * 600);  // with shares task by task
}

/// CPU-only tasks of a job that is bound to type A lie on the machine without GPUs, and there the
/// second task finds no room: one job of the two.
TEST(UpperBound, counts_cpu_tasks_of_gpu_jobs_on_any_machine) {
  test::Tiny tiny;
  const ClassId gpus = tiny.machine_class("gpus", tiny.type("A"), 2, 0, 1000);
  const ClassId plain = tiny.machine_class("plain", {}, 0, 1000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(gpus), tiny.machine(plain);
  for (int i = 0; i < 2; ++i) tiny[tiny.job({{.gpus = 1}, {.cpu_milli = 1000}})].gpu_types = 1;
  Certificate prices;
  prices.shapes = {{ShapeId(1), {}, 1}};
  EXPECT_EQ(bound(tiny, prices), 1.0);
}

/// Two groups with different cheapest racks: rack-0 is dear for GPUs and cheap for CPU, rack-1 the
/// other way. The job must be in one rack: it pays at least min(4 + 0, 0 + 3) = 3 of its 10.
TEST(UpperBound, takes_the_minimum_over_domains_of_the_sum) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 1, 1000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c), tiny.rack(), tiny.machine(c);
  model::Job& job = tiny[tiny.job({{.gpus = 1, .memory_mib = 1}, {.cpu_milli = 1}})];
  job.domain = Level::rack;
  job.value = 10.0;
  Certificate prices;
  prices.level = Level::rack;
  prices.pools = {{PodId(0), RackId(0), ClassId(0), 0, {0, 4}},
                  {PodId(0), RackId(1), ClassId(0), 0, {3, 0}}};
  const Bound b = upper_bound(tiny.instance, Objective::value, prices, {});
  EXPECT_EQ(b.jobs, 7);
  EXPECT_EQ(b.zero_price, 10);
}

/// Home factors: 10 in the home rack at price 5, 9 elsewhere in the pod at price 1, 7.5 away, free.
TEST(UpperBound, weighs_distance_from_home_against_price) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 1, 0, 0);
  tiny.pod(), tiny.rack(), tiny.machine(c), tiny.rack(), tiny.machine(c);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  model::Job& job = tiny[tiny.job({{.gpus = 1}})];
  job.value = 100.0;
  job.home_rack = RackId(0);
  job.home_factor = tiny.factors({1.0, 1.0, 0.9, 0.75});
  Certificate prices;
  prices.level = Level::rack;
  const auto priced = [&](std::int64_t home, std::int64_t near, std::int64_t far) {
    prices.pools = {{PodId(0), RackId(0), ClassId(0), home, {0, 0}},
                    {PodId(0), RackId(1), ClassId(0), near, {0, 0}},
                    {PodId(1), RackId(2), ClassId(0), far, {0, 0}}};
    prices.scale_log2 = 10;  // 1000 thousandths at 1 cost 0.977
    return static_cast<double>(upper_bound(tiny.instance, Objective::value, prices, {}).jobs) /
           1024;
  };
  EXPECT_EQ(priced(0, 0, 0), 100.0);
  EXPECT_EQ(priced(50, 0, 0), 90.0);
  EXPECT_EQ(priced(50, 50, 0), 75.0);
  EXPECT_EQ(priced(50, 50, 50), 100.0 - 50000.0 / 1024);
}

/// Required jobs count even at a loss, others do not.
TEST(UpperBound, keeps_required_jobs_at_a_loss) {
  test::Tiny tiny = one_rack(1);
  const JobId poor = tiny.job({{.gpus = 2}});
  tiny[poor].value = 1.0;
  tiny[tiny.job({{.gpus = 2}})].value = 100.0;
  Certificate prices;
  prices.scale_log2 = 10;
  prices.pools = {{PodId(0), {}, ClassId(0), 52, {0, 0}}};  // 101.56 for the machine
  const std::vector<JobId> required{poor};
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, {}).value, 101.0);
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, required).value, 1.0);
}

/// Values that are no integers at this scale are rounded up, and never to an integer below.
TEST(UpperBound, rounds_up) {
  test::Tiny tiny = one_rack(1);
  tiny[tiny.job({{.gpus = 2}})].value = 0.1;
  Certificate prices;
  prices.scale_log2 = 3;
  EXPECT_EQ(bound(tiny, prices), 0.125);
  prices.scale_log2 = 40;
  EXPECT_GE(bound(tiny, prices), 0.1);
  EXPECT_LT(bound(tiny, prices), 0.1 + 1e-11);
}

/// One machine of 2 GPUs, jobs of 2 GPUs (3) and of 1 GPU (2 and 0.5): 3 is the best content, which
/// no price per GPU can show. Prices of 0 do: the machine takes whole jobs or none.
TEST(UpperBound, fills_a_rack_with_whole_jobs) {
  test::Tiny tiny = one_rack(1);
  tiny[tiny.job({{.gpus = 2}})].value = 3.0;
  tiny[tiny.job({{.gpus = 1}})].value = 2.0;
  tiny[tiny.job({{.gpus = 1}})].value = 0.5;
  Certificate prices;
  prices.scale_log2 = 1;
  prices.jobs = {{JobId(0), 0}, {JobId(1), 0}, {JobId(2), 0}};
  EXPECT_EQ(bound(tiny, prices), 3.0);
  prices.jobs = {{JobId(0), 1}, {JobId(1), 0}, {JobId(2), 0}};  // 0.5 + max(2.5, 2 + 0.5)
  EXPECT_EQ(bound(tiny, prices), 3.0);
  prices.jobs.pop_back();  // the last pays for its tasks: nothing
  EXPECT_EQ(bound(tiny, prices), 3.5);
}

/// Two racks may choose the same job, unless its price is what it is worth.
TEST(UpperBound, chooses_a_job_in_every_rack_where_it_is_worth_more_than_its_price) {
  test::Tiny tiny = one_rack(1);
  tiny.rack(), tiny.machine(ClassId(0));
  tiny[tiny.job({{.gpus = 2}})].value = 3.0;
  tiny[tiny.job({{.gpus = 2}})].value = 1.0;
  tiny[tiny.job({{.gpus = 2}})].value = 1.0;
  Certificate prices;
  prices.jobs = {{JobId(0), 1}, {JobId(1), 0}, {JobId(2), 0}};
  EXPECT_EQ(upper_bound(tiny.instance, Objective::value, prices, {}).machines, 4);
  EXPECT_EQ(bound(tiny, prices), 5.0);  // at zero prices; here 1 + 2 + 2
  prices.jobs[0].price = 2;
  EXPECT_EQ(bound(tiny, prices), 4.0);  // 2 + 1 + 1: the optimum
}

/// Four machines of 2 GPUs in two racks of two pods: a gang of 2 x 2 GPUs is worth 8 in a rack, 6
/// over racks, 4 over pods, and takes its GPUs there.
TEST(UpperBound, takes_gpus_for_wide_gangs_from_all_their_racks) {
  test::Tiny tiny = one_rack(1);
  tiny.rack(), tiny.machine(ClassId(0));
  tiny.pod(), tiny.rack(), tiny.machine(ClassId(0));
  model::Job& gang = tiny[tiny.job({{.count = 2, .gpus = 2}})];
  gang.value = 8.0;
  gang.width_factor = tiny.factors({1.0, 1.0, 0.75, 0.5});
  tiny[tiny.job({{.gpus = 2}})].value = 5.0;
  tiny[tiny.job({{.gpus = 2}})].value = 1.0;
  Certificate prices;
  prices.jobs = {{JobId(0), 0}, {JobId(1), 5}, {JobId(2), 1}};
  EXPECT_EQ(bound(tiny, prices), 12.0);  // no rack holds the gang; 6 in the pod of two
  tiny[JobId(0)].domain = Level::rack;
  EXPECT_EQ(bound(tiny, prices), 6.0);
  tiny[JobId(0)].domain = Level::cluster;
  tiny[JobId(0)].width_factor = tiny.factors({1.0, 1.0, 0.25, 0.25});
  EXPECT_EQ(bound(tiny, prices), 8.0);
}

TEST(UpperBound, refuses_prices_of_jobs_that_share_devices) {
  test::Tiny tiny = one_rack(1);
  tiny.job({{.gpu_milli = 500}});
  tiny.job({{.gpus = 1}});
  tiny.job({{.cpu_milli = 500}});
  Certificate prices;
  for (const int job : {0, 2, 3}) {
    prices.jobs = {{JobId(job), 1}};
    EXPECT_NE(unusable(tiny.instance, Objective::value, prices), "") << job;
  }
  prices.jobs = {{JobId(1), 1}, {JobId(1), 1}};
  EXPECT_NE(unusable(tiny.instance, Objective::value, prices), "");
  prices.jobs = {{JobId(1), -1}};
  EXPECT_NE(unusable(tiny.instance, Objective::value, prices), "");
  prices.jobs = {{JobId(1), INT64_MAX}};
  EXPECT_EQ(bound(tiny, prices), 2.0);  // zero prices are better; 0.5 counts as 1 at this scale
}

TEST(UpperBound, refuses_unusable_prices) {
  test::Tiny tiny = one_rack(1);
  Certificate prices;
  prices.pools = {{PodId(0), {}, ClassId(0), -1, {0, 0}}};
  EXPECT_NE(unusable(tiny.instance, Objective::value, prices), "");
  EXPECT_THROW(bound(tiny, prices), BrokenContract);
  prices.pools[0].gpu_milli = 1;
  EXPECT_EQ(unusable(tiny.instance, Objective::value, prices), "");
  prices.pools[0].pod = PodId(3);
  EXPECT_NE(unusable(tiny.instance, Objective::value, prices), "");
}

/// The largest prices that can be written are exact, or refused; they never wrap round.
TEST(UpperBound, does_not_overflow) {
  test::Tiny tiny = one_rack(2);
  for (int i = 0; i < 3; ++i) tiny.job({{.count = 2, .gpu_milli = 1, .cpu_milli = 2000}});
  Certificate prices;
  prices.pools = {{PodId(0), {}, ClassId(0), INT64_MAX, {INT64_MAX, INT64_MAX}}};
  prices.shapes = {{ShapeId(0), GpuTypeId(0), INT64_MAX}};
  prices.multipliers = {{ClassId(0), {INT64_MAX, INT64_MAX}}};
  EXPECT_EQ(bound(tiny, prices, Objective::allocate), 6.0);  // zero prices are better
  EXPECT_GT(upper_bound(tiny.instance, Objective::allocate, prices, {}).machines,
            Int128{INT64_MAX} * 8000);  // two machines with the CPU of two tasks each
  tiny.instance.cluster.classes[0].capacity[model::kCpu] = std::int64_t{1} << 60;
  EXPECT_NE(unusable(tiny.instance, Objective::allocate, prices), "");
}

}  // namespace
}  // namespace berth::certify
