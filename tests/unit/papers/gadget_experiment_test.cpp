// SPDX-License-Identifier: Apache-2.0
// The claims of docs/papers.md about GADGET.
#include "experiment.hpp"
#include "petsc_environment.hpp"
#include "result_values.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "berth/papers/paired_statistics.hpp"

namespace berth::bench {
namespace {

TEST(GadgetExperiment, TiesAsStatedAndIsAheadWhereGpusAreScarce) {
  std::vector<std::size_t> kept;  // rows when a setting had ended
  const std::vector<ResultRow> rows =
      run_gadget({.seeds = 6, .keep = [&](const auto& now) { kept.push_back(now.size()); }});
  EXPECT_EQ(kept, (std::vector<std::size_t>{21, 42, 49, 56, 63}));
  const auto utility = [&](std::string_view setting, std::string_view scheduler) -> const auto& {
    return values(rows, setting, "total utility", scheduler);
  };
  const auto mean = [](const std::vector<double>& v) { return papers::mean_interval(v).mean; };
  for (const char* setting : {"40 jobs, as stated", "100 jobs, as stated"}) {
    for (const char* other : {"fifo", "drf", "las", "berth", "bound"})
      EXPECT_NEAR(mean(utility(setting, other)) / mean(utility(setting, "gadget")), 1.0, 0.01);
  }
  for (const char* setting : {"40 jobs, scarce", "100 jobs, scarce"}) {
    const auto& gadget = utility(setting, "gadget");
    for (const char* other : {"fifo", "drf", "las"})
      EXPECT_GT(papers::paired_difference(gadget, utility(setting, other)).low(), 0.0) << other;
    EXPECT_NEAR(mean(utility(setting, "berth")) / mean(gadget), 1.0, 0.001);
    const auto& least = values(rows, setting, "least slot of a run, part of its optimum", "gadget");
    EXPECT_GE(std::ranges::min(least), 0.99);
  }
}

}  // namespace
}  // namespace berth::bench
