// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "berth/policy/policy.hpp"

namespace berth::apps {

/// A policy and the time that its decisions take, which no policy sees.
class TimedPolicy final : public policy::Policy {
 public:
  explicit TimedPolicy(policy::Policy& policy) : policy_(policy) {}
  void decide(policy::State& state) override {
    const auto begin = std::chrono::steady_clock::now();
    policy_.decide(state);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    seconds_ += spent.count();
    worst_ = std::max(worst_, spent.count());
    ++decisions_;
    present_ += static_cast<double>(state.waiting()) + static_cast<double>(state.running().size());
  }
  [[nodiscard]] JobId next() const override { return policy_.next(); }
  [[nodiscard]] bool starts_all_that_fit() const override { return policy_.starts_all_that_fit(); }
  bool save(ByteWriter& writer) const override { return policy_.save(writer); }
  void restore(ByteReader& reader) override { policy_.restore(reader); }

  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double worst() const { return worst_; }  ///< seconds
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }
  /// Mean number of jobs present at a decision.
  [[nodiscard]] double present() const {
    return decisions_ == 0 ? 0.0 : present_ / static_cast<double>(decisions_);
  }

 private:
  policy::Policy& policy_;
  double seconds_ = 0.0, worst_ = 0.0, present_ = 0.0;
  std::int64_t decisions_ = 0;
};

}  // namespace berth::apps
