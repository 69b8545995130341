// SPDX-License-Identifier: Apache-2.0
#include "berth/base/similar.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(EditDistance, counts_inserts_drops_changes_and_swaps_whatever_the_case) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("H100", "h100"), 0U);
  EXPECT_EQ(edit_distance("H10", "H100"), 1U);
  EXPECT_EQ(edit_distance("H1000", "H100"), 1U);
  EXPECT_EQ(edit_distance("V100", "H100"), 1U);
  EXPECT_EQ(edit_distance("H010", "H100"), 1U);  // neighbours swapped
  EXPECT_EQ(edit_distance("", "gpu"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(DidYouMean, names_the_nearest_word_and_the_first_of_equals) {
  const std::vector<std::string> known{"A100", "H100", "L40S"};
  EXPECT_EQ(did_you_mean("H10", known), "did you mean \"H100\"?");
  EXPECT_EQ(did_you_mean("V100", known), "did you mean \"A100\"?");
}

TEST(DidYouMean, is_silent_when_nothing_is_near) {
  const std::vector<std::string> known{"A100", "H100"};
  EXPECT_EQ(did_you_mean("MI300X-OAM", known), "");
  EXPECT_EQ(did_you_mean("A100", std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace berth
