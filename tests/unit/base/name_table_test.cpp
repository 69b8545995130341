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

TEST(NameTable, survives_the_way_through_its_columns) {
  NameTable names;
  for (const char* name : {"a", "bc", "", "def"}) names.add(name);
  const auto copy = NameTable::from_columns(names.characters(), names.ends());
  ASSERT_EQ(copy.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(copy[i], names[i]);
}

}  // namespace
}  // namespace berth
