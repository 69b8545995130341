// SPDX-License-Identifier: Apache-2.0
#include "stages.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace berth::pipeline {
namespace {

using namespace std::chrono_literals;

TEST(Stages, time_of_a_stage_within_another_counts_once) {
  const auto began = std::chrono::steady_clock::now();
  const auto comm = comm::Communicator::serial();
  Stages stages(comm);
  stages.run("outer", [&] {
    stages.run("inner", [] { std::this_thread::sleep_for(50ms); });
    std::this_thread::sleep_for(10ms);
    stages.run("inner", [] { std::this_thread::sleep_for(50ms); });
  });
  const auto seconds = stages.slowest();
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  EXPECT_GE(seconds.at("inner"), 0.1);
  EXPECT_GE(seconds.at("outer"), 0.01);
  EXPECT_DOUBLE_EQ(seconds.at("solve"), seconds.at("inner") + seconds.at("outer"));
  EXPECT_LE(seconds.at("solve"), elapsed);
}

}  // namespace
}  // namespace berth::pipeline
