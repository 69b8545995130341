// SPDX-License-Identifier: Apache-2.0
#include "job_classes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "berth/base/random.hpp"

namespace berth::sim {
namespace {

constexpr std::size_t kSlots = 1024;  ///< >= 4 (JobClasses::kMost + 1): short probes
constexpr int kWidest = 60;           ///< then only the pools tell classes apart
constexpr int kMantissaBits = 4;      ///< of the narrowest classes: 16 in an octave

/// Exponent and leading bits of the mantissa: monotone, and halving it doubles the width.
std::uint64_t logarithm_of(double x) {
  return std::bit_cast<std::uint64_t>(x) >> (52 - kMantissaBits);
}

}  // namespace

JobClasses::JobClasses(std::size_t pools, std::size_t expected)
    : pools_(pools), merges_(expected > kMost), key_(pools + 3) {
  added_.gpu_time.resize(pools);
  classes_.reserve(merges_ ? kMost + 1 : expected);
  if (merges_) table_.assign(kSlots, -1);
}

/// The pools, GPUs, weight, then the duration on each pool.
void JobClasses::make_key(const JobRow& job, std::span<const std::int64_t> durations) {
  key_[0] = 0;
  key_[1] = logarithm_of(static_cast<double>(job.milli)) >> level_;
  key_[2] = logarithm_of(job.weight) >> level_;
  for (std::size_t p = 0; p < pools_; ++p) {
    if (durations[p] > 0) key_[0] |= 1ULL << (p % 64);
    key_[3 + p] = logarithm_of(static_cast<double>(durations[p])) >> level_;
  }
}

/// Where the class of this key is, or would be.
std::size_t JobClasses::slot_of(std::span<const std::uint64_t> key) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t part : key) hash = mix64(hash ^ part);
  std::size_t slot = hash % table_.size();
  while (table_[slot] >= 0) {
    const auto* of_class = &keys_[static_cast<std::size_t>(table_[slot]) * key.size()];
    if (std::ranges::equal(key, std::span(of_class, key.size()))) break;
    slot = (slot + 1) % table_.size();
  }
  return slot;
}

void JobClasses::join(Class& to, const Class& from) const {
  to.count += from.count;
  to.sum.milli += from.sum.milli;
  to.sum.weight += from.sum.weight;
  to.least.milli = std::min(to.least.milli, from.least.milli);
  to.least.weight = std::min(to.least.weight, from.least.weight);
  to.most.milli = std::max(to.most.milli, from.most.milli);
  to.most.weight = std::max(to.most.weight, from.most.weight);
  for (std::size_t p = 0; p < pools_; ++p) {
    to.shortest[p] = std::min(to.shortest[p], from.shortest[p]);
    to.gpu_time[p] += from.gpu_time[p];
  }
}

void JobClasses::add(const JobRow& job, std::span<const std::int64_t> durations) {
  added_ = {.count = 1,
            .sum = job,
            .least = job,
            .most = job,
            .shortest = std::move(added_.shortest),
            .gpu_time = std::move(added_.gpu_time)};
  added_.shortest.assign(durations.begin(), durations.end());
  for (std::size_t p = 0; p < pools_; ++p) {
    added_.gpu_time[p] = static_cast<double>(job.milli) * static_cast<double>(durations[p]);
  }
  if (!merges_) {
    classes_.push_back(added_);
    return;
  }
  make_key(job, durations);
  join_or_insert(added_);
  while (classes_.size() > kMost && level_ < kWidest) widen();
}

/// Adds to the class with `key_`.
void JobClasses::join_or_insert(const Class& of_jobs) {
  const std::size_t slot = slot_of(key_);
  if (table_[slot] >= 0) {
    join(classes_[static_cast<std::size_t>(table_[slot])], of_jobs);
    return;
  }
  table_[slot] = static_cast<std::int32_t>(classes_.size());
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  classes_.push_back(of_jobs);
  if (4 * classes_.size() > table_.size()) rehash(2 * table_.size());
}

void JobClasses::rehash(std::size_t slots) {
  table_.assign(slots, -1);
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const std::span key(&keys_[c * key_.size()], key_.size());
    table_[slot_of(key)] = static_cast<std::int32_t>(c);
  }
}

void JobClasses::widen() {
  ++level_;
  const std::vector<Class> before = std::exchange(classes_, {});
  const std::vector<std::uint64_t> keys = std::exchange(keys_, {});
  std::ranges::fill(table_, -1);
  for (std::size_t c = 0; c < before.size(); ++c) {
    std::copy_n(&keys[c * key_.size()], key_.size(), key_.begin());
    for (std::size_t i = 1; i < key_.size(); ++i) key_[i] >>= 1;
    join_or_insert(before[c]);
  }
}

}  // namespace berth::sim
