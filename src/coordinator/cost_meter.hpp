// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "berth/comm/communicator.hpp"
#include "berth/coordinator/coordinate.hpp"

namespace berth::coordinator {

/// Measures the cost of one round, from construction on.
class CostMeter {
 public:
  explicit CostMeter(const comm::Communicator& comm)
      : comm_(comm), before_(comm.traffic()), begin_(Clock::now()) {}

  /// Cost so far. Collective: one all-gather, which is not counted.
  [[nodiscard]] RoundCost read() const;

 private:
  using Clock = std::chrono::steady_clock;
  const comm::Communicator& comm_;
  comm::Traffic before_;
  Clock::time_point begin_;
};

}  // namespace berth::coordinator
