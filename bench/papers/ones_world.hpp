// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/papers/training_monitor.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::bench {

/// A trace like that of the ONES artifact: ten pairs of model and data in equal shares, 16, 4, 2
/// and 8 GPUs requested by 40, 30, 20 and 10 % of the jobs, normal gaps. Speeds, epochs and noise
/// scales are ours.
struct OnesSetting {
  std::string name;
  std::size_t jobs = 50;
  int machines = 16;         ///< of four GPUs
  double gap = 31.8;         ///< mean seconds between arrivals
  double spread = 0.5;       ///< standard deviation of a gap over its mean
  double faster = 1.0;       ///< compute of all pairs
  bool grown = true;         ///< the batch submitted grows with the GPUs requested, as in ONES
  double noise_batches = 0;  ///< noise scale in base batches; 0: no batch is too large
  double restart = 20.0;     ///< seconds: a stopped job starts again, or fixed sizes move
  double resize = 1.0;       ///< seconds: an elastic job changes GPUs or batch in place
};

/// Instance, profiles and what jobs show; a function of setting and seed. Not moved: worlds refer
/// to it.
struct OnesWorld {
  OnesWorld(const OnesSetting& setting, std::uint64_t seed);
  OnesWorld(const OnesWorld&) = delete;
  OnesWorld& operator=(const OnesWorld&) = delete;

  /// Completion times less arrivals in seconds, by job. @param change  seconds of a resize or move
  [[nodiscard]] std::vector<double> run(policy::Policy& policy, double restart, double change);
  /// No schedule has a smaller mean: a job takes at least its time on its best number of GPUs; and
  /// its least GPU-time, shortest first, is what all GPUs as one machine would do.
  [[nodiscard]] double least_mean() const;
  /// Most work (seconds at the reference rate) a second of a job on 1, 2, .. GPUs, any batch.
  [[nodiscard]] std::vector<double> most_rates(std::size_t job) const;

  model::Instance instance;
  speed::Profiles profiles;
  std::vector<papers::TrainingJob> training;
  std::vector<papers::ProgressPoint> history;  ///< of twenty jobs before

 private:
  struct Drawn {
    speed::ElasticBatchJob profile;
    papers::TrainingJob training;
    double samples = 0.0;  ///< useful ones
  };
  static Drawn draw(const OnesSetting& setting, std::uint64_t seed, std::uint64_t job);
  void add_job(const OnesSetting& setting, std::uint64_t seed, std::uint64_t job, double arrival);
  void add_history(const OnesSetting& setting, std::uint64_t seed);
};

}  // namespace berth::bench
