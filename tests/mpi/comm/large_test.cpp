// SPDX-License-Identifier: Apache-2.0
// Messages that no int counts, really sent. Takes 6 GiB of memory.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

constexpr std::size_t kBeyondInt = (std::size_t{1} << 31) + 5;

/// Differs from place to place, with a period that divides no power of two.
char letter(std::size_t at) { return static_cast<char>(1 + at % 251); }

/// Calls f(place) near both ends and around every half gibibyte, where pieces may be cut.
template <class F>
void each_mark(std::size_t size, F f) {
  constexpr std::size_t kApart = std::size_t{1} << 29, kNear = 100;
  for (std::size_t middle = 0; middle < size + kNear; middle += kApart) {
    const std::size_t first = middle - std::min(middle, kNear);
    for (std::size_t i = first; i < std::min(middle + kNear, size); ++i) f(i);
  }
  f(size - 1);
}

/// Marked positions hold their letters, and the bytes between them are zero.
void expect_letters(const char* text, std::size_t size) {
  std::size_t wrong = 0;
  each_mark(size, [&](std::size_t i) { wrong += text[i] == letter(i) ? 0 : 1; });
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(text[size / 2 + 1000], '\0');
}

class Large : public testing::Test {
 protected:
  Large() {
    const auto memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    enough = world.min(memory) >= std::int64_t{12} << 30;
  }
  const Communicator world = Communicator::world();
  bool enough;
};

TEST_F(Large, string_is_broadcast_whole) {
  if (!enough) GTEST_SKIP() << "less than 12 GiB of memory";
  std::string text;
  if (world.rank() == 0) {
    text.resize(kBeyondInt);
    each_mark(text.size(), [&](std::size_t i) { text[i] = letter(i); });
  }
  world.broadcast_string(text);
  ASSERT_EQ(text.size(), kBeyondInt);
  expect_letters(text.data(), text.size());
}

TEST_F(Large, parts_are_gathered_whole) {
  if (!enough) GTEST_SKIP() << "less than 12 GiB of memory";
  const auto ranks = static_cast<std::size_t>(world.size());
  const std::size_t part = kBeyondInt / ranks + 1;  // each is short enough, all are not
  std::vector<char> mine(part);
  const std::size_t begin = part * static_cast<std::size_t>(world.rank());
  each_mark(part * ranks, [&](std::size_t i) {
    if (begin <= i && i < begin + part) mine[i - begin] = letter(i);
  });
  const auto all = world.gather_varying<char>(mine);
  ASSERT_EQ(all.size(), world.rank() == 0 ? part * ranks : 0);
  if (world.rank() == 0) expect_letters(all.data(), all.size());
}

}  // namespace
}  // namespace berth::comm
