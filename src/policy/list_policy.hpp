// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "berth/policy/policy.hpp"

namespace berth::policy {

/// The waiting jobs in order: key, arrival, id. A job's key does not change while it waits.
class WaitingList {
 public:
  struct WaitingEntry {
    double key;
    Micros arrival;
    JobId job;
    auto operator<=>(const WaitingEntry&) const = default;
  };

  /// O(log n) and a move of what follows; O(1) for the last in order.
  void insert(const WaitingEntry& entry);
  [[nodiscard]] std::span<const WaitingEntry> entries() const {
    return std::span(entries_).subspan(first_);
  }
  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }
  void pop_front() { ++first_; }
  /// Removes jobs that do not wait any more.
  void drop_started(const State& state);

  template <class Archive>
  friend void describe(Archive& archive, WaitingList& list) {
    archive(list.entries_, list.first_);
  }

 private:
  std::vector<WaitingEntry> entries_;
  std::size_t first_ = 0;  ///< entries before it are gone
};

/// What a list does about jobs behind one that does not fit.
enum class PassRule : std::uint8_t {
  wait,      ///< no job passes another
  pass,      ///< every job that fits starts
  backfill,  ///< jobs start that do not delay the first (EASY: Lifka 1995)
};

/// Starts waiting jobs in the order of a key and stops none.
class ListPolicy : public Policy {
 public:
  /// Key of a waiting job; the least is served first.
  using Key = double (*)(const State&, JobId);

  ListPolicy(Key key, PassRule behind) : key_(key), behind_(behind) {}
  void decide(State& state) override;
  [[nodiscard]] JobId next() const override {
    return waiting_.empty() ? JobId() : waiting_.entries().front().job;
  }
  [[nodiscard]] bool starts_all_that_fit() const override { return behind_ == PassRule::pass; }
  bool save(ByteWriter& writer) const override {
    writer(waiting_);
    return true;
  }
  void restore(ByteReader& reader) override { reader(waiting_); }

 private:
  void backfill(State& state) const;

  Key key_;
  PassRule behind_;
  WaitingList waiting_;
};

}  // namespace berth::policy
