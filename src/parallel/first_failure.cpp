// SPDX-License-Identifier: Apache-2.0
#include "first_failure.hpp"

#include <utility>

namespace berth::parallel {

void FirstFailure::record(std::size_t index, std::exception_ptr error) noexcept {
  const std::scoped_lock lock(mutex_);
  if (error_ && index > lowest_.load()) return;
  lowest_.store(index);
  error_ = std::move(error);
}

void FirstFailure::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace berth::parallel
