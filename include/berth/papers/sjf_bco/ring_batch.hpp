// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/speed/model.hpp"

/// Gangs of ring all-reduce that all wait at time 0, without preemption or moves: the problem of
/// SJF-BCO (Yu, Ji, Rajan, Liu: MobiHoc 2022).
namespace berth::papers {

struct RingBatchJob {
  std::int32_t gpus = 1;        ///< G: workers, one GPU each
  std::int64_t iterations = 1;  ///< F
  double estimate = 1.0;        ///< estimated run time in slots, > 0
};

/// One job is that of the JobId equal to its index, one server the machine of that index.
struct RingBatch {
  std::vector<std::int32_t> servers;  ///< O: GPUs of each
  std::vector<RingBatchJob> jobs;
  /// Its rate is iterations in a slot; a job makes the whole part of it in each slot.
  const speed::Model* speeds = nullptr;

  [[nodiscard]] std::int64_t gpus() const;
};

struct RingRun {
  std::vector<speed::MachineTasks> machines;  ///< ascending
  std::int64_t start = -1;                    ///< slot; -1: the job never starts
  std::int64_t end = -1;                      ///< begin of the first slot after the last one
};

struct RingSchedule {
  std::vector<RingRun> runs;  ///< by job
  std::int64_t makespan = 0;  ///< last end
  bool complete = false;      ///< all jobs of the order run
  /// Sum of estimates over a GPU's jobs, the largest: U of the paper.
  double most_accumulated = 0.0;
};

/// Whole iterations in a slot of each running job.
/// @throws std::invalid_argument: an iteration is longer than a slot, so that the job never ends
std::vector<std::int64_t> iterations_per_slot(const speed::Model& speeds,
                                              std::span<const speed::RunningJob> running);

/// Iterations in a slot of a job alone on the fewest servers that can hold it, largest first.
/// @pre the job fits the cluster
std::int64_t best_iterations_per_slot(const RingBatch& batch, std::size_t job);

/// No schedule ends before it, provided that a job is never faster than alone on the fewest
/// servers: the longest job, or all GPU slots over the GPUs. O(jobs x servers)
std::int64_t makespan_bound(const RingBatch& batch);

/// A cluster in time while jobs of a batch start and end.
class BatchClock {
 public:
  explicit BatchClock(const RingBatch& batch);

  struct Gpu {
    std::uint32_t server = 0;
    bool idle = true;
    double accumulated = 0.0;  ///< estimates of the jobs it has or had
  };

  [[nodiscard]] const RingBatch& batch() const { return *batch_; }
  [[nodiscard]] std::span<const Gpu> gpus() const { return gpus_; }  ///< server by server
  /// First GPU of the server; of servers(): the number of GPUs.
  [[nodiscard]] std::size_t first_gpu(std::size_t server) const { return first_[server]; }
  [[nodiscard]] std::size_t servers() const { return batch_->servers.size(); }
  [[nodiscard]] std::int32_t idle(std::size_t server) const { return idle_[server]; }
  [[nodiscard]] std::int64_t now() const { return now_; }

  /// @pre the GPUs are idle and as many as the job asks for; it has not started
  void start(std::size_t job, std::span<const std::uint32_t> gpus);
  void close(std::uint32_t gpu) { set_idle(gpu, false); }  ///< for good. @pre it is idle
  void set_accumulated(std::uint32_t gpu, double value) { gpus_[gpu].accumulated = value; }
  /// Goes to the next end of a job; false: none runs. O(running) and the model where rings share.
  bool advance();
  /// The schedule so far.
  [[nodiscard]] RingSchedule schedule() const;

 private:
  struct Active {
    std::size_t job = 0;
    std::vector<std::uint32_t> gpus;
    std::int64_t left = 0;      ///< iterations
    std::int64_t per_slot = 0;  ///< 0: not asked since the rings changed
    bool coupled = false;       ///< has links with others
  };

  void set_idle(std::uint32_t gpu, bool idle);
  void set_speeds();
  void finish(const Active& active);

  const RingBatch* batch_;
  std::vector<Gpu> gpus_;
  std::vector<std::size_t> first_;
  std::vector<std::int32_t> idle_;
  std::vector<Active> active_;
  std::vector<RingRun> runs_;
  std::int64_t now_ = 0;
  std::size_t ended_ = 0;
  bool rings_changed_ = false;  ///< a ring with links started or ended since set_speeds
};

}  // namespace berth::papers
