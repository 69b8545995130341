// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/messages.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::comm {
namespace {

struct Letter {
  int from = 0;
  std::vector<std::string> pages;
  bool operator==(const Letter&) const = default;
};

template <class Archive>
void describe(Archive& archive, Letter& letter) {
  archive(letter.from, letter.pages);
}

/// As many pages as its number, each as long.
Letter letter(int from, int number) {
  const auto n = static_cast<std::size_t>(number);
  return {from, std::vector<std::string>(n, std::string(n, static_cast<char>('a' + from)))};
}

/// As many letters as the rank's number.
std::vector<Letter> letters_of(int rank) {
  std::vector<Letter> letters;
  for (int i = 0; i < rank; ++i) letters.push_back(letter(rank, i));
  return letters;
}

class Messages : public testing::Test {
 protected:
  [[nodiscard]] std::vector<Letter> of_all() const {
    std::vector<Letter> all;
    for (int r = 0; r < world.size(); ++r) {
      for (const Letter& l : letters_of(r)) all.push_back(l);
    }
    return all;
  }

  const Communicator world = Communicator::world();
};

TEST_F(Messages, broadcast_the_value_of_the_root) {
  for (int root = 0; root < world.size(); ++root) {
    Letter value = letter(world.rank(), 3 + world.rank());
    broadcast(world, value, root);
    EXPECT_EQ(value, letter(root, 3 + root));
  }
}

TEST_F(Messages, gather_by_rank) {
  const std::vector<Letter> mine = letters_of(world.rank());
  EXPECT_EQ(gather<Letter>(world, mine), world.rank() == 0 ? of_all() : std::vector<Letter>());
  EXPECT_EQ(all_gather<Letter>(world, mine), of_all());
}

TEST_F(Messages, reach_the_rank_they_are_written_for) {
  std::vector<ByteWriter> to(static_cast<std::size_t>(world.size()));
  std::vector<Letter> expected;
  for (int r = 0; r < world.size(); ++r) {
    to[static_cast<std::size_t>(r)](letter(world.rank(), r), letter(world.rank(), r + 1));
    expected.push_back(letter(r, world.rank()));
    expected.push_back(letter(r, world.rank() + 1));
  }
  EXPECT_EQ(exchange<Letter>(world, std::move(to)), expected);
}

}  // namespace
}  // namespace berth::comm
