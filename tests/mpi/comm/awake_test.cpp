// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>

#include "berth/comm/communicator.hpp"
#include "berth/comm/environment.hpp"

namespace berth::comm {
namespace {

/// CPU seconds of the rank that waits most busily for one that comes 0.4 s late.
double busy_while_waiting(const Communicator& world) {
  world.barrier();
  const std::clock_t begin = std::clock();
  if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(world.sum(1), world.size());
  return world.max_seconds(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
}

TEST(Awake, is_for_short_waits_alone) {
  const auto world = Communicator::world();
  EXPECT_LT(busy_while_waiting(world), 0.2);
  stay_awake(true);
  EXPECT_LT(busy_while_waiting(world), 0.2);
  stay_awake(false);
}

}  // namespace
}  // namespace berth::comm
