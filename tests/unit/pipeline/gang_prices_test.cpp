// SPDX-License-Identifier: Apache-2.0
#include "gang_prices.hpp"

#include "near_prices.hpp"
#include "tiny.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/planner_model/pools.hpp"

namespace berth::pipeline {
namespace {

/// Four racks of two machines of 8 GPUs in one pod; gangs of two machines that are worth 10 within
/// a rack and 9 spread over the pod.
class FourRacks : public testing::Test {
 protected:
  FourRacks() {
    const ClassId c = tiny_.machine_class("c", tiny_.type("A"), 8, 0, 0);
    tiny_.pod();
    for (int r = 0; r < 4; ++r) tiny_.rack(), tiny_.machine(c), tiny_.machine(c);
    spread_ = tiny_.factors({1.0, 1.0, 0.9, 0.9});
  }

  void add_gangs(int count) {
    for (int j = 0; j < count; ++j) {
      const JobId gang = tiny_.job({{.count = 2, .gpus = 8}});
      tiny_[gang].value = 10.0;
      tiny_[gang].width_factor = spread_;
    }
  }

  /// From prices of 0, which prove `before`.
  [[nodiscard]] Proof priced(double objective, double before, model::Level level) const {
    const auto pools = planner_model::make_pools(tiny_.instance.cluster, level);
    const std::vector<double> prices(pools.size(), 0.0);
    Proof proof =
        tightest(tiny_.instance, model::Objective::value, {from_pools(pools, prices, 1.0)});
    EXPECT_NEAR(proof.upper_bound, before, 1e-9);
    return price_gangs(tiny_.instance, model::Objective::value, std::move(proof),
                       {.objective = objective});
  }

  test::Tiny tiny_;
  std::uint32_t spread_ = 0;
};

/// The best plan has one gang in rack 0 and one over two others.
TEST_F(FourRacks, one_that_is_whole_proves_the_best_plan) {
  add_gangs(2);
  for (std::size_t r = 1; r < 4; ++r) {
    tiny_.state(MachineId(2 * r), model::MachineState::drained);
  }
  for (const model::Level level : {model::Level::rack, model::Level::pod}) {
    const Proof proof = priced(19.0, 20.0, level);
    EXPECT_NEAR(proof.upper_bound, 19.0, 1e-2);
    ASSERT_EQ(proof.certificate.gangs.size(), 1U);
    EXPECT_EQ(proof.certificate.gangs.front().tasks, 2);
  }
  EXPECT_NEAR(priced(20.0, 20.0, model::Level::pod).upper_bound, 20.0, 1e-9)
      << "nothing is left to prove";
}

/// A search over placements takes thousands of times as long as prices and does not depend on them.
TEST_F(FourRacks, are_found_without_the_search_of_the_certificate) {
  add_gangs(2);
  model::Certificate certificate;
  certificate.search_steps = 1000;
  const NearPrices prices(tiny_.instance, model::Objective::value, certificate);
  EXPECT_EQ(prices.at(prices.none(), JobCount::each).search_steps, 0);
}

/// In each rack a job runs that loses 0.75 when it moves, on one of the other four machines: a gang
/// in a rack gains 0.25 over two machines of different racks.
TEST_F(FourRacks, are_whole_when_a_running_job_pays_for_the_move) {
  add_gangs(2);
  for (std::size_t r = 0; r < 4; ++r) {
    const JobId job = tiny_.job({{.gpus = 8}});
    tiny_[job].value = 5.0;
    tiny_.run(job, {{.machine = MachineId(2 * r), .group = 0, .devices = 0xFF, .milli = 1000}})
        .move_cost = 0.75;
  }
  EXPECT_NEAR(priced(38.5, 40.0, model::Level::pod).upper_bound, 38.5, 0.2);
}

TEST_F(FourRacks, have_no_prices_of_tasks_that_share_machines) {
  add_gangs(2);
  tiny_.instance.workload.shapes.front().gpus = 4;
  EXPECT_TRUE(priced(15.0, 20.0, model::Level::pod).certificate.gangs.empty());
}

}  // namespace
}  // namespace berth::pipeline
