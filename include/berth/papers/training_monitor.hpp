// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "berth/papers/beta_progress.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/policy/state.hpp"

namespace berth::papers {

/// What a job shows when it has done a part f of its work: each value comes up to its last one as
/// f (1 + steepness) / (1 + steepness f). A stand-in for training that a simulation does not do.
struct TrainingCurve {
  double first_loss = 2.3;
  double loss_gain = 0.9;  ///< 1 - last loss / first loss
  double accuracy = 0.9;   ///< at the end
  double steepness = 4.0;
};

/// What a scheduler knows of a job in training beside its profile.
struct TrainingJob {
  double epoch_samples = 1.0;
  std::int64_t base_batch = 1;  ///< samples on one GPU
  double rate_ratio = 16.0;     ///< largest learning rate over that of one GPU
  TrainingCurve curve = {};
};

/// What the job shows after so many epochs and this part of its work.
[[nodiscard]] TrainingFeatures training_features(const TrainingJob& job, double epochs,
                                                 double part);

/// How much work of a job is expected to be left.
enum class RemainingWork : std::uint8_t {
  drawn,     ///< by a draw of its progress from the predicted distribution
  mean,      ///< by the mean of the distribution
  residual,  ///< mean epochs that finished jobs had left after as many, without a fit
  estimate,  ///< by the estimate that other policies have (State::remaining)
};

struct MonitorOptions {
  RemainingWork remaining = RemainingWork::drawn;
  BetaProgressOptions predictor = {};
  std::vector<ProgressPoint> history = {};  ///< of jobs before the first one
  std::size_t most_points = 2'000;          ///< the latest ones, of a fit
  double least_epochs = 2.0;                ///< before a job is predicted
  std::size_t measurements = 5;  ///< the latest ones at a number of GPUs, of which the mean counts
};

/// Watches jobs in training as ONES does: samples, epochs, throughput by GPUs, and what finished
/// jobs teach about progress. Samples are those that were read: useful work over the statistical
/// efficiency of the batch.
class TrainingMonitor {
 public:
  /// @param jobs  by JobId
  TrainingMonitor(const PaperWorld& world, std::vector<TrainingJob> jobs,
                  const MonitorOptions& options);

  /// Takes down what a running job has done and how fast it is. O(log sizes)
  void observe(const policy::State& state, JobId job);
  /// The job has ended: fits the predictor again.
  void finish(const policy::State& state, JobId job);

  [[nodiscard]] const TrainingJob& job(JobId id) const { return jobs_[id.index()]; }
  [[nodiscard]] double epochs(JobId id) const {
    return logs_[id.index()].samples / job(id).epoch_samples;
  }
  /// Enough epochs are done, at a known throughput.
  [[nodiscard]] bool predicted(JobId id) const;
  /// Samples left, > 0. @param generation  of the draw
  [[nodiscard]] double remaining(const policy::State& state, JobId id,
                                 std::uint64_t generation) const;
  /// Means by GPUs, ascending.
  struct Measured {
    std::int32_t gpus = 0;
    double throughput = 0.0;  ///< samples/s
  };
  [[nodiscard]] std::vector<Measured> measured(JobId id) const;
  /// Samples/s, linear between what was measured (0 GPUs: 0) and beyond; 0: nothing was.
  [[nodiscard]] double throughput(JobId id, std::int32_t gpus) const;
  [[nodiscard]] const BetaProgress& predictor() const { return predictor_; }

 private:
  struct Log {
    double samples = 0.0;
    policy::Micros done = 0;                              ///< of `samples`
    std::map<std::int32_t, std::deque<double>> measured;  ///< samples/s by GPUs
    std::vector<ProgressPoint> epochs;                    ///< `progress` is not known yet
  };
  [[nodiscard]] double samples_per_work(const policy::State& state, JobId id) const;
  [[nodiscard]] TrainingFeatures features(const policy::State& state, JobId id) const;
  [[nodiscard]] double residual_epochs(double epochs) const;
  void refit();
  void add_work(const policy::State& state, JobId id);

  const speed::Profiles* profiles_;
  std::vector<TrainingJob> jobs_;
  MonitorOptions options_;
  std::uint64_t seed_;
  std::vector<Log> logs_;
  std::deque<ProgressPoint> points_;
  std::vector<double> totals_;  ///< epochs of finished jobs
  BetaProgress predictor_;
  std::uint64_t fits_ = 0;
};

}  // namespace berth::papers
