// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Evolution of GPU schedules (ONES: Bian, Li, Wang and You, SC 2021; operators as in the authors'
/// artifact). All functions are deterministic: draws are functions of the key.
namespace berth::papers {

inline constexpr std::int32_t kFreeGpu = -1;

/// Index of the job on each GPU, in the order of machines; kFreeGpu: none.
using OnesSchedule = std::vector<std::int32_t>;

/// What a generation knows of a job.
struct OnesView {
  std::int32_t limit = 0;    ///< R: most GPUs; 0: the job has ended
  std::int32_t offered = 0;  ///< most GPUs at the first sharing out, <= limit
  /// Two epochs done: it has a score and may be dropped. Others get their first GPU before all.
  bool predicted = false;
  double remaining = 0.0;               ///< samples, as predicted
  std::vector<double> throughput = {};  ///< samples/s by GPUs, 0 .. limit
};

/// Jobs of the moment: `views` by job index; `active` in order of arrival.
struct OnesJobs {
  std::span<const OnesView> views;
  std::span<const std::int32_t> active;
};

/// Key of the draws of one operation.
struct OnesKey {
  std::uint64_t seed = 1;
  std::uint64_t generation = 0;
  std::uint64_t member = 0;  ///< of the population
};

/// GPUs of each job, by job index.
[[nodiscard]] std::vector<std::int32_t> gpus_by_job(const OnesSchedule& schedule, std::size_t jobs);

/// Removes jobs that have ended, and the last GPUs of jobs above their limit. O(GPUs + jobs)
void refresh(OnesSchedule& schedule, const OnesJobs& jobs);

/// Swaps each position of two schedules with this probability; a GPU that would exceed the limit of
/// its job stays free. O(GPUs + jobs)
void cross(OnesSchedule& a, OnesSchedule& b, const OnesJobs& jobs, double probability,
           const OnesKey& key);

/// Drops each predicted job, with all its GPUs, with this probability. O(GPUs + jobs)
void mutate(OnesSchedule& schedule, const OnesJobs& jobs, double probability, const OnesKey& key);

/// Gives out free GPUs: one to each job without score that has none, by arrival; then to jobs in
/// order of their time left on one GPU up to `offered`; then again up to `limit`.
/// O(GPUs + jobs log jobs)
void pad(OnesSchedule& schedule, const OnesJobs& jobs);

/// GPUs of `current` whose job another one replaces in `next`.
[[nodiscard]] std::int32_t replaced_gpus(const OnesSchedule& current, const OnesSchedule& next);

/// The same GPUs a job, each job on neighbouring GPUs, in an order that replaces few jobs:
///
///   f(i, k) = min(f(i - 1, k), min over j of f(i - c_j, k - 1) + replaced in (i - c_j, i]),
///
/// j among the jobs that the best path to (i - c_j, k - 1) lacks, so that the result need not be
/// the best. Paths that leave more GPUs free than the whole schedule are cut off: they would have
/// no room for the rest. When no path holds all jobs they keep their order. O(GPUs jobs^2)
[[nodiscard]] OnesSchedule reorder(const OnesSchedule& schedule, const OnesSchedule& current);

/// GPU-seconds left: sum over predicted jobs c of GPUs x remaining / throughput(GPUs).
[[nodiscard]] double score(const OnesSchedule& schedule, const OnesJobs& jobs);

struct OnesEvolution {
  std::size_t population = 16;
  double crossover = 0.5;
  double mutation = 0.3;
};

/// @throws InputError: which option is out of which range
void check(const OnesEvolution& options);

/// One generation: refreshed schedules, as many children and mutants, all padded; the best by score
/// stay, best first, reordered towards `current`. Ties: refreshed before children before mutants.
/// @param key  `member` is not read
/// @throws InputError: which option is out of which range
void evolve(std::vector<OnesSchedule>& population, const OnesJobs& jobs,
            const OnesSchedule& current, const OnesEvolution& options, const OnesKey& key);

}  // namespace berth::papers
