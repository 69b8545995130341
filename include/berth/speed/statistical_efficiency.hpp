// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/speed/model.hpp"

/// Progress of training by batch size: Pollux (Qiao et al., OSDI 2021) and ONES (Bian et al., SC
/// 2021).
namespace berth::speed {

/// Useful part of the samples of a batch, relative to the smallest batch: (phi + m0) / (phi + m),
/// with the gradient noise scale phi in samples (Pollux, equation 6).
[[nodiscard]] inline double statistical_efficiency(double noise_scale, double smallest_batch,
                                                   double batch) {
  return (noise_scale + smallest_batch) / (noise_scale + batch);
}

/// Gradient noise scale in samples from variance and squared norm of the gradient at the smallest
/// batch: m0 var / sqr.
[[nodiscard]] inline double noise_scale(double smallest_batch, double variance,
                                        double squared_norm) {
  return smallest_batch * variance / squared_norm;
}

/// Seconds of an iteration of data-parallel training (Pollux, equations 8 to 11).
struct IterationTime {
  double compute_fixed = 0.0;       ///< alpha_grad
  double compute_per_sample = 0.0;  ///< beta_grad: of the samples of one GPU
  double sync_local_fixed = 0.0;    ///< alpha of two GPUs on one machine
  double sync_local_per_gpu = 0.0;  ///< beta of each further one
  double sync_fixed = 0.0;          ///< the same on several machines
  double sync_per_gpu = 0.0;
  double overlap = 1.0;  ///< gamma, 1 (none) .. 10: (T_grad^gamma + T_sync^gamma)^(1/gamma)

  [[nodiscard]] double seconds(double batch, std::int32_t gpus, std::int32_t machines) const;
};

/// Noise scale from some work on.
struct NoisePoint {
  double work = 0.0;         ///< unit of Rate, ascending from 0
  double noise_scale = 0.0;  ///< samples
};

struct ElasticBatchJob {
  IterationTime time;
  double smallest_batch = 1.0;    ///< m0: samples
  double batch = 1.0;             ///< samples when a running job gives none
  std::vector<NoisePoint> noise;  ///< not empty
  double reference = 0.0;  ///< useful samples/s at which it takes its `duration`; 0: not such a job
};

/// Rates by goodput = throughput x statistical efficiency; Rate::until_work is the next noise
/// point.
class ElasticBatchModel final : public Model {
 public:
  /// `jobs` by JobId; all are referred to. A job without reference has the rate of `others`.
  /// @throws std::invalid_argument: an amount that is negative, not finite, or 0 where it divides
  ElasticBatchModel(std::span<const ElasticBatchJob> jobs, const Model& others);

  [[nodiscard]] bool coupled() const override { return others_->coupled(); }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    others_->shared(job, keys);
  }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  std::span<const ElasticBatchJob> jobs_;
  const Model* others_;
};

/// Batch of one GPU and learning rate of ONES: both grow with the number of GPUs up to the largest
/// learning rate, then the batch of all GPUs stays floor(base_batch max_rate / base_rate).
struct OnesBatch {
  std::int64_t per_gpu = 0;
  double learning_rate = 0.0;
};
[[nodiscard]] OnesBatch ones_batch(std::int64_t gpus, std::int64_t base_batch, double base_rate,
                                   double max_rate);

}  // namespace berth::speed
