// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "berth/papers/paired_statistics.hpp"

namespace berth::papers {
namespace {

const std::vector<double>& values(const std::vector<bench::ResultRow>& rows,
                                  std::string_view setting, std::string_view scheduler) {
  const auto at = std::ranges::find_if(rows, [&](const bench::ResultRow& row) {
    return row.setting == setting && row.scheduler == scheduler;
  });
  EXPECT_NE(at, rows.end());
  return at->by_seed;
}

TEST(SjfBcoExperiment, BelowBaselinesInSubmissionOrder) {
  const auto rows = bench::run_sjf_bco({.seeds = 40, .smoke = false});
  for (const std::string_view setting : {"cap15", "weak"}) {
    const auto& ours = values(rows, setting, "sjf-bco");
    for (const std::string_view other : {"ff, submission order", "ls, submission order"})
      EXPECT_LT(paired_difference(ours, values(rows, setting, other)).high(), 0.0);
    EXPECT_LT(paired_difference(values(rows, setting, "berth"), ours).high(), 0.0);
  }
}

}  // namespace
}  // namespace berth::papers
