// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "berth/horizon/capacity_profile.hpp"
#include "berth/horizon/timeline.hpp"

namespace berth::horizon {

/// Pools as aggregates: a job takes GPUs, wherever in the pool they are. Counts thousandths of GPUs
/// where some job has shares.
class PoolTimeline final : public Timeline {
 public:
  explicit PoolTimeline(const Problem& problem);

  Seconds earliest_until(const Option& option, PoolId pool, Seconds from, Seconds until) override {
    return profiles_[pool.index()].earliest_fit(from, option.duration, needed(option), until);
  }
  Gpus free_at(PoolId pool, Seconds time) const override {
    return profiles_[pool.index()].least_free(time, time + 1) / unit_;
  }
  bool fits(const Option& option, PoolId pool, Seconds start,
            const std::vector<TaskShare>&) const override {
    return profiles_[pool.index()].least_free(start, start + option.duration) >= needed(option);
  }
  void reserve(const Option& option, PoolId pool, Seconds start, std::vector<TaskShare>&) override {
    profiles_[pool.index()].reserve(start, start + option.duration, needed(option));
  }
  void release(const Option& option, PoolId pool, Seconds start,
               const std::vector<TaskShare>&) override {
    profiles_[pool.index()].reserve(start, start + option.duration, -needed(option));
  }
  void retake(const Option& option, PoolId pool, Seconds start,
              const std::vector<TaskShare>&) override {
    profiles_[pool.index()].reserve(start, start + option.duration, needed(option));
  }

 private:
  [[nodiscard]] Gpus needed(const Option& option) const {
    return unit_ * option.gpus + option.share_milli;
  }

  Gpus unit_ = 1;                          ///< of a GPU
  std::vector<CapacityProfile> profiles_;  ///< by PoolId
};

}  // namespace berth::horizon
