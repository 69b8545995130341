// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chunks.hpp"
#include "traffic_recorder.hpp"
#include "wait.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <mpi.h>

#include "berth/comm/communicator.hpp"

namespace berth::comm {

[[nodiscard]] const char* mpi_name(Call call);  ///< the function that starts it, for errors

/// Owns an MPI communicator; freed with its last user.
struct Communicator::Owned {
  explicit Owned(MPI_Comm communicator) : mpi(communicator) {}
  ~Owned();
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  MPI_Comm mpi;
};

struct Communicator::Impl {
  MPI_Comm mpi = MPI_COMM_NULL;  ///< null for the serial communicator
  std::shared_ptr<Owned> owned;  ///< null for world and serial
  int rank = 0;
  int size = 1;
  std::size_t chunk_limit = kChunkBytes;
  TrafficRecorder recorder;
  std::uint64_t delay_seed = 0;  ///< tests only
  std::chrono::microseconds longest_delay{0};
  std::uint64_t delays = 0;  ///< number of draws so far

  [[nodiscard]] bool alone() const { return size == 1; }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size); }

  /// Starts a collective by `start(MPI_Request*)`, completes it and counts it.
  template <class Start>
  void run(Call call, std::uint64_t bytes, Start start) {
    if (longest_delay.count() > 0) delay();
    const auto begin = TrafficRecorder::Clock::now();
    MPI_Request request = MPI_REQUEST_NULL;
    check(start(&request), mpi_name(call));
    wait(request, mpi_name(call));
    recorder.count(call, bytes, begin, TrafficRecorder::Clock::now());
  }

  void delay();

  template <class F>
  void in_chunks(std::size_t total, std::size_t element_bytes, F f) const {
    each_chunk(total, element_bytes, chunk_limit, f);
  }
};

}  // namespace berth::comm
