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
  training,  ///< what ONES knows: measured throughput, and progress as the monitor predicts it
};

struct BerthElasticOptions {
  ElasticKnowledge knowledge = ElasticKnowledge::profiles;
  /// Between two decisions without arrivals or completions; 0: none. Profiles do not change between
  /// them, but what training shows does.
  policy::Micros refresh = 30 * policy::kSecond;
  MonitorOptions monitor = {.remaining = RemainingWork::mean};
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

/// GPUs of jobs after a change of their numbers: a job whose number stays keeps its GPUs, one that
/// shrinks frees the machines where it has fewest, one that grows takes the machines where it is,
/// then the fullest one that holds the rest, then the emptiest. Largest jobs first.
/// @param owner  job index by GPU, kFreeGpu: none; @param counts  by job index, sum <= GPUs
[[nodiscard]] std::vector<std::int32_t> place_workers(std::span<const Gpu> line,
                                                      std::vector<std::int32_t> owner,
                                                      std::span<const std::int32_t> counts);

/// Berth on elastic jobs for mean completion time: at arrivals, completions and `refresh` GPUs by
/// `choose_gpus`, each job's best batch, few moves. O(jobs^2 GPUs) a decision
/// @param training  by JobId  @throws InputError as elastic_jobs
std::unique_ptr<policy::Policy> make_berth_elastic(const PaperWorld& world,
                                                   std::vector<TrainingJob> training,
                                                   const BerthElasticOptions& options);

}  // namespace berth::papers
