// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "berth/policy/policy.hpp"
#include "berth/sim/berth_policy.hpp"

namespace berth::apps {

/// Decisions of one kind and the seconds that they took.
struct TimedDecisions {
  std::int64_t count = 0;
  double seconds = 0.0, worst = 0.0;
  double present = 0.0;  ///< sum of the jobs present

  void add(double took, double jobs) {
    ++count;
    seconds += took;
    worst = std::max(worst, took);
    present += jobs;
  }
  [[nodiscard]] double mean_seconds() const { return mean(seconds); }
  [[nodiscard]] double mean_present() const { return mean(present); }

 private:
  [[nodiscard]] double mean(double sum) const {
    return count == 0 ? 0.0 : sum / static_cast<double>(count);
  }
};

/// A policy and the time that its decisions take, which no policy sees.
class TimedPolicy final : public policy::Policy {
 public:
  /// @param counts  of `berth`: decisions with a round of prices are counted apart
  TimedPolicy(policy::Policy& policy, const sim::BerthCounts& counts)
      : policy_(policy), counts_(counts) {}
  void decide(policy::State& state) override {
    const std::size_t rounds = counts_.rounds.size();
    const auto begin = std::chrono::steady_clock::now();
    policy_.decide(state);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    const auto jobs = static_cast<double>(state.waiting() + std::ssize(state.running()));
    (counts_.rounds.size() > rounds ? priced_ : plain_).add(spent.count(), jobs);
  }
  [[nodiscard]] JobId next() const override { return policy_.next(); }
  [[nodiscard]] bool starts_all_that_fit() const override { return policy_.starts_all_that_fit(); }
  bool save(ByteWriter& writer) const override { return policy_.save(writer); }
  void restore(ByteReader& reader) override { policy_.restore(reader); }

  [[nodiscard]] const TimedDecisions& plain() const { return plain_; }
  [[nodiscard]] const TimedDecisions& priced() const { return priced_; }

 private:
  policy::Policy& policy_;
  const sim::BerthCounts& counts_;
  TimedDecisions plain_, priced_;
};

}  // namespace berth::apps
