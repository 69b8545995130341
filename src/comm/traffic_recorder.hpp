// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "berth/comm/traffic.hpp"

namespace berth::comm {

/// Records one rank's work and messages: traffic by stage and call always, events on request.
class TrafficRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  TrafficRecorder() : stages_(1) { stages_[0].begin = Clock::now(); }

  void begin_stage(std::string_view stage);
  void count(Call call, std::uint64_t bytes, Clock::time_point begin, Clock::time_point end);

  void record_events();
  [[nodiscard]] bool recording() const { return recording_; }
  void span(std::string_view name, std::int64_t index, Clock::time_point begin);

  [[nodiscard]] std::vector<Traffic> by_stage() const;
  [[nodiscard]] std::vector<CallTraffic> by_call() const;
  [[nodiscard]] std::vector<Event> events() const;  ///< a stage in progress ends now

 private:
  struct CallTotals {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
  };
  struct Stage {
    std::string name;
    std::array<CallTotals, kCalls> calls{};
    double elapsed = 0;       ///< of completed intervals
    Clock::time_point begin;  ///< of the current interval
  };

  [[nodiscard]] Event stage_event(const Stage& stage) const;
  [[nodiscard]] double since_start(Clock::time_point at) const;

  std::deque<Stage> stages_;  ///< in order of first use; names keep their addresses
  std::size_t now_ = 0;       ///< index into stages_
  bool recording_ = false;
  Clock::time_point start_;  ///< of the recording
  std::vector<Event> events_;
};

}  // namespace berth::comm
