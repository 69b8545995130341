// SPDX-License-Identifier: Apache-2.0
#include "traffic_recorder.hpp"

#include <algorithm>

namespace berth::comm {
namespace {

double seconds_between(TrafficRecorder::Clock::time_point begin,
                       TrafficRecorder::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

std::string_view name(Call call) {
  constexpr std::array<std::string_view, kCalls> kNames{
      "barrier", "broadcast", "reduce", "all_reduce", "gather", "all_gather", "all_to_all"};
  return kNames[static_cast<std::size_t>(call)];
}

double TrafficRecorder::since_start(Clock::time_point at) const {
  return std::max(0.0, seconds_between(start_, at));
}

Event TrafficRecorder::stage_event(const Stage& stage) const {
  const double begin = since_start(stage.begin);
  return {.kind = EventKind::stage,
          .name = stage.name,
          .begin = begin,
          .seconds = since_start(Clock::now()) - begin};
}

void TrafficRecorder::begin_stage(std::string_view name) {
  Stage& left = stages_[now_];
  const Clock::time_point now = Clock::now();
  left.elapsed += seconds_between(left.begin, now);
  if (recording_ && !left.name.empty()) events_.push_back(stage_event(left));
  const auto known = std::ranges::find(stages_, name, &Stage::name);
  now_ = static_cast<std::size_t>(known - stages_.begin());
  if (known == stages_.end()) stages_.emplace_back().name = name;
  stages_[now_].begin = now;
}

void TrafficRecorder::count(Call call, std::uint64_t bytes, Clock::time_point begin,
                            Clock::time_point end) {
  CallTotals& totals = stages_[now_].calls[static_cast<std::size_t>(call)];
  ++totals.messages;
  totals.bytes += static_cast<std::int64_t>(bytes);
  totals.seconds += seconds_between(begin, end);
  if (!recording_) return;
  events_.push_back({.kind = EventKind::message,
                     .name = std::string(name(call)),
                     .bytes = static_cast<std::int64_t>(bytes),
                     .begin = since_start(begin),
                     .seconds = seconds_between(begin, end)});
}

void TrafficRecorder::record_events() {
  recording_ = true;
  start_ = Clock::now();
}

void TrafficRecorder::span(std::string_view name, std::int64_t index, Clock::time_point begin) {
  events_.push_back({.kind = EventKind::span,
                     .name = std::string(name),
                     .index = index,
                     .begin = since_start(begin),
                     .seconds = seconds_between(begin, Clock::now())});
}

std::vector<Traffic> TrafficRecorder::by_stage() const {
  std::vector<Traffic> result;
  for (const Stage& stage : stages_) {
    Traffic total{.stage = stage.name, .elapsed = stage.elapsed};
    if (&stage == &stages_[now_]) total.elapsed += seconds_between(stage.begin, Clock::now());
    for (const CallTotals& totals : stage.calls) {
      total.messages += totals.messages;
      total.bytes += totals.bytes;
      total.seconds += totals.seconds;
    }
    if (total.messages > 0 || !stage.name.empty()) result.push_back(std::move(total));
  }
  return result;
}

std::vector<CallTraffic> TrafficRecorder::by_call() const {
  std::vector<CallTraffic> result;
  for (const Stage& stage : stages_) {
    for (std::size_t c = 0; c < stage.calls.size(); ++c) {
      const CallTotals& totals = stage.calls[c];
      if (totals.messages == 0) continue;
      result.push_back(
          {stage.name, static_cast<Call>(c), totals.messages, totals.bytes, totals.seconds});
    }
  }
  return result;
}

std::vector<Event> TrafficRecorder::events() const {
  std::vector<Event> result = events_;
  const Stage& last = stages_[now_];
  if (recording_ && !last.name.empty()) result.push_back(stage_event(last));
  return result;
}

}  // namespace berth::comm
