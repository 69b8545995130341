// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <utility>

namespace berth {

/// What may end long work early: a deadline, a signal, or (for tests) a number of questions. It
/// remembers whether it ever did: only then has a clock decided anything.
class StopSource {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  /// @param signalled  what a signal sets to non-zero, or null; must outlive the source
  explicit StopSource(Clock::time_point deadline = kNever,
                      const volatile std::sig_atomic_t* signalled = nullptr)
      : deadline_(deadline), signalled_(signalled) {}

  /// A deadline so many seconds from now; none when they are infinite or too many for the clock.
  static Clock::time_point in_seconds(double seconds);

  /// For tests: called at every question with its number from 0 on, by any thread; true stops. It
  /// may sleep or throw as well, as the searches that ask may.
  using Watch = std::function<bool(std::int64_t question)>;
  void watch(Watch watch) { watch_ = std::move(watch); }

  /// Stops once it was asked so often.
  void stop_after_questions(std::int64_t questions) {
    watch([questions](std::int64_t question) { return question >= questions; });
  }

  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  /// True from now on, for ever, once there is a reason and has been one for `patience`. Any
  /// thread; some 30 ns with a deadline.
  bool requested(Clock::time_point deadline, Clock::duration patience) const;

  /// Some question was answered with yes, so something was cut short.
  [[nodiscard]] bool has_cut() const { return cut_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool waited_long(Clock::duration patience) const;

  Clock::time_point deadline_;
  const volatile std::sig_atomic_t* signalled_;
  Watch watch_;
  mutable std::atomic<std::int64_t> questions_{0};  ///< asked, when they are watched
  mutable std::atomic<bool> cut_{false};
  mutable std::atomic<Clock::rep> since_{0};  ///< when a reason was first seen
};

/// What long work asks between two steps of some milliseconds at most. A copy costs nothing; the
/// default one never stops. The source must outlive it.
class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const StopSource& source) : source_(&source), deadline_(source.deadline()) {}

  [[nodiscard]] bool requested() const {
    return source_ != nullptr && source_->requested(deadline_, patience_);
  }

  /// For one of `pieces` equal pieces of the work ahead: its deadline is its share of what is left.
  [[nodiscard]] StopToken share_of(std::int64_t pieces) const;
  [[nodiscard]] bool has_cut() const { return source_ != nullptr && source_->has_cut(); }
  /// With the source's own deadline again.
  [[nodiscard]] StopToken whole() const {
    return source_ == nullptr ? StopToken() : StopToken(*source_);
  }
  /// A second longer: for the quick steps that make something of what was cut short.
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
