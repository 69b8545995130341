// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiment.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/papers/loss_prediction.hpp"
#include "berth/papers/quality_bound.hpp"
#include "berth/speed/loss_curve.hpp"

namespace berth::bench {

/// A cluster of cores and jobs that are trained on it, as SLAQ's evaluation describes them.
struct QualitySetting {
  std::size_t jobs = 160;
  std::int32_t cores = 640;
  double mean_gap = 15.0;   ///< seconds between arrivals, exponential
  double epoch = 3.0;       ///< seconds between decisions
  double load = 1.15;       ///< work offered over capacity
  std::int32_t most = 640;  ///< cores of a job
};

/// A job: its loss is the curve's at whole iterations and linear between them.
struct TrainedJob {
  double arrival = 0.0;
  double seconds_per_iteration = 0.0;  ///< with one core; n cores are n times as fast
  double exit = 0.0;                   ///< iterations: twice those to 95 % of the reduction
  speed::LossCurve curve;
  double offset = 0.0, unit = 1.0;  ///< reported loss: offset + unit x curve, with 0.5 % noise

  /// Part of the reduction that is left: 1 at the begin.
  [[nodiscard]] double left(double iterations) const;
  /// Iterations until this part is left.
  [[nodiscard]] double until(double part) const;
};

std::vector<TrainedJob> draw_jobs(const QualitySetting& setting, std::uint64_t seed);

/// What a rule knows of the jobs that are there.
struct KnownJob {
  papers::LossHistory* history = nullptr;
  double iteration = 0.0;
  double seconds_per_iteration = 0.0;
};

/// Cores of each job in the next epoch.
using DivisionRule = std::vector<std::int32_t> (*)(std::span<const KnownJob> jobs,
                                                   const QualitySetting& setting);

struct QualityResult {
  double mean_loss = 0.0;     ///< over time, of the mean over the jobs that are there
  double loss_seconds = 0.0;  ///< integral of a job's loss from arrival to exit, mean over jobs
  double to_90 = 0.0, to_95 = 0.0, to_exit = 0.0;  ///< seconds from arrival, mean over jobs
};

QualityResult train(std::span<const TrainedJob> jobs, const QualitySetting& setting,
                    DivisionRule rule, std::uint64_t seed);

/// All rules and the bound in one setting, appended under its name.
void compare_quality(std::vector<ResultRow>& rows, const std::string& name,
                     const QualitySetting& setting, std::size_t seeds);

/// Jobs as the proof of the bounds sees them: work in core-seconds, reduction by iteration.
std::vector<papers::FluidJob> fluid_jobs(std::span<const TrainedJob> jobs, double part);

}  // namespace berth::bench
