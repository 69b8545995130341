// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/communicator.hpp"

#include "impl.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "berth/base/assert.hpp"

namespace berth::comm {

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->traffic.assign(1, Traffic{});
}
Communicator::Communicator(const Communicator& other)
    : impl_(std::make_unique<Impl>(*other.impl_)) {}
Communicator& Communicator::operator=(const Communicator& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Communicator Communicator::serial() { return Communicator(std::make_unique<Impl>()); }

Communicator Communicator::world() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  BERTH_EXPECT(initialized != 0);
  auto impl = std::make_unique<Impl>();
  impl->mpi = MPI_COMM_WORLD;
  check(MPI_Comm_rank(impl->mpi, &impl->rank), "MPI_Comm_rank");
  check(MPI_Comm_size(impl->mpi, &impl->size), "MPI_Comm_size");
  return Communicator(std::move(impl));
}

Communicator internal::with_chunk_limit(const Communicator& comm, std::size_t bytes) {
  BERTH_EXPECT(0 < bytes && bytes <= kChunkBytes);
  Communicator limited = comm;
  limited.impl_->chunk_limit = bytes;
  return limited;
}

int Communicator::rank() const { return impl_->rank; }
int Communicator::size() const { return impl_->size; }

void Communicator::abort(ExitCode code) const {
  std::fflush(nullptr);
  if (impl_->mpi != MPI_COMM_NULL) MPI_Abort(impl_->mpi, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

void Communicator::begin_stage(std::string_view stage) const {
  auto& traffic = impl_->traffic;
  const auto known = std::find_if(traffic.begin(), traffic.end(),
                                  [&](const Traffic& t) { return t.stage == stage; });
  impl_->stage = static_cast<std::size_t>(known - traffic.begin());
  if (known == traffic.end()) traffic.push_back(Traffic{.stage = std::string(stage)});
}

std::vector<Traffic> Communicator::stats() const {
  std::vector<Traffic> used = impl_->traffic;
  std::erase_if(used, [](const Traffic& t) { return t.messages == 0; });
  return used;
}

}  // namespace berth::comm
