// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/papers/elastic_jobs.hpp"
#include "berth/papers/training_monitor.hpp"
#include "berth/policy/policy.hpp"

namespace berth::papers {

/// What Berth's elastic policy knows of jobs.
enum class ElasticKnowledge : std::uint8_t {
  profiles,  ///< rates of the profiles and the estimates that all policies have
  training,  ///< what ONES knows: measured throughput, and work left as the monitor expects it
};

/// How GPUs are given out.
enum class ElasticRule : std::uint8_t {
  rollout,  ///< `choose_gpus`: Berth
  gain,     ///< `allocate_by_gain`: Optimus
};

struct ElasticOptions {
  ElasticRule rule = ElasticRule::rollout;
  ElasticKnowledge knowledge = ElasticKnowledge::profiles;
  bool fixed_batch = false;     ///< that of the profile on any number of GPUs
  policy::Micros interval = 0;  ///< decisions at multiples of it only; 0: at events
  /// Between two decisions without arrivals or completions, in which training shows more; 0: none.
  policy::Micros refresh = 2 * policy::kSecond;
  MonitorOptions monitor = {.remaining = RemainingWork::residual};
};

/// The batch of most goodput among multiples of the base batch that ONES may use on so many GPUs.
struct BestBatch {
  std::int64_t samples = 0;  ///< of all workers
  double goodput = 0.0;      ///< useful samples/s
};
/// @param work  seconds done, for the noise scale
[[nodiscard]] BestBatch best_batch(const speed::ElasticBatchJob& profile,
                                   const TrainingJob& training, double work, std::int32_t gpus,
                                   std::int32_t machines);

/// Throughput by GPUs, 0 .. largest, from what was measured, with the batches of ONES: seconds of
/// an iteration are compute (the samples of a GPU, as in the first measurement) and an all-reduce.
/// That of one machine and that of several are what the measurement with most such GPUs leaves, the
/// second as the first until it is known. With one measurement only the list ends at one machine.
/// @pre `measured` is not empty, ascending GPUs
[[nodiscard]] std::vector<double> modelled_throughput(
    std::span<const TrainingMonitor::Measured> measured, const TrainingJob& training,
    std::int32_t largest, std::int32_t per_machine);

/// GPUs of jobs after a change of their numbers: a job whose number stays keeps its GPUs, one that
/// shrinks frees the machines where it has fewest, one that grows takes the machines where it is,
/// then the fullest one that holds the rest, then the emptiest. Largest jobs first.
/// @param owner  job index by GPU, kFreeGpu: none; @param counts  by job index, sum <= GPUs
[[nodiscard]] std::vector<std::int32_t> place_workers(std::span<const Gpu> line,
                                                      std::vector<std::int32_t> owner,
                                                      std::span<const std::int32_t> counts);

/// Berth, or with other options Optimus, on elastic jobs for mean completion time: at arrivals,
/// completions and `refresh` GPUs by `choose_gpus`, each job's best batch, few moves. O(jobs^2
/// GPUs) a decision
/// @param training  by JobId  @throws InputError as elastic_jobs
std::unique_ptr<policy::Policy> make_berth_elastic(const PaperWorld& world,
                                                   std::vector<TrainingJob> training,
                                                   const ElasticOptions& options);

/// Optimus (Peng et al., EuroSys 2018) on jobs without parameter servers: every `interval` GPUs by
/// marginal gain, with the true speed function and the batch of the profile.
std::unique_ptr<policy::Policy> make_optimus_elastic(const PaperWorld& world,
                                                     policy::Micros interval);

}  // namespace berth::papers
