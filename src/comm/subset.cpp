// SPDX-License-Identifier: Apache-2.0
// Communicators of the first ranks, while the other ranks rest.
#include "impl.hpp"

#include <utility>

#include "berth/base/assert.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::comm {

Communicator::Owned::~Owned() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&mpi);
}

std::optional<Communicator> Communicator::first(int ranks) const {
  BERTH_EXPECT(1 <= ranks && ranks <= size());
  auto impl = std::make_unique<Impl>();
  if (impl_->alone()) return Communicator(std::move(impl));
  barrier();  // MPI_Comm_split spins inside MPI: the barrier shortens the wait there
  const int colour = rank() < ranks ? 0 : MPI_UNDEFINED;
  check(MPI_Comm_split(impl_->mpi, colour, rank(), &impl->mpi), "MPI_Comm_split");
  if (impl->mpi == MPI_COMM_NULL) return std::nullopt;
  impl->owned = std::make_shared<Owned>(impl->mpi);
  impl->rank = rank();
  impl->size = ranks;
  return Communicator(std::move(impl));
}

void Communicator::rest() const {
  if (impl_->alone()) return;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto begin = TrafficRecorder::Clock::now();
  check(MPI_Ibarrier(impl_->mpi, &request), mpi_name(Call::barrier));
  wait_long(request, mpi_name(Call::barrier));
  impl_->recorder.count(Call::barrier, 0, begin, TrafficRecorder::Clock::now());
}

}  // namespace berth::comm
