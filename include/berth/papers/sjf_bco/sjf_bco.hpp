// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/papers/sjf_bco/ring_batch.hpp"

namespace berth::papers {

/// Which idle GPUs FA-FFP takes first. The paper's text and its pseudo-code disagree.
enum class GpuOrder {
  literal,     ///< least accumulated estimate, over all servers: the pseudo-code
  first_fit,   ///< server by server
  open_first,  ///< servers already used, least idle GPUs first: the text
};

struct SjfBcoOptions {
  std::int64_t horizon = 1200;  ///< T: slots; limits of the search
  double spread = 1.0;          ///< lambda: LBSGF looks at servers with lambda G GPUs, >= 1
  double overestimate = 1.0;    ///< u: estimates are at most u times the run time
  GpuOrder order = GpuOrder::open_first;
  std::int32_t kappa = 0;  ///< the only threshold of sizes; 0: it is searched
  /// As printed: a partial schedule of a (limit, kappa) that fails counts with the makespan so far.
  bool accept_incomplete = false;
};

/// Jobs by GPUs, then estimate, then index: the smallest first.
std::vector<std::size_t> smallest_first(const RingBatch& batch);

/// GPUs for a job by FA-FFP (algorithm 2): idle, and with it not beyond the limit; empty: too few.
/// O(GPUs log GPUs)
std::vector<std::uint32_t> fragment_aware_gpus(const BatchClock& clock, std::size_t job,
                                               double limit, const SjfBcoOptions& options);

/// GPUs for a job by LBSGF (algorithm 3): the same on the least busy servers. O(GPUs log GPUs)
std::vector<std::uint32_t> least_busy_gpus(const BatchClock& clock, std::size_t job, double limit,
                                           const SjfBcoOptions& options);

/// The schedule at a limit of accumulated estimates and a threshold of sizes: jobs of up to `kappa`
/// GPUs by FA-FFP, larger ones by LBSGF, in order; the first that does not fit holds up the others.
/// Stops when a job can never start.
/// @param clock  where it begins: jobs may run
RingSchedule run_at_limit(BatchClock clock, std::span<const std::size_t> order, double limit,
                          std::int32_t kappa, const SjfBcoOptions& options);

/// The best that the search met.
struct LimitChoice {
  double limit = 0.0;
  std::int32_t kappa = 0;
  RingSchedule schedule;
};

/// Algorithm 1 from a clock on: bisection of the limit, over all thresholds that split the jobs
/// differently. O(sizes x log T) schedules
LimitChoice best_limit(const BatchClock& clock, std::span<const std::size_t> order,
                       const SjfBcoOptions& options);

/// SJF-BCO: best_limit of an empty cluster. Not complete: no limit up to the horizon lets all jobs
/// run.
/// @throws InputError: which option or job is out of which range; so do the baselines
RingSchedule sjf_bco(const RingBatch& batch, const SjfBcoOptions& options);

/// Baselines: GPUs server by server (FF) and those of least accumulated estimate (LS), with the
/// same search of the limit; random idle GPUs (RAND).
RingSchedule first_fit(const RingBatch& batch, std::span<const std::size_t> order,
                       const SjfBcoOptions& options);
RingSchedule list_scheduling(const RingBatch& batch, std::span<const std::size_t> order,
                             const SjfBcoOptions& options);
RingSchedule random_gpus(const RingBatch& batch, std::span<const std::size_t> order,
                         std::uint64_t seed);

}  // namespace berth::papers
