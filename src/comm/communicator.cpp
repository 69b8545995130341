// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/communicator.hpp"

#include "impl.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/comm/environment.hpp"

namespace berth::comm {

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
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
  if (!Environment::active()) {
    throw std::logic_error(
        "MPI does not run: keep a berth::comm::Environment alive in main while you plan, or call "
        "berth::plan (berth/berth.hpp), which makes its own");
  }
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

Communicator internal::with_delays(const Communicator& comm, std::uint64_t seed,
                                   std::chrono::microseconds longest) {
  Communicator delayed = comm;
  delayed.impl_->delay_seed = seed;
  delayed.impl_->longest_delay = longest;
  return delayed;
}

Communicator Communicator::fresh() const {
  Communicator copy = *this;
  copy.impl_->recorder = TrafficRecorder();
  return copy;
}

int Communicator::rank() const { return impl_->rank; }
int Communicator::size() const { return impl_->size; }

void Communicator::abort(ExitCode code) const {
  std::fflush(nullptr);
  if (impl_->mpi != MPI_COMM_NULL) MPI_Abort(impl_->mpi, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

void Communicator::begin_stage(std::string_view stage) const { impl_->recorder.begin_stage(stage); }
std::vector<Traffic> Communicator::stats() const { return impl_->recorder.by_stage(); }
std::vector<CallTraffic> Communicator::stats_by_call() const { return impl_->recorder.by_call(); }

Traffic Communicator::traffic() const {
  Traffic total;
  for (const Traffic& stage : stats()) {
    total.messages += stage.messages;
    total.bytes += stage.bytes;
    total.seconds += stage.seconds;
    total.elapsed += stage.elapsed;
  }
  return total;
}

void Communicator::record_events() const {
  barrier();
  impl_->recorder.record_events();
}
std::vector<Event> Communicator::events() const { return impl_->recorder.events(); }

Communicator::TraceSpan::TraceSpan(const Communicator& comm, std::string_view name,
                                   std::int64_t index)
    : comm_(comm), name_(name), index_(index), begin_(TrafficRecorder::Clock::now()) {}
Communicator::TraceSpan::~TraceSpan() {
  if (comm_.impl_->recorder.recording()) comm_.impl_->recorder.span(name_, index_, begin_);
}

}  // namespace berth::comm
