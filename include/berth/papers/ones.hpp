// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "berth/papers/elastic_jobs.hpp"
#include "berth/papers/ones_schedule.hpp"
#include "berth/papers/training_monitor.hpp"
#include "berth/policy/policy.hpp"

namespace berth::papers {

struct OnesOptions {
  OnesEvolution evolution = {};
  policy::Micros generation = policy::kSecond;  ///< least time between two generations
  double sigma = 1.0;                           ///< how fast old jobs shrink
  std::int32_t growth = 4;                      ///< of the GPUs requested: first sharing out
  double epochs_at_limit = 2.0;                 ///< before the limit doubles, or shrinks
  double epochs_in_place = 1.0;                 ///< before a job may be moved
  MonitorOptions monitor = {};
};

/// GPU limits R of jobs.
class OnesLimits {
 public:
  /// @param gpus  of the cluster
  OnesLimits(std::vector<ElasticJob> jobs, std::int32_t gpus, double sigma);

  [[nodiscard]] std::int32_t limit(JobId job) const { return limits_[job.index()]; }
  /// A job has trained long enough on this many GPUs: at its limit, the limit doubles.
  void grow(JobId job, std::int32_t held);
  /// Limit of the largest job, which holds half of the GPUs or more: with the seconds that it has
  /// run over the median, t > 1, 2 ceil(x / 2), x = max(1, floor(2 held / (sigma t + 1))).
  void shrink(JobId job, std::int32_t held, double run_over_median);
  /// A stopped job was passed over.
  void halve(JobId job);

 private:
  std::vector<ElasticJob> jobs_;
  std::int32_t gpus_;
  double sigma_;
  std::vector<std::int32_t> limits_;
};

/// Evolution of batch sizes and placements (ONES: Bian, Li, Wang and You, SC 2021), as the authors'
/// artifact, without its defects: ln of the samples of an epoch in fits and in use, a likelihood of
/// each point with itself, and epochs since the last scaling, not since the start.
///
/// A generation a second: limits, then `evolve`, then the best schedule is adopted if every job
/// that it moves has trained an epoch in place; if not, only jobs start whose GPUs there are free.
/// Jobs below two epochs have no score, and get one GPU each, by arrival. No score: no guarantee,
/// and a GPU may stay idle for a generation. O(population x GPUs x jobs^2) a generation.
///
/// @param training  by JobId
/// @throws InputError as elastic_jobs, and which option or value of `training` is out of which
/// range
std::unique_ptr<policy::Policy> make_ones(const PaperWorld& world,
                                          std::vector<TrainingJob> training,
                                          const OnesOptions& options);

/// What `berth simulate` lets jobs show: an epoch of `epoch_seconds` of the profile's reference
/// rate, the smallest batch on one GPU, and one curve for all (parameters of ours).
std::vector<TrainingJob> default_training(const PaperWorld& world, double epoch_seconds = 30.0);

}  // namespace berth::papers
