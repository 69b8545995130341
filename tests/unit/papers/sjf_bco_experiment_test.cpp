// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"
#include "result_values.hpp"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "berth/papers/paired_statistics.hpp"

namespace berth::papers {
namespace {

TEST(SjfBcoExperiment, BelowBaselinesInSubmissionOrder) {
  const auto rows = bench::run_sjf_bco({.seeds = 40, .smoke = false});
  const auto makespans = [&](std::string_view setting, std::string_view scheduler) -> const auto& {
    return bench::values(rows, setting, "makespan, slots", scheduler);
  };
  for (const std::string_view setting : {"cap15", "weak"}) {
    const auto& ours = makespans(setting, "sjf-bco");
    for (const std::string_view other : {"ff, submission order", "ls, submission order"})
      EXPECT_LT(paired_difference(ours, makespans(setting, other)).high(), 0.0);
    EXPECT_LT(paired_difference(makespans(setting, "berth"), ours).high(), 0.0);
  }
}

}  // namespace
}  // namespace berth::papers
