// SPDX-License-Identifier: Apache-2.0
#include "tiny.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"

namespace berth::certify {
namespace {

using testing::HasSubstr;

constexpr std::int32_t kScale = 20;
constexpr std::int64_t kOne = std::int64_t{1} << kScale;

/// A rack of two machines of 8 GPUs and one of a single machine in each of two pods; three gangs of
/// two machines that are worth 10 within a rack, 9 within a pod and 8 further apart.
class Gangs : public testing::Test {
 protected:
  Gangs() {
    class_ = tiny_.machine_class("c", tiny_.type("A"), 8, 64'000, 1000);
    for (int pod = 0; pod < 2; ++pod) {
      tiny_.pod();
      tiny_.rack(), tiny_.machine(class_), tiny_.machine(class_);
      tiny_.rack(), tiny_.machine(class_);
    }
    const std::uint32_t spread = tiny_.factors({1.0, 1.0, 0.9, 0.8});
    for (int j = 0; j < 3; ++j) {
      const JobId gang = tiny_.job({{.count = 2, .gpus = 8}});
      tiny_[gang].value = 10.0;
      tiny_[gang].width_factor = spread;
    }
    prices_.scale_log2 = kScale;
    prices_.shapes = {{ShapeId(0), GpuTypeId(0), 4 * kOne}};
  }

  /// By prices, also where values alone prove less.
  [[nodiscard]] double bound() const {
    const Bound b = upper_bound(tiny_.instance, model::Objective::value, prices_, {});
    return static_cast<double>(b.machines + b.jobs + b.shared) / static_cast<double>(kOne);
  }
  [[nodiscard]] std::string fault() const {
    return unusable(tiny_.instance, model::Objective::value, prices_);
  }
  void price(std::int64_t amount) { prices_.gangs = {{ShapeId(0), 2, GpuTypeId(0), amount}}; }

  test::Tiny tiny_;
  ClassId class_;
  model::Certificate prices_;
};

/// At 4 a machine all gangs would be in a rack, and there are two such racks: 24 + 3 x 2. With 9
/// for a gang in a rack each gains 1 there and 0.5 in one machine of 4 elsewhere.
TEST_F(Gangs, fill_racks_as_a_whole) {
  EXPECT_NEAR(bound(), 30.0, 1e-4);
  price(9 * kOne);
  // six machines at 4, 1 more in each rack of two; a gang gains 1 in a rack or in a pod
  EXPECT_NEAR(bound(), 24.0 + 2.0 + 3.0, 1e-4);
}

TEST_F(Gangs, lose_what_jobs_that_stay_earn_on_their_machines) {
  const JobId stays = tiny_.job({{.gpus = 8}});
  tiny_[stays].value = 4.5;
  tiny_.run(stays, {{.machine = MachineId(0), .group = 0, .devices = 0xFF, .milli = 1000}})
      .move_cost = 3.0;
  // the job counts its best elsewhere, 0, and 4.5 on machine 0
  EXPECT_NEAR(bound(), 30.5, 1e-4);
  price(9 * kOne);
  EXPECT_NEAR(bound(), 24.5 + 0.5 + 1.0 + 3.0, 1e-4) << "9 in place of 4.5 and 4 in the first rack";
}

TEST_F(Gangs, need_machines_that_are_up_and_empty) {
  tiny_.state(MachineId(0), model::MachineState::drained);
  tiny_.use({.machine = MachineId(3), .devices = 1, .milli = 1000, .taken = {}, .job = {}});
  price(9 * kOne);
  EXPECT_NEAR(bound(), 4 * 4.0 + 3 * 1.0, 1e-4) << "no rack holds a gang";
}

/// Jobs to which racks do not matter pay for their tasks in any rack.
TEST_F(Gangs, without_a_preference_pay_for_tasks) {
  for (model::Job& job : tiny_.instance.workload.jobs) job.width_factor = 0;
  price(9 * kOne);
  EXPECT_NEAR(bound(), 24.0 + 2.0 + 3 * 2.0, 1e-4);
}

TEST_F(Gangs, parts_of_the_gap_add_up) {
  price(9 * kOne);
  const auto tasks = [](std::int32_t a, std::int32_t b) {
    return std::vector<model::TaskPlacement>{
        {.machine = MachineId(a), .group = 0, .devices = 0xFF, .milli = 1000},
        {.machine = MachineId(b), .group = 0, .devices = 0xFF, .milli = 1000}};
  };
  const model::Placement plan{{JobId(0), 0, tasks(0, 1)}, {JobId(1), 0, tasks(2, 4)}};
  const auto kind = model::Objective::value;
  const model::Figures f = figures(tiny_.instance, kind, plan, prices_);
  EXPECT_NEAR(f.objective, 18.0, 1e-9);
  const model::GapParts parts = gap_parts(tiny_.instance, kind, plan, prices_, f);
  // the gang in a rack has its best place, the one over two pods misses 1, the third one all of 1
  ASSERT_EQ(parts.regret.size(), 1U);
  EXPECT_EQ(parts.regret.front().jobs, 2);
  EXPECT_NEAR(parts.regret.front().amount, 2.0, 1e-4);
  ASSERT_EQ(parts.idle.size(), 1U);
  EXPECT_NEAR(parts.idle.front().amount, 26.0 - 9.0 - 8.0, 1e-4);
  EXPECT_NEAR(parts.rounding, 0.0, 1e-9);
}

TEST_F(Gangs, may_not_have_any_price) {
  price(9 * kOne);
  EXPECT_EQ(fault(), "");
  prices_.gangs.front().price = -1;
  EXPECT_THAT(fault(), HasSubstr("negative"));
  prices_.gangs = {{ShapeId(0), 1, GpuTypeId(0), 1}};
  EXPECT_THAT(fault(), HasSubstr("fewer than 2 tasks"));
  prices_.gangs = {{ShapeId(9), 2, GpuTypeId(0), 1}};
  EXPECT_THAT(fault(), HasSubstr("does not exist"));
  prices_.gangs = {{ShapeId(0), 2, GpuTypeId(7), 1}};
  EXPECT_THAT(fault(), HasSubstr("does not exist"));
  prices_.gangs.assign(1001, prices_.gangs.front());
  EXPECT_THAT(fault(), HasSubstr("more than 1000"));
  price(1);
  prices_.jobs = {{JobId(0), 1}};
  EXPECT_THAT(fault(), HasSubstr("prices of jobs"));
  prices_.jobs.clear();
  tiny_[class_].gpus = 16;
  EXPECT_THAT(fault(), HasSubstr("all GPUs of every machine"));
}

}  // namespace
}  // namespace berth::certify
