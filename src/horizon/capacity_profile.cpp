// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/capacity_profile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "berth/base/assert.hpp"

namespace berth::horizon {

namespace {

/// Position of the last time that is no later, or 0. @pre ascending, not empty. Without branches
/// that depend on the times: searches of short lists wait for little else than their wrong guesses.
std::size_t last_until(const std::vector<Seconds>& times, Seconds time) {
  std::size_t at = 0;
  for (std::size_t left = times.size(); left > 1;) {
    const std::size_t half = left / 2;
    at += times[at + half] <= time ? half : 0;
    left -= half;
  }
  return at;
}

}  // namespace

CapacityProfile::CapacityProfile(std::span<const CapacityStep> steps, IdleSteps idle)
    : idle_(idle) {
  BERTH_EXPECT(!steps.empty());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i % kBlockSteps == 0) {
      blocks_.emplace_back();
      block_from_.push_back(steps[i].from);
    }
    blocks_.back().from.push_back(steps[i].from);
    blocks_.back().free.push_back(steps[i].gpus);
  }
  for (Block& block : blocks_) refresh(block);
}

CapacityProfile::CapacityProfile(Seconds now, Gpus capacity)
    : CapacityProfile(std::array{CapacityStep{.from = now, .gpus = capacity}}) {}

void CapacityProfile::refresh(Block& block) {
  const auto [least, most] = std::ranges::minmax_element(block.free);
  block.least = *least + block.shift;
  block.most = *most + block.shift;
}

CapacityProfile::Position CapacityProfile::position_of(Seconds time) const {
  const std::size_t block = last_until(block_from_, time);
  return {block, last_until(blocks_[block].from, time)};
}

Seconds CapacityProfile::end_of_block(std::size_t block) const {
  return block + 1 < blocks_.size() ? block_from_[block + 1] : kNever;
}

Seconds CapacityProfile::end_of_step(Position position) const {
  const Block& block = blocks_[position.block];
  return position.entry + 1 < block.from.size() ? block.from[position.entry + 1]
                                                : end_of_block(position.block);
}

Seconds CapacityProfile::earliest_fit(Seconds from, Seconds duration, Gpus gpus,
                                      Seconds until) const {
  Seconds candidate = std::max(from, block_from_.front());
  if (candidate > until) return kNever;
  if (blocks_.size() == 1) {  // most machines: nothing to search
    if (blocks_.front().least >= gpus) return candidate;
    if (blocks_.front().most < gpus) return kNever;
  }
  bool fits = true;  // `gpus` are free from the candidate to the entry looked at
  for (Position p = position_of(candidate); p.block < blocks_.size(); ++p.block, p.entry = 0) {
    const Block& block = blocks_[p.block];
    if (!fits && block_from_[p.block] > until) return kNever;
    if (fits && block.least >= gpus) {
      if (end_of_block(p.block) >= candidate + duration) return candidate;
      continue;
    }
    if (block.most < gpus) {
      fits = false;
      continue;
    }
    const Gpus needed = gpus - block.shift;
    const std::size_t entries = block.from.size();
    for (std::size_t e = p.entry; e < entries; ++e) {
      if (block.free[e] < needed) {
        fits = false;
        continue;
      }
      if (!fits) candidate = block.from[e];
      if (candidate > until) return kNever;
      fits = true;
      const Seconds end = e + 1 < entries ? block.from[e + 1] : end_of_block(p.block);
      if (end >= candidate + duration) return candidate;
    }
  }
  return kNever;
}

Gpus CapacityProfile::least_free(Seconds from, Seconds to) const {
  BERTH_EXPECT(from < to);
  if (blocks_.size() == 1 && blocks_.front().least == blocks_.front().most) {
    return blocks_.front().least;
  }
  Position p = position_of(from);
  Gpus least = blocks_[p.block].free[p.entry] + blocks_[p.block].shift;
  for (; p.block < blocks_.size() && block_from_[p.block] < to; ++p.block, p.entry = 0) {
    const Block& block = blocks_[p.block];
    if (p.entry == 0 && end_of_block(p.block) <= to) {
      least = std::min(least, block.least);
      continue;
    }
    for (; p.entry < block.from.size() && block.from[p.entry] < to; ++p.entry) {
      least = std::min(least, block.free[p.entry] + block.shift);
    }
  }
  return least;
}

void CapacityProfile::split_at(Seconds time) {
  const Position p = position_of(time);
  Block& block = blocks_[p.block];
  if (block.from[p.entry] >= time) return;
  const auto at = static_cast<std::ptrdiff_t>(p.entry) + 1;
  const Gpus free = block.free[p.entry];
  block.from.insert(block.from.begin() + at, time);
  block.free.insert(block.free.begin() + at, free);
  if (block.from.size() <= kBlockSteps) return;
  const auto half = static_cast<std::ptrdiff_t>(block.from.size() / 2);
  Block upper{.from = {block.from.begin() + half, block.from.end()},
              .free = {block.free.begin() + half, block.free.end()},
              .shift = block.shift};
  block.from.resize(static_cast<std::size_t>(half));
  block.free.resize(static_cast<std::size_t>(half));
  refresh(block);
  refresh(upper);
  const auto behind = static_cast<std::ptrdiff_t>(p.block) + 1;
  block_from_.insert(block_from_.begin() + behind, upper.from.front());
  blocks_.insert(blocks_.begin() + behind, std::move(upper));
}

void CapacityProfile::reserve(Seconds from, Seconds to, Gpus gpus) {
  from = std::max(from, block_from_.front());
  if (from >= to) return;
  split_at(from);
  if (to < kNever) split_at(to);
  for (Position p = position_of(from); p.block < blocks_.size() && block_from_[p.block] < to;
       ++p.block, p.entry = 0) {
    Block& block = blocks_[p.block];
    if (p.entry == 0 && end_of_block(p.block) <= to) {
      block.shift -= gpus;
      block.least -= gpus;
      block.most -= gpus;
      continue;
    }
    for (; p.entry < block.from.size() && block.from[p.entry] < to; ++p.entry) {
      block.free[p.entry] -= gpus;
    }
    refresh(block);
  }
  if (idle_ == IdleSteps::keep) return;
  merge_at(from);
  if (to < kNever) merge_at(to);
}

/// Forgets a step that changes nothing: else a profile would keep one for every time at which
/// anything was ever tried.
void CapacityProfile::merge_at(Seconds time) {
  const Position p = position_of(time);
  Block& block = blocks_[p.block];
  if (block.from[p.entry] != time || (p.block == 0 && p.entry == 0)) return;
  const Block& before = p.entry > 0 ? block : blocks_[p.block - 1];
  const Gpus free_before =
      (p.entry > 0 ? block.free[p.entry - 1] : before.free.back()) + before.shift;
  if (free_before != block.free[p.entry] + block.shift) return;
  block.from.erase(block.from.begin() + static_cast<std::ptrdiff_t>(p.entry));
  block.free.erase(block.free.begin() + static_cast<std::ptrdiff_t>(p.entry));
  if (!block.from.empty()) {
    block_from_[p.block] = block.from.front();
    refresh(block);
    return;
  }
  const auto at = static_cast<std::ptrdiff_t>(p.block);
  blocks_.erase(blocks_.begin() + at);
  block_from_.erase(block_from_.begin() + at);
}

std::size_t CapacityProfile::steps() const {
  std::size_t count = 0;
  for (const Block& block : blocks_) count += block.from.size();
  return count;
}

}  // namespace berth::horizon
