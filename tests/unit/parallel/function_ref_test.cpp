// SPDX-License-Identifier: Apache-2.0
#include "berth/parallel/function_ref.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace berth::parallel {
namespace {

int doubled(FunctionRef<int(int)> f, int x) { return 2 * f(x); }

struct Counting {
  int calls = 0;
  int operator()(int x) { return x + ++calls; }
};

TEST(FunctionRef, calls_the_object_it_was_given) {
  const int offset = 3;
  EXPECT_EQ(doubled([&](int x) { return x + offset; }, 4), 14);
  Counting counting;
  EXPECT_EQ(doubled(counting, 10), 22);
  EXPECT_EQ(doubled(counting, 10), 24);
  EXPECT_EQ(counting.calls, 2);  // the object itself, not a copy
}

static_assert(sizeof(FunctionRef<void()>) == 2 * sizeof(void*));
static_assert(!std::is_constructible_v<FunctionRef<void(int)>, void (*)(const char*)>);

}  // namespace
}  // namespace berth::parallel
