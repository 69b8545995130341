// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "berth/model/workload.hpp"
#include "berth/speed/model.hpp"

namespace berth::speed {

/// Durations as the jobs file has them: a job makes `speed` of its GPU type times `speed` of its
/// configuration work in a second, wherever it is placed (docs/formats.md, "Times"). This is what
/// plans with a horizon assume.
class StaticDuration final : public Model {
 public:
  explicit StaticDuration(const model::WorkloadView& workload) : workload_(workload) {}

  [[nodiscard]] bool coupled() const override { return false; }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  model::WorkloadView workload_;
};

}  // namespace berth::speed
