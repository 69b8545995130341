// SPDX-License-Identifier: Apache-2.0
#include "berth/policy/history.hpp"

#include <gtest/gtest.h>

namespace berth::policy {
namespace {

constexpr Micros s = kSecond;

TEST(Residual, by_hand) {
  const std::vector<Micros> samples{10 * s, 10 * s, 10 * s, 100 * s};
  // three of four end by 10 s, for which all four run 10 s: 40 s for three completions
  EXPECT_EQ(residual(samples, 0, Residual::gittins), 13'333'333);
  EXPECT_EQ(residual(samples, 0, Residual::mean), 32'500'000);
  EXPECT_EQ(residual(samples, 0, Residual::median), 10 * s);
  EXPECT_EQ(residual(samples, 0, Residual::p90), 100 * s);
  // beyond 10 s only the last one is left
  for (const Residual kind : {Residual::gittins, Residual::mean, Residual::median, Residual::p90}) {
    EXPECT_EQ(residual(samples, 10 * s, kind), 90 * s);
  }
}

TEST(History, nothing_known_is_an_hour) {
  const History history(Residual::mean);
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 0), 3600 * s);
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 9000 * s), 60 * s);
}

TEST(History, own_queue_then_size_then_all_then_as_long_again) {
  History history(Residual::mean);
  for (int i = 0; i < 3; ++i) {
    history.add(QueueId(0), 1000, 10 * s);
    history.add(QueueId(1), 1000, 40 * s);
    history.add(QueueId(1), 8000, 500 * s);
  }
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 0), 10 * s);
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 20 * s), 20 * s);
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 100 * s), 400 * s);
  EXPECT_EQ(history.remaining(QueueId(2), 8000, 0), 500 * s);
  EXPECT_EQ(history.remaining(QueueId(2), 4000, 60 * s), 440 * s);
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 700 * s), 700 * s);
}

TEST(History, forgets_what_is_older_than_the_last_64) {
  History history(Residual::mean);
  for (int i = 0; i < 64; ++i) history.add(QueueId(0), 1000, 10 * s);
  for (int i = 0; i < 64; ++i) history.add(QueueId(0), 1000, 20 * s);
  EXPECT_EQ(history.remaining(QueueId(0), 1000, 0), 20 * s);
}

}  // namespace
}  // namespace berth::policy
