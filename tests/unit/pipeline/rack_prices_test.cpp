// SPDX-License-Identifier: Apache-2.0
#include "rack_prices.hpp"

#include "scarce_racks.hpp"
#include "tiny.hpp"

#include <cstddef>
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
    const std::uint32_t spread = tiny_.factors({1.0, 1.0, 0.9, 0.9});
    for (int j = 0; j < 2; ++j) {
      const JobId gang = tiny_.job({{.count = 2, .gpus = 8}});
      tiny_[gang].value = 10.0;
      tiny_[gang].width_factor = spread;
    }
  }

  /// One machine of these racks is not up.
  void drain(std::size_t first_rack) {
    for (std::size_t r = first_rack; r < 4; ++r) {
      tiny_.state(MachineId(2 * r), model::MachineState::drained);
    }
  }

  [[nodiscard]] planner_model::Valuation valuation() const {
    return {tiny_.instance, model::Objective::value};
  }

  /// From prices of 0.
  [[nodiscard]] double priced(double objective, model::Level level) const {
    const auto pools = planner_model::make_pools(tiny_.instance.cluster, level);
    const std::vector<double> prices(pools.size(), 0.0);
    Proof proof =
        tightest(tiny_.instance, model::Objective::value, {from_pools(pools, prices, 1.0)});
    EXPECT_NEAR(proof.upper_bound, 20.0, 1e-9);
    return price_racks(valuation(), std::move(proof), {.objective = objective}).upper_bound;
  }

  test::Tiny tiny_;
};

TEST_F(FourRacks, one_that_is_whole_is_scarce) {
  drain(1);
  EXPECT_TRUE(racks_differ(tiny_.instance.cluster));
  const std::vector<RackSet> sets = scarce_racks(valuation());
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].racks, std::vector<RackId>{RackId(0)});
}

/// The best plan has one gang in rack 0 and one over two others.
TEST_F(FourRacks, a_price_of_the_whole_rack_proves_the_best_plan) {
  drain(1);
  EXPECT_NEAR(priced(19.0, model::Level::rack), 19.0, 1e-2);
  EXPECT_NEAR(priced(19.0, model::Level::pod), 19.0, 1e-2);
  EXPECT_NEAR(priced(20.0, model::Level::rack), 20.0, 1e-9) << "nothing is left to prove";
}

TEST_F(FourRacks, racks_for_all_gangs_are_not_scarce) {
  drain(2);
  EXPECT_TRUE(racks_differ(tiny_.instance.cluster));
  EXPECT_TRUE(scarce_racks(valuation()).empty());
}

TEST_F(FourRacks, equal_racks_are_not_asked_for) {
  EXPECT_FALSE(racks_differ(tiny_.instance.cluster));
  EXPECT_FALSE(scarce_racks_matter(tiny_.instance));
}

/// A running job may move, so its rack may become whole; a pinned one stays.
TEST_F(FourRacks, a_pinned_job_takes_room_and_a_running_one_does_not) {
  const JobId job = tiny_.job({{.gpus = 8}});
  const std::vector<model::TaskPlacement> place{
      {.machine = MachineId(0), .group = 0, .devices = 0xFF, .milli = 1000}};
  tiny_.run(job, place);
  EXPECT_FALSE(racks_differ(tiny_.instance.cluster));
  tiny_.instance.workload.running.back().pinned = true;
  tiny_.use({.machine = MachineId(0), .devices = 0xFF, .milli = 1000, .taken = {}, .job = job});
  EXPECT_TRUE(racks_differ(tiny_.instance.cluster));
}

}  // namespace
}  // namespace berth::pipeline
