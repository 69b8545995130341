// SPDX-License-Identifier: Apache-2.0
// The serial communicator, in a program that never starts MPI.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/assert.hpp"
#include "berth/comm/patterns.hpp"

namespace berth::comm {
namespace {

TEST(Serial, every_collective_is_the_identity) {
  const auto serial = Communicator::serial();
  EXPECT_EQ(serial.rank(), 0);
  EXPECT_EQ(serial.size(), 1);
  std::vector<std::int64_t> values{3, -1, 4};
  const auto before = values;
  std::string text = "prices";
  serial.barrier();
  serial.broadcast<std::int64_t>(values);
  serial.broadcast_vector(values);
  serial.broadcast_string(text);
  serial.sum(values);
  serial.sum_to_root(values);
  serial.max(values);
  serial.min(values);
  EXPECT_EQ(values, before);
  EXPECT_EQ(text, "prices");
  EXPECT_EQ(serial.all_gather(7), std::vector<int>{7});
  EXPECT_EQ(serial.all_gather_varying<std::int64_t>(values), before);
  EXPECT_EQ(serial.gather_varying<std::int64_t>(values), before);
  EXPECT_EQ(serial.all_to_all_varying<std::int64_t>(values, std::vector<std::size_t>{3}).values,
            before);
  EXPECT_EQ(exchange_by_owner<std::int64_t>(serial, values, std::vector<int>{0, 0, 0}), before);
  EXPECT_EQ(ranks_sharing(serial, {}), 1);
  EXPECT_TRUE(serial.stats().empty());
}

TEST(Serial, agree_throws_the_one_failure) {
  const auto serial = Communicator::serial();
  EXPECT_EQ(serial.agreed([] { return 5; }), 5);
  EXPECT_THROW(serial.agreed([] { throw SystemError("disk full"); }), AgreedError);
}

TEST(Serial, abort_ends_with_the_code) {
  EXPECT_EXIT(Communicator::serial().abort(ExitCode::required_missing), testing::ExitedWithCode(5),
              "");
}

TEST(Serial, misuse_is_a_broken_contract) {
  const auto serial = Communicator::serial();
  std::vector<std::int64_t> values{1};
  EXPECT_THROW(Communicator::world(), std::logic_error);  // no Environment
  EXPECT_THROW(serial.broadcast<std::int64_t>(values, 1), BrokenContract);
  EXPECT_THROW(exchange_by_owner<std::int64_t>(serial, values, std::vector<int>{1}),
               BrokenContract);
  EXPECT_THROW((void)serial.all_to_all_varying<std::int64_t>(values, std::vector<std::size_t>{2}),
               BrokenContract);
}

}  // namespace
}  // namespace berth::comm
