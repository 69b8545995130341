// SPDX-License-Identifier: Apache-2.0
#include "berth/base/strong_id.hpp"

#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace berth {
namespace {

static_assert(!std::is_convertible_v<JobId, MachineId> && !std::is_constructible_v<JobId, RackId>);
static_assert(!std::is_convertible_v<int, JobId>);
static_assert(std::is_trivially_copyable_v<JobId> && sizeof(JobId) == 4);

TEST(StrongId, is_invalid_until_it_names_something) {
  EXPECT_FALSE(JobId().valid());
  EXPECT_TRUE(JobId(0).valid());
  EXPECT_EQ(JobId(std::size_t{7}).index(), 7U);
  EXPECT_EQ(JobId(7).value(), 7);
}

TEST(StrongId, orders_and_hashes_by_value) {
  EXPECT_LT(JobId(1), JobId(2));
  EXPECT_LT(JobId(), JobId(0));
  EXPECT_EQ(JobId(3), JobId(std::size_t{3}));
  const std::unordered_set<JobId> ids{JobId(1), JobId(2), JobId(1)};
  EXPECT_EQ(ids.size(), 2U);
}

}  // namespace
}  // namespace berth
