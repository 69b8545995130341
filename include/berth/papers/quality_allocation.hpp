// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "berth/papers/loss_prediction.hpp"

/// Division of cores by the loss that they remove (SLAQ; Zhang, Stafman, Or and Freedman, SoCC
/// 2017):
///   max sum_j (Loss_j(a_j, t) - Loss_j(a_j, t + T))  subject to  sum_j a_j <= C, a_j whole
/// once an epoch of T seconds, Loss_j predicted and normalised.
namespace berth::papers {

/// How the losses of jobs are made comparable.
enum class LossScale {
  largest_change,   ///< the largest change of one iteration so far is 1: the paper's
  predicted_range,  ///< from the first loss to the predicted limit is 1
};

/// One job as the division sees it.
struct QualityJob {
  std::optional<LossFit> fit;      ///< none: too little history
  double iteration = 0.0;          ///< done so far
  double iterations_per_core = 0;  ///< in an epoch with one core; n cores do n times as many
  double scale = 1.0;              ///< the loss is multiplied by it
  std::int32_t most = std::numeric_limits<std::int32_t>::max();  ///< cores, >= 1
};

/// Points that a fit needs; fewer: the job is new. Not stated for the paper.
inline constexpr std::size_t kLeastPoints = 4;

/// A job as SLAQ sees it: the largest change of one iteration so far is 1; no fit of a new job.
/// @pre history.size() > 0
[[nodiscard]] QualityJob paper_quality_job(LossHistory& history, double iteration,
                                           double iterations_per_core);

/// The same job and history as Berth sees it: what it removes counts as a part of all that it will
/// remove, from the first loss to the predicted limit, so that the sum over jobs is that of their
/// normalised losses; and a new job, of which nothing is known, is expected to fall as 1 / (1 + k /
/// kNewJob), so that it competes for cores at once. @pre history.size() > 0
[[nodiscard]] QualityJob berth_quality_job(LossHistory& history, double iteration,
                                           double iterations_per_core);

/// Iterations after which half the loss of a new job is expected to be gone: chosen, not tuned; a
/// third of it changes results by less than their intervals (docs/papers.md).
inline constexpr double kNewJob = 10.0;

/// Predicted, normalised loss that one core more removes in the epoch: with cores + 1 rather than
/// `cores`. Falls with `cores`, as the curve is convex. @pre job.fit
[[nodiscard]] double quality_gain(const QualityJob& job, std::int32_t cores);

/// Cores of each job. Every job has one core first; a job without fit, up to an equal share; then
/// the job with the largest gain takes the next core, ties by fewer cores, then position. With more
/// jobs than cores: single cores, jobs without fit first, then by gain (our addition). Cores are
/// left only when all jobs have their most. Exact for its objective, as gains fall (a greedy over
/// separable concave gains).
/// @pre cores >= 0  O(jobs + cores log jobs)
[[nodiscard]] std::vector<std::int32_t> divide_by_quality(std::span<const QualityJob> jobs,
                                                          std::int64_t cores);

/// One size that a job may have.
struct SizeOption {
  double gpus = 0.0;   ///< > 0
  double value = 0.0;  ///< normalised loss that it removes in the epoch
};

/// The same where jobs have few sizes: the option of each job, -1: none. First each job has its
/// first option, in the order of value per GPU, as long as GPUs are left; then the job with the
/// largest gain per GPU takes its next option on the upper concave envelope of value by GPUs,
/// whatever fits. @pre options of a job ascend in GPUs  O(options log options)
[[nodiscard]] std::vector<std::int32_t> divide_options(
    std::span<const std::vector<SizeOption>> jobs, double gpus);

/// The same cores for each job, as far as its most allows: the work-conserving fair baseline.
/// A core that remains goes to the first positions.
[[nodiscard]] std::vector<std::int32_t> divide_equally(std::span<const std::int32_t> most,
                                                       std::int64_t cores);

}  // namespace berth::papers
