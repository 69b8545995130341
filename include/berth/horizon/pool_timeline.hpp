// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::horizon {

/// Pools as aggregates: a job takes GPUs, wherever in the pool they are.
class PoolTimeline final : public Timeline {
 public:
  explicit PoolTimeline(const Problem& problem);

  Seconds earliest_start(const Option& option, PoolId pool, Seconds from) override {
    return profiles_[pool.index()].earliest_fit(from, option.duration, option.gpus);
  }
  Gpus free_at(PoolId pool, Seconds time) const override {
    return profiles_[pool.index()].least_free(time, time + 1);
  }
  bool fits(const Option& option, PoolId pool, Seconds start,
            const std::vector<TaskShare>&) const override {
    return profiles_[pool.index()].least_free(start, start + option.duration) >= option.gpus;
  }
  void reserve(const Option& option, PoolId pool, Seconds start, std::vector<TaskShare>&) override {
    profiles_[pool.index()].reserve(start, start + option.duration, option.gpus);
  }
  void release(const Option& option, PoolId pool, Seconds start,
               const std::vector<TaskShare>&) override {
    profiles_[pool.index()].reserve(start, start + option.duration, -option.gpus);
  }
  void retake(const Option& option, PoolId pool, Seconds start,
              const std::vector<TaskShare>&) override {
    profiles_[pool.index()].reserve(start, start + option.duration, option.gpus);
  }

 private:
  std::vector<CapacityProfile> profiles_;  ///< by PoolId
};

}  // namespace berth::horizon
