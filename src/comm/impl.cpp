// SPDX-License-Identifier: Apache-2.0
#include "impl.hpp"

#include <array>
#include <thread>

#include "berth/base/random.hpp"

namespace berth::comm {

const char* mpi_name(Call call) {
  constexpr std::array<const char*, kCalls> kNames{
      "MPI_Ibarrier", "MPI_Ibcast",      "MPI_Ireduce",   "MPI_Iallreduce",
      "MPI_Igatherv", "MPI_Iallgatherv", "MPI_Ialltoallv"};
  return kNames[static_cast<std::size_t>(call)];
}

void Communicator::Impl::delay() {
  const double share = random_unit({delay_seed, static_cast<std::uint64_t>(rank), ++delays});
  std::this_thread::sleep_for(share * longest_delay);
}

}  // namespace berth::comm
