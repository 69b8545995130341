// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/speed/model.hpp"

namespace berth::speed {

/// Jobs that share a machine slow each other down: the rate of `others` times 1 - loss while
/// another job with GPUs is on a machine of the job (one factor for all jobs, as in the simulator
/// of Pollux: Qiao et al., OSDI 2021).
class Interference final : public Model {
 public:
  /// @throws std::invalid_argument unless 0 <= loss < 1
  Interference(double loss, const Model& others);

  [[nodiscard]] bool coupled() const override { return true; }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override;
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  double loss_;
  const Model* others_;
};

}  // namespace berth::speed
