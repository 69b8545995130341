// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/capacity_profile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::horizon {

namespace {

/// Position of the last item whose time is no later, or 0. @pre ascending, not empty. Without
/// branches that depend on the times: searches of short lists wait for little else than their wrong
/// guesses.
template <class Item, class TimeOf>
std::size_t last_until(const std::vector<Item>& items, Seconds time, const TimeOf& time_of) {
  std::size_t at = 0;
  for (std::size_t left = items.size(); left > 1;) {
    const std::size_t half = left / 2;
    at += time_of(items[at + half]) <= time ? half : 0;
    left -= half;
  }
  return at;
}

}  // namespace

CapacityProfile::CapacityProfile(std::span<const CapacityStep> steps, IdleSteps idle)
    : idle_(idle) {
  BERTH_EXPECT(!steps.empty());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && i % kBlockSteps == 0) {
      more_.emplace_back();
      more_from_.push_back(steps[i].from);
    }
    block(blocks() - 1).steps.push_back({.from = steps[i].from, .free = steps[i].gpus});
  }
  for (std::size_t b = 0; b < blocks(); ++b) refresh(block(b));
}

CapacityProfile::CapacityProfile(Seconds now, Gpus capacity)
    : CapacityProfile(std::array{CapacityStep{.from = now, .gpus = capacity}}) {}

void CapacityProfile::refresh(Block& block) {
  const auto [least, most] = std::ranges::minmax_element(block.steps, {}, &Step::free);
  block.least = least->free + block.shift;
  block.most = most->free + block.shift;
}

CapacityProfile::Position CapacityProfile::position_of(Seconds time) const {
  std::size_t b = 0;
  if (!more_.empty() && more_from_.front() <= time) {
    b = 1 + last_until(more_from_, time, std::identity{});
  }
  return {b, last_until(block(b).steps, time, [](const Step& step) { return step.from; })};
}

Seconds CapacityProfile::end_of_step(Position position) const {
  const Block& at = block(position.block);
  return position.step + 1 < at.steps.size() ? at.steps[position.step + 1].from
                                             : end_of_block(position.block);
}

Seconds CapacityProfile::earliest_fit(Seconds from, Seconds duration, Gpus gpus,
                                      Seconds until) const {
  const Seconds candidate = std::max(from, first_.steps.front().from);
  if (candidate > until) return kNever;
  if (more_.empty()) {  // most machines: nothing to search
    if (first_.least >= gpus) return candidate;
    if (first_.most < gpus) return kNever;
  }
  return earliest_fit_from(position_of(candidate), candidate, duration, gpus, until);
}

/// The same from the position of the first candidate.
Seconds CapacityProfile::earliest_fit_from(Position p, Seconds candidate, Seconds duration,
                                           Gpus gpus, Seconds until) const {
  bool fits = true;  // `gpus` are free from the candidate to the step looked at
  for (; p.block < blocks(); ++p.block, p.step = 0) {
    const Block& at = block(p.block);
    if (!fits && begin_of(p.block) > until) return kNever;
    if (fits && at.least >= gpus) {
      if (end_of_block(p.block) >= candidate + duration) return candidate;
      continue;
    }
    if (at.most < gpus) {
      fits = false;
      continue;
    }
    const Gpus needed = gpus - at.shift;
    const std::size_t steps = at.steps.size();
    for (std::size_t s = p.step; s < steps; ++s) {
      if (at.steps[s].free < needed) {
        fits = false;
        continue;
      }
      if (!fits) candidate = at.steps[s].from;
      if (candidate > until) return kNever;
      fits = true;
      const Seconds end = s + 1 < steps ? at.steps[s + 1].from : end_of_block(p.block);
      if (end >= candidate + duration) return candidate;
    }
  }
  return kNever;
}

Gpus CapacityProfile::least_free(Seconds from, Seconds to) const {
  BERTH_EXPECT(from < to);
  if (more_.empty() && first_.least == first_.most) return first_.least;
  Position p = position_of(from);
  Gpus least = block(p.block).steps[p.step].free + block(p.block).shift;
  for (; p.block < blocks() && begin_of(p.block) < to; ++p.block, p.step = 0) {
    const Block& at = block(p.block);
    if (p.step == 0 && end_of_block(p.block) <= to) {
      least = std::min(least, at.least);
      continue;
    }
    for (; p.step < at.steps.size() && at.steps[p.step].from < to; ++p.step) {
      least = std::min(least, at.steps[p.step].free + at.shift);
    }
  }
  return least;
}

void CapacityProfile::insert_block(std::size_t b, Block block) {
  const auto at = static_cast<std::ptrdiff_t>(b) - 1;
  more_from_.insert(more_from_.begin() + at, block.steps.front().from);
  more_.insert(more_.begin() + at, std::move(block));
}

void CapacityProfile::erase_block(std::size_t b) {
  const auto at = static_cast<std::ptrdiff_t>(b) - 1;
  more_.erase(more_.begin() + at);
  more_from_.erase(more_from_.begin() + at);
}

void CapacityProfile::split_at(Seconds time) {
  const Position p = position_of(time);
  std::vector<Step>& steps = block(p.block).steps;
  if (steps[p.step].from >= time) return;
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(p.step) + 1,
               Step{.from = time, .free = steps[p.step].free});
  if (steps.size() <= kBlockSteps) return;
  const auto half = static_cast<std::ptrdiff_t>(steps.size() / 2);
  Block upper{.steps = {steps.begin() + half, steps.end()}, .shift = block(p.block).shift};
  steps.resize(static_cast<std::size_t>(half));
  refresh(block(p.block));
  refresh(upper);
  insert_block(p.block + 1, std::move(upper));
}

void CapacityProfile::reserve(Seconds from, Seconds to, Gpus gpus) {
  from = std::max(from, first_.steps.front().from);
  if (from >= to) return;
  split_at(from);
  if (to < kNever) split_at(to);
  for (Position p = position_of(from); p.block < blocks() && begin_of(p.block) < to;
       ++p.block, p.step = 0) {
    Block& at = block(p.block);
    if (p.step == 0 && end_of_block(p.block) <= to) {
      at.shift -= gpus;
      at.least -= gpus;
      at.most -= gpus;
      continue;
    }
    for (; p.step < at.steps.size() && at.steps[p.step].from < to; ++p.step) {
      at.steps[p.step].free -= gpus;
    }
    refresh(at);
  }
  if (idle_ == IdleSteps::keep) return;
  merge_at(from);
  if (to < kNever) merge_at(to);
}

/// Forgets a step that changes nothing: else a profile would keep one for every time at which
/// anything was ever tried.
void CapacityProfile::merge_at(Seconds time) {
  const Position p = position_of(time);
  Block& at = block(p.block);
  if (at.steps[p.step].from != time || (p.block == 0 && p.step == 0)) return;
  const Block& before = p.step > 0 ? at : block(p.block - 1);
  const Gpus free_before =
      (p.step > 0 ? at.steps[p.step - 1] : before.steps.back()).free + before.shift;
  if (free_before != at.steps[p.step].free + at.shift) return;
  at.steps.erase(at.steps.begin() + static_cast<std::ptrdiff_t>(p.step));
  if (at.steps.empty()) return erase_block(p.block);
  if (p.block > 0) more_from_[p.block - 1] = at.steps.front().from;
  refresh(at);
}

std::size_t CapacityProfile::steps() const {
  std::size_t count = 0;
  for (std::size_t b = 0; b < blocks(); ++b) count += block(b).steps.size();
  return count;
}

}  // namespace berth::horizon
