// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/policy/state.hpp"
#include "berth/sim/world_speeds.hpp"

namespace berth::sim {

/// Rates of the running jobs. An update asks the model about the jobs that have changed and, when
/// the model is coupled, about all that are joined to them by links or machines.
class RateBook {
 public:
  struct JobRate {
    JobId job;
    speed::Rate rate;
  };

  explicit RateBook(const WorldSpeeds& speeds) : speeds_(speeds) {}

  void start(const policy::State& state, JobId job);
  void leave(JobId job);
  void touch(JobId job) { changed_.push_back(job); }  ///< its work has reached Rate::until_work
  void forget_changes() { changed_.clear(); }
  /// New rates of all jobs that may have one, ascending. O(jobs asked about x log)
  std::vector<JobRate> update(const policy::State& state);

 private:
  struct RunningTasks {
    std::vector<speed::MachineTasks> machines;
    std::vector<std::uint64_t> keys;  ///< distinct
  };
  void add_joined(std::vector<JobId>& jobs);

  const WorldSpeeds& speeds_;
  std::unordered_map<std::int32_t, RunningTasks> running_;       // by JobId
  std::unordered_map<std::uint64_t, std::vector<JobId>> users_;  // by key
  std::vector<JobId> changed_;
  std::vector<std::uint64_t> freed_;  // keys of jobs that have left
};

}  // namespace berth::sim
