// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wait.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "berth/comm/communicator.hpp"

namespace berth::comm {

constexpr std::size_t kChunkBytes = std::size_t{1} << 30;  // half of what an int can count

struct Communicator::Impl {
  MPI_Comm mpi = MPI_COMM_NULL;  ///< null for the serial one
  int rank = 0;
  int size = 1;
  std::size_t chunk_limit = kChunkBytes;
  std::vector<Traffic> traffic;
  std::size_t stage = 0;  ///< index into traffic

  [[nodiscard]] bool alone() const { return size == 1; }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(size); }

  /// Starts a collective by `start(MPI_Request*)`, completes it and counts it.
  template <class Start>
  void run(const char* call, std::uint64_t bytes, Start start) {
    const auto begin = std::chrono::steady_clock::now();
    MPI_Request request = MPI_REQUEST_NULL;
    check(start(&request), call);
    wait(request, call);
    Traffic& counted = traffic[stage];
    ++counted.messages;
    counted.bytes += static_cast<std::int64_t>(bytes);
    counted.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Calls f(first, count) until `total` elements are covered, at most chunk_limit bytes a time.
  template <class F>
  void in_chunks(std::size_t total, std::size_t element_bytes, F f) const {
    const std::size_t most = std::max<std::size_t>(1, chunk_limit / element_bytes);
    for (std::size_t first = 0; first < total; first += most) {
      f(first, static_cast<int>(std::min(most, total - first)));
    }
  }
};

}  // namespace berth::comm
