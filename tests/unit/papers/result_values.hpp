// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiment.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace berth::bench {

/// What a scheduler reached in a setting, by seed; a failure of the test when there is no such row.
inline const std::vector<double>& values(const std::vector<ResultRow>& rows,
                                         std::string_view setting, std::string_view metric,
                                         std::string_view scheduler) {
  const auto at = std::ranges::find_if(rows, [&](const ResultRow& row) {
    return row.setting == setting && row.metric == metric && row.scheduler == scheduler;
  });
  EXPECT_NE(at, rows.end());
  return at->by_seed;
}

}  // namespace berth::bench
