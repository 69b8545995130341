// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <utility>

namespace berth {

/// May end long work early: by a deadline, a signal, or (for tests) a number of questions. Records
/// whether it ever did: only then has a clock influenced the result.
class StopSource {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  /// @param signalled  what a signal sets to non-zero, or null; must outlive the source
  explicit StopSource(Clock::time_point deadline = kNever,
                      const volatile std::sig_atomic_t* signalled = nullptr)
      : deadline_(deadline), signalled_(signalled) {}

  /// The time this many seconds from now; kNever when that is infinite or beyond the clock's range.
  static Clock::time_point in_seconds(double seconds);

  /// For tests: called by any thread at every question, with the question's number from 0 on; true
  /// stops. May sleep or throw, because the searches that ask may throw.
  using Watch = std::function<bool(std::int64_t question)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

  /// Stops from question number `questions` on.
  void stop_after_questions(std::int64_t questions) {
    watch([questions](std::int64_t question) { return question >= questions; });
  }

  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  /// True as soon as a reason to stop has existed for `patience`; stays true. Any thread; about 30
  /// ns with a deadline.
  bool requested(Clock::time_point deadline, Clock::duration patience) const;

  /// True when some question was answered with yes, so that some work was cut short.
  [[nodiscard]] bool has_cut() const { return cut_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool waited_long(Clock::duration patience) const;

  Clock::time_point deadline_;
  const volatile std::sig_atomic_t* signalled_;
  Watch watch_;
  /// number of questions asked; counted only with a watch
  mutable std::atomic<std::int64_t> questions_{0};
  mutable std::atomic<bool> cut_{false};
  mutable std::atomic<Clock::rep> since_{0};  ///< when a reason was first seen
};

/// Handle that long work asks at steps of at most some milliseconds. Copying costs nothing; a
/// default-constructed token never stops. The source must outlive it.
class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const StopSource& source) : source_(&source), deadline_(source.deadline()) {}

  [[nodiscard]] bool requested() const {
    return source_ != nullptr && source_->requested(deadline_, patience_);
  }

  /// A token for one of `pieces` equal pieces of the remaining work: its deadline is now plus that
  /// fraction of the remaining time.
  [[nodiscard]] StopToken share_of(std::int64_t pieces) const;
  [[nodiscard]] bool has_cut() const { return source_ != nullptr && source_->has_cut(); }
  /// A token with the source's own deadline.
  [[nodiscard]] StopToken whole() const {
    return source_ == nullptr ? StopToken() : StopToken(*source_);
  }
  /// A token that stops one second later: for the quick steps that turn interrupted work into a
  /// result.
  [[nodiscard]] StopToken patient() const {
    StopToken token = *this;
    token.patience_ = std::chrono::seconds(1);
    return token;
  }

 private:
  const StopSource* source_ = nullptr;
  StopSource::Clock::time_point deadline_ = StopSource::kNever;
  StopSource::Clock::duration patience_{0};
};

}  // namespace berth
