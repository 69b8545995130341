// SPDX-License-Identifier: Apache-2.0
#include "berth/base/stop.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace berth {
namespace {

using Clock = StopSource::Clock;

TEST(Stop, never_without_a_source_or_a_reason) {
  EXPECT_FALSE(StopToken().requested());
  EXPECT_FALSE(StopToken().has_cut());
  const StopSource source(StopSource::in_seconds(1e300));
  EXPECT_FALSE(StopToken(source).requested());
  EXPECT_FALSE(StopToken(source).share_of(1000).requested());
  EXPECT_FALSE(source.has_cut());
}

TEST(Stop, at_the_deadline) {
  const StopSource source(StopSource::in_seconds(0.0));
  EXPECT_FALSE(source.has_cut());  // no question was asked yet
  EXPECT_TRUE(StopToken(source).requested());
  EXPECT_TRUE(source.has_cut());
}

TEST(Stop, at_a_signal) {
  volatile std::sig_atomic_t flag = 0;
  const StopSource source(StopSource::kNever, &flag);
  const StopToken token(source);
  EXPECT_FALSE(token.requested());
  flag = 1;
  EXPECT_TRUE(token.share_of(3).requested());
  EXPECT_TRUE(token.has_cut());
}

TEST(Stop, after_a_number_of_questions_and_for_ever) {
  StopSource source;
  source.stop_after_questions(2);
  const StopToken token(source);
  EXPECT_FALSE(token.requested());
  EXPECT_FALSE(token.requested());
  EXPECT_TRUE(token.requested());
  EXPECT_TRUE(token.requested());
}

TEST(Stop, a_piece_of_the_work_gets_its_share_of_the_time_left) {
  const StopSource source(StopSource::in_seconds(0.2));
  const StopToken share = StopToken(source).share_of(20);
  EXPECT_FALSE(share.requested());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(share.requested());
  EXPECT_FALSE(share.whole().requested());
}

TEST(Stop, a_patient_one_waits_a_second_from_its_first_question) {
  const StopSource source(StopSource::in_seconds(0.0));
  const StopToken patient = StopToken(source).patient();
  const auto began = Clock::now();
  EXPECT_FALSE(patient.requested());
  EXPECT_FALSE(source.has_cut());
  while (!patient.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(Clock::now() - began, std::chrono::milliseconds(990));
  EXPECT_TRUE(source.has_cut());
}

}  // namespace
}  // namespace berth
