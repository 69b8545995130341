// SPDX-License-Identifier: Apache-2.0
#include "berth/base/name_table.hpp"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(NameTable, gives_names_back_by_index) {
  NameTable names;
  EXPECT_EQ(names.size(), 0U);
  EXPECT_EQ(names.add("m0"), 0U);
  EXPECT_EQ(names.add(""), 1U);  // an empty name keeps its place
  EXPECT_EQ(names.add("machine-17"), 2U);
  EXPECT_EQ(names[0], "m0");
  EXPECT_EQ(names[1], "");
  EXPECT_EQ(names[2], "machine-17");
}

}  // namespace
}  // namespace berth
