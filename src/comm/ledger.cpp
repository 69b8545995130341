// SPDX-License-Identifier: Apache-2.0
#include "ledger.hpp"

#include <algorithm>

namespace berth::comm {
namespace {

double seconds_between(Ledger::Clock::time_point begin, Ledger::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

std::string_view name(Call call) {
  constexpr std::array<std::string_view, kCalls> kNames{
      "barrier", "broadcast", "reduce", "all_reduce", "gather", "all_gather", "all_to_all"};
  return kNames[static_cast<std::size_t>(call)];
}

double Ledger::since_start(Clock::time_point at) const {
  return std::max(0.0, seconds_between(start_, at));
}

Event Ledger::stage_event(const Stage& stage) const {
  const double begin = since_start(stage.begin);
  return {.kind = Event::Kind::stage,
          .name = stage.name,
          .begin = begin,
          .seconds = since_start(Clock::now()) - begin};
}

void Ledger::begin_stage(std::string_view name) {
  Stage& left = stages_[now_];
  const Clock::time_point now = Clock::now();
  left.elapsed += seconds_between(left.begin, now);
  if (recording_ && !left.name.empty()) events_.push_back(stage_event(left));
  const auto known = std::ranges::find(stages_, name, &Stage::name);
  now_ = static_cast<std::size_t>(known - stages_.begin());
  if (known == stages_.end()) stages_.emplace_back().name = name;
  stages_[now_].begin = now;
}

void Ledger::count(Call call, std::uint64_t bytes, Clock::time_point begin, Clock::time_point end) {
  Count& counted = stages_[now_].calls[static_cast<std::size_t>(call)];
  ++counted.messages;
  counted.bytes += static_cast<std::int64_t>(bytes);
  counted.seconds += seconds_between(begin, end);
  if (!recording_) return;
  events_.push_back({.kind = Event::Kind::message,
                     .name = std::string(name(call)),
                     .bytes = static_cast<std::int64_t>(bytes),
                     .begin = since_start(begin),
                     .seconds = seconds_between(begin, end)});
}

void Ledger::record_events() {
  recording_ = true;
  start_ = Clock::now();
}

void Ledger::span(std::string_view name, std::int64_t index, Clock::time_point begin) {
  events_.push_back({.kind = Event::Kind::span,
                     .name = std::string(name),
                     .index = index,
                     .begin = since_start(begin),
                     .seconds = seconds_between(begin, Clock::now())});
}

std::vector<Traffic> Ledger::by_stage() const {
  std::vector<Traffic> result;
  for (const Stage& stage : stages_) {
    Traffic total{.stage = stage.name, .elapsed = stage.elapsed};
    if (&stage == &stages_[now_]) total.elapsed += seconds_between(stage.begin, Clock::now());
    for (const Count& count : stage.calls) {
      total.messages += count.messages;
      total.bytes += count.bytes;
      total.seconds += count.seconds;
    }
    if (total.messages > 0 || !stage.name.empty()) result.push_back(std::move(total));
  }
  return result;
}

std::vector<CallTraffic> Ledger::by_call() const {
  std::vector<CallTraffic> result;
  for (const Stage& stage : stages_) {
    for (std::size_t c = 0; c < stage.calls.size(); ++c) {
      const Count& count = stage.calls[c];
      if (count.messages == 0) continue;
      result.push_back(
          {stage.name, static_cast<Call>(c), count.messages, count.bytes, count.seconds});
    }
  }
  return result;
}

std::vector<Event> Ledger::events() const {
  std::vector<Event> result = events_;
  const Stage& last = stages_[now_];
  if (recording_ && !last.name.empty()) result.push_back(stage_event(last));
  return result;
}

}  // namespace berth::comm
