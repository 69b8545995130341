// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>

namespace berth::parallel {

/// Keeps the exception of the lowest index among iterations that run in any order.
class FirstFailure {
 public:
  /// Runs `iteration` unless a lower index has already failed; then its outcome cannot matter.
  template <class Iteration>
  void guard(std::size_t index, Iteration&& iteration) noexcept {
    if (index > lowest_.load(std::memory_order_relaxed)) return;
    try {
      iteration();
    } catch (...) {
      record(index, std::current_exception());
    }
  }

  /// After the loop, on the thread that started it.
  void rethrow() const;

 private:
  void record(std::size_t index, std::exception_ptr error) noexcept;

  std::atomic<std::size_t> lowest_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error_;
  std::mutex mutex_;
};

}  // namespace berth::parallel
