// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"

/// How fast jobs make progress. One unit of work is one second of the job's `duration`
/// (docs/formats.md): a job that has `duration` 600 and rate 0.5 all the time ends after 1,200 s.
namespace berth::speed {

/// Tasks of one job on one machine.
struct MachineTasks {
  MachineId machine;
  std::int32_t workers = 0;  ///< tasks that compute
  std::int32_t gpus = 0;     ///< devices of the machine that they use, shared ones included
  std::int32_t servers = 0;  ///< parameter servers
};

/// A job that runs, and where.
struct RunningJob {
  JobId job;
  GpuTypeId gpu_type;                      ///< of its tasks with GPUs; invalid: it has none
  std::span<const MachineTasks> machines;  ///< ascending machine, each once; not empty
  std::int32_t configuration = -1;         ///< of an elastic job (docs/formats.md); -1: none
  std::int64_t batch = 0;                  ///< samples of an iteration, all workers; 0: the usual
  double work = 0.0;                       ///< done so far, >= 0
  bool expected = false;                   ///< the mean is asked for where the rate is drawn
};

/// Progress of one job while the placements are as they are.
struct Rate {
  double per_second = 1.0;  ///< work in a second, >= 0; 0: the job stands still
  /// Work done at which the rate may change though no placement does: ask again then.
  double until_work = std::numeric_limits<double>::infinity();
};

/// A speed model. Implementations are constants after construction: several threads may ask one.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  /// Whether the rate of a job depends on other running jobs (shared links, shared machines). If
  /// not, a caller need only ask about jobs that are new, moved, resized, or beyond `until_work`.
  [[nodiscard]] virtual bool coupled() const = 0;

  /// Appends keys of what the job shares with others (links, machines), if the model is coupled.
  /// Jobs without a common key, directly or over other jobs, do not change each other's rates.
  virtual void shared(const RunningJob& /*job*/, std::vector<std::uint64_t>& /*keys*/) const {}

  /// Rates of jobs that run at the same time: rates[i] is overwritten with that of running[i].
  /// Of a coupled model `running` must be all of them, or all that are joined by common keys, in
  /// any order; the rates do not depend on it.
  /// @pre rates.size() == running.size()
  virtual void rates(std::span<const RunningJob> running, std::span<Rate> rates) const = 0;
};

}  // namespace berth::speed
