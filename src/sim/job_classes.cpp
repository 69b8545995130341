// SPDX-License-Identifier: Apache-2.0
#include "job_classes.hpp"

#include <algorithm>
#include <bit>

namespace berth::sim {
namespace {

constexpr std::size_t kSlots = 1024;  ///< >= 4 (JobClasses::kMost + 1): short probes
constexpr int kWidest = 60;           ///< then only the pools tell classes apart
constexpr int kMantissaBits = 4;      ///< of the narrowest classes: 16 in an octave
/// 2^64 divided by the golden ratio: products spread over their upper bits (Knuth 1973, 6.4).
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

/// Exponent and leading bits of the mantissa: monotone, and halving it doubles the width.
std::uint64_t logarithm_of(double x) {
  return std::bit_cast<std::uint64_t>(x) >> (52 - kMantissaBits);
}

}  // namespace

JobClasses::JobClasses(std::size_t pools, std::size_t expected)
    : pools_(pools), merges_(expected > kMost), key_(pools + 3) {
  const std::size_t most = merges_ ? kMost + 1 : expected;
  classes_.reserve(most);
  uses_.reserve(most * pools);
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
  for (const std::uint64_t part : key) hash = (hash + part) * kSpread;
  const std::size_t mask = table_.size() - 1;  // a power of two
  std::size_t slot = (hash >> 32U) & mask;
  while (table_[slot] >= 0) {
    const auto* of_class = &keys_[static_cast<std::size_t>(table_[slot]) * key.size()];
    if (std::ranges::equal(key, std::span(of_class, key.size()))) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

/// A class of one job, the last one.
void JobClasses::append(const JobRow& job, std::span<const std::int64_t> durations) {
  classes_.push_back({.count = 1, .sum = job, .least = job, .most = job});
  for (std::size_t p = 0; p < pools_; ++p) {
    uses_.push_back(
        {durations[p], static_cast<double>(job.milli) * static_cast<double>(durations[p])});
  }
}

void JobClasses::join(std::size_t to, std::size_t from) {
  Class& all = classes_[to];
  const Class& more = classes_[from];
  all.count += more.count;
  all.sum.milli += more.sum.milli;
  all.sum.weight += more.sum.weight;
  all.least.milli = std::min(all.least.milli, more.least.milli);
  all.least.weight = std::min(all.least.weight, more.least.weight);
  all.most.milli = std::max(all.most.milli, more.most.milli);
  all.most.weight = std::max(all.most.weight, more.most.weight);
  for (std::size_t p = 0; p < pools_; ++p) {
    PoolUse& use = uses_[to * pools_ + p];
    const PoolUse& other = uses_[from * pools_ + p];
    use.shortest = std::min(use.shortest, other.shortest);
    use.gpu_time += other.gpu_time;
  }
}

void JobClasses::add(const JobRow& job, std::span<const std::int64_t> durations) {
  if (!merges_) return append(job, durations);
  make_key(job, durations);
  const std::size_t slot = slot_of(key_);
  if (table_[slot] >= 0) return join(static_cast<std::size_t>(table_[slot]), job, durations);
  append(job, durations);
  insert_last(slot);
  while (classes_.size() > kMost && level_ < kWidest) widen();
}

void JobClasses::join(std::size_t to, const JobRow& job, std::span<const std::int64_t> durations) {
  Class& all = classes_[to];
  ++all.count;
  all.sum.milli += job.milli;
  all.sum.weight += job.weight;
  all.least.milli = std::min(all.least.milli, job.milli);
  all.least.weight = std::min(all.least.weight, job.weight);
  all.most.milli = std::max(all.most.milli, job.milli);
  all.most.weight = std::max(all.most.weight, job.weight);
  for (std::size_t p = 0; p < pools_; ++p) {
    PoolUse& use = uses_[to * pools_ + p];
    use.shortest = std::min(use.shortest, durations[p]);
    use.gpu_time += static_cast<double>(job.milli) * static_cast<double>(durations[p]);
  }
}

/// The last class has `key_`, which no other has.
void JobClasses::insert_last(std::size_t slot) {
  table_[slot] = static_cast<std::int32_t>(classes_.size() - 1);
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  if (4 * classes_.size() > table_.size()) rehash(2 * table_.size());
}

void JobClasses::rehash(std::size_t slots) {
  table_.assign(slots, -1);
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const std::span key(&keys_[c * key_.size()], key_.size());
    table_[slot_of(key)] = static_cast<std::int32_t>(c);
  }
}

/// Classes move up to the place of the first one like them.
void JobClasses::widen() {
  ++level_;
  std::ranges::fill(table_, -1);
  std::size_t kept = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    std::uint64_t* key = &keys_[c * key_.size()];
    for (std::size_t i = 1; i < key_.size(); ++i) key[i] >>= 1;
    const std::size_t slot = slot_of({key, key_.size()});
    if (table_[slot] >= 0) {
      join(static_cast<std::size_t>(table_[slot]), c);
      continue;
    }
    table_[slot] = static_cast<std::int32_t>(kept);
    if (kept < c) {
      std::copy_n(key, key_.size(), &keys_[kept * key_.size()]);
      std::copy_n(&uses_[c * pools_], pools_, &uses_[kept * pools_]);
      classes_[kept] = classes_[c];
    }
    ++kept;
  }
  classes_.resize(kept);
  uses_.resize(kept * pools_);
  keys_.resize(kept * key_.size());
}

}  // namespace berth::sim
