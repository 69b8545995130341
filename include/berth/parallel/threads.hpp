// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace berth::parallel {

/// During its lifetime, run_tasks (TBB) and sweeps (OpenMP, called from this thread) use at most
/// `threads` threads, including the calling one.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);  ///< >= 1
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Controls;
  std::unique_ptr<Controls> controls_;
};

/// Number of threads that a loop started here and now may use.
int thread_limit();

/// Ids of the cores (not hyperthreads) that this rank may run on, ascending; empty when the system
/// does not report them. Read once: a rank is bound before it starts.
std::vector<std::int32_t> bound_cores();

/// OMP_NUM_THREADS if it is a positive number; else the bound cores divided by the ranks that share
/// them (`comm::ranks_sharing` counts these); at least 1.
int default_threads(int ranks_sharing);

}  // namespace berth::parallel
