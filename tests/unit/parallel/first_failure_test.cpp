// SPDX-License-Identifier: Apache-2.0
#include "first_failure.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace berth::parallel {
namespace {

// The order in which threads happen to fail, played by hand.
TEST(FirstFailure, keeps_the_lowest_index_whatever_comes_first) {
  FirstFailure failure;
  int ran = 0;
  for (const std::size_t index : {7, 3, 5, 9}) {
    failure.guard(index, [&] {
      ++ran;
      throw std::runtime_error(std::to_string(index));
    });
  }
  failure.guard(1, [&] { ++ran; });
  EXPECT_EQ(ran, 3);  // 7, 3 and 1: above a failed index nothing matters any more
  try {
    failure.rethrow();
    ADD_FAILURE() << "did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
}

TEST(FirstFailure, is_silent_when_all_went_well) {
  FirstFailure failure;
  failure.guard(0, [] {});
  EXPECT_NO_THROW(failure.rethrow());
}

}  // namespace
}  // namespace berth::parallel
