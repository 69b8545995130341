// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <malloc.h>

#include "berth/comm/communicator.hpp"

namespace berth::pipeline {

/// Wall time and traffic by stage. All ranks run the same stages in the same order; a stage may run
/// in several pieces. Time of a stage within another one counts for the inner one alone.
class Stages {
 public:
  explicit Stages(const comm::Communicator& comm) : comm_(comm) {}
  explicit Stages(comm::Communicator&&) = delete;  // it is used, not kept

  /// Runs one stage and returns what it returns.
  template <class Work>
  auto run(const std::string& name, Work&& work) {
    comm_.begin_stage(name);
    const Timer timer(*this, name);
    return work();
  }

  /// Seconds of each stage on the slowest rank, and "solve", their sum. Collective.
  [[nodiscard]] std::map<std::string, double> slowest() const {
    std::map<std::string, double> result;
    double solve = 0.0;
    for (const auto& [name, seconds] : seconds_) {
      result[name] += comm_.max_seconds(seconds);
      solve += seconds;
    }
    result["solve"] = comm_.max_seconds(solve);
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  class Timer {
   public:
    Timer(Stages& stages, std::string name)
        : stages_(stages), name_(std::move(name)), before_(std::exchange(stages.within_, 0.0)) {}
    ~Timer() {
      malloc_trim(0);  // else memory that a stage freed stays with the process, and peaks add up
      const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
      stages_.seconds_.emplace_back(std::move(name_), elapsed - stages_.within_);
      stages_.within_ = before_ + elapsed;
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    Stages& stages_;
    std::string name_;
    double before_;  // seconds of stages that ended within the outer stage before this one
    Clock::time_point start_ = Clock::now();
  };

  const comm::Communicator& comm_;
  std::vector<std::pair<std::string, double>> seconds_;
  double within_ = 0.0;  // seconds of stages that ended within the one that runs
};

}  // namespace berth::pipeline
