// SPDX-License-Identifier: Apache-2.0
#include "berth/model/objective.hpp"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

TEST(Objective, names_are_distinct_and_read_back) {
  for (std::size_t i = 0; i < kObjectives.size(); ++i) {
    EXPECT_EQ(parse_objective(kObjectives[i].name), static_cast<Objective>(i));
    EXPECT_EQ(kObjectiveNames[i], kObjectives[i].name);
  }
  EXPECT_EQ(to_string(Objective::value), "value");
  EXPECT_EQ(to_string(Objective::allocate), "allocate");
  EXPECT_EQ(parse_objective("Value"), std::nullopt);
  EXPECT_EQ(parse_objective(""), std::nullopt);
}

}  // namespace
}  // namespace berth::model
