// SPDX-License-Identifier: Apache-2.0
#include "berth/base/assert.hpp"

#include <string>

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Contract, a_broken_one_says_where_and_what) {
  const int gpus = -1;
  try {
    BERTH_EXPECT(gpus >= 0);
    FAIL() << "did not throw";
  } catch (const BrokenContract& broken) {
    const std::string text = broken.what();
    EXPECT_NE(text.find("assert_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("broken precondition: gpus >= 0"), std::string::npos) << text;
  }
}

TEST(Contract, kinds_are_told_apart) {
  EXPECT_NO_THROW(BERTH_ASSERT(1 + 1 == 2));
  EXPECT_THROW(BERTH_ASSERT(1 + 1 == 3), BrokenContract);
  EXPECT_THROW(BERTH_ENSURE(1 + 1 == 3), BrokenContract);
}

TEST(Contract, a_level_that_is_off_does_not_evaluate) {
  int evaluated = 0;
  BERTH_CONTRACT(99, "invariant", ++evaluated == 0);
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
}  // namespace berth
