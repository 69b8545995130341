// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/figures.hpp"

#include "tiny.hpp"

#include <gtest/gtest.h>

namespace berth::certify {
namespace {

using model::Objective;

/// Two pods of two racks of one machine with 4 GPUs; job: 2 x 1 GPU, weight 3, speed 1.5,
/// home rack 0: 1, .9 in the pod, .75 away; spread 1, .8 (rack), .5 (pod), .25 (cluster).
class Factors : public testing::Test {
 protected:
  Factors() {
    const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 8000, 1000);
    for (int p = 0; p < 2; ++p) {
      tiny.pod(), tiny.rack(), tiny.machine(c), tiny.rack(), tiny.machine(c);
    }
    model::Job& job = tiny[tiny.job({{.count = 2, .gpus = 1}})];
    job.weight = 3.0;
    job.speed = tiny.speeds({1.5});
    job.home_rack = RackId(0);
    job.home_factor = tiny.factors({1.0, 1.0, 0.9, 0.75});
    job.width_factor = tiny.factors({1.0, 0.8, 0.5, 0.25});
  }
  double value_on(int first, int second, Objective kind = Objective::value) {
    return objective(
               tiny.instance, kind,
               {{JobId(0), 0, {{MachineId(first), 0, 1, 1000}, {MachineId(second), 0, 2, 1000}}}})
        .value;
  }
  test::Tiny tiny;
};

TEST_F(Factors, follow_the_farthest_task_and_the_narrowest_domain) {
  EXPECT_NEAR(value_on(0, 0), 9.0, 1e-11);
  EXPECT_NEAR(value_on(1, 1), 9.0 * 0.9, 1e-11);
  EXPECT_NEAR(value_on(0, 1), 9.0 * 0.9 * 0.5, 1e-11);
  EXPECT_NEAR(value_on(3, 3), 9.0 * 0.75, 1e-11);
  EXPECT_NEAR(value_on(0, 3), 9.0 * 0.75 * 0.25, 1e-11);
  EXPECT_EQ(value_on(0, 3, Objective::allocate), 2000.0);
}

TEST_F(Factors, are_rounded_down) { EXPECT_LE(value_on(1, 1), 9.0 * 0.9); }

TEST(Gap, is_a_fraction_of_the_bound) {
  EXPECT_EQ(gap(0.0, 0.0), 0.0);
  EXPECT_EQ(gap(200.0, 150.0), 0.25);
  EXPECT_EQ(gap(-4.0, -5.0), 0.25);
}

TEST(ProofDigest, depends_on_every_price) {
  test::Tiny tiny;
  const ClassId c = tiny.machine_class("c", tiny.type("A"), 4, 8000, 1000);
  tiny.pod(), tiny.rack(), tiny.machine(c);
  tiny.job({{.gpus = 1}});
  model::Certificate prices;
  prices.pools = {{PodId(0), {}, c, 1, {2, 3}}};
  prices.shapes = {{ShapeId(0), GpuTypeId(0), 4}};
  prices.multipliers = {{c, {5, 6}}};
  prices.jobs = {{JobId(0), 1}};
  prices.gangs = {{ShapeId(0), 2, GpuTypeId(0), 7}};
  const auto digest = [&] { return proof_digest(tiny.instance, 1.0, 2.0, prices); };
  const std::string before = digest();
  for (std::int64_t* price :
       {&prices.pools[0].gpu_milli, &prices.pools[0].unit_price[model::kCpu],
        &prices.pools[0].unit_price[model::kMemory], &prices.shapes[0].price,
        &prices.multipliers[0].unit_price[model::kCpu],
        &prices.multipliers[0].unit_price[model::kMemory], &prices.jobs[0].price,
        &prices.gangs[0].price, &prices.gangs[0].tasks}) {
    ++*price;
    EXPECT_NE(digest(), before);
    --*price;
  }
  EXPECT_EQ(digest(), before);
  EXPECT_NE(proof_digest(tiny.instance, 1.5, 2.0, prices), before);
  EXPECT_NE(proof_digest(tiny.instance, 1.0, 2.5, prices), before);
}

}  // namespace
}  // namespace berth::certify
