// SPDX-License-Identifier: Apache-2.0
// Collectives of equal length on every rank: barrier, broadcast, reductions.
#include "impl.hpp"

#include <array>

#include "berth/base/assert.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::comm {

void Communicator::barrier() const {
  if (impl_->alone()) return;
  impl_->run(Call::barrier, 0,
             [&](MPI_Request* request) { return MPI_Ibarrier(impl_->mpi, request); });
}

void Communicator::broadcast_bytes(std::span<std::byte> bytes, int root) const {
  BERTH_EXPECT(0 <= root && root < size());
  if (impl_->alone()) return;
  impl_->in_chunks(bytes.size(), 1, [&](std::size_t first, int count) {
    const auto sent = rank() == root ? static_cast<std::uint64_t>(count) : 0;
    impl_->run(Call::broadcast, sent, [&](MPI_Request* request) {
      return MPI_Ibcast(bytes.data() + first, count, MPI_BYTE, root, impl_->mpi, request);
    });
  });
}

std::size_t Communicator::broadcast_length(std::size_t length, int root) const {
  std::uint64_t agreed = length;
  broadcast_value(agreed, root);
  return static_cast<std::size_t>(agreed);
}

void Communicator::broadcast_string(std::string& text, int root) const {
  text.resize(broadcast_length(text.size(), root));
  broadcast_bytes(std::as_writable_bytes(std::span(text)), root);
}

namespace {

/// All-reduction in place of elements of 8 bytes.
template <class Impl, class Element>
void all_reduce(Impl& impl, std::span<Element> values, MPI_Datatype type, MPI_Op op) {
  static_assert(sizeof(Element) == 8);
  if (impl.alone()) return;
  impl.in_chunks(values.size(), sizeof(Element), [&](std::size_t first, int count) {
    impl.run(Call::all_reduce, static_cast<std::uint64_t>(count) * 8, [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, values.data() + first, count, type, op, impl.mpi,
                            request);
    });
  });
}

}  // namespace

void Communicator::sum(std::span<std::int64_t> values) const {
  all_reduce(*impl_, values, MPI_INT64_T, MPI_SUM);
}
void Communicator::max(std::span<std::int64_t> values) const {
  all_reduce(*impl_, values, MPI_INT64_T, MPI_MAX);
}
void Communicator::min(std::span<std::int64_t> values) const {
  all_reduce(*impl_, values, MPI_INT64_T, MPI_MIN);
}

std::int64_t Communicator::sum(std::int64_t value) const {
  sum(std::span(&value, 1));
  return value;
}
std::int64_t Communicator::max(std::int64_t value) const {
  max(std::span(&value, 1));
  return value;
}
std::int64_t Communicator::min(std::int64_t value) const {
  min(std::span(&value, 1));
  return value;
}
double Communicator::max_seconds(double value) const {
  all_reduce(*impl_, std::span(&value, 1), MPI_DOUBLE, MPI_MAX);
  return value;
}

void Communicator::sum_to_root(std::span<std::int64_t> values, int root) const {
  BERTH_EXPECT(0 <= root && root < size());
  if (impl_->alone()) return;
  const bool at_root = rank() == root;
  impl_->in_chunks(values.size(), sizeof(std::int64_t), [&](std::size_t first, int count) {
    std::int64_t* const part = values.data() + first;
    const auto sent = at_root ? 0 : static_cast<std::uint64_t>(count) * sizeof(std::int64_t);
    impl_->run(Call::reduce, sent, [&](MPI_Request* request) {
      return MPI_Ireduce(at_root ? MPI_IN_PLACE : part, at_root ? part : nullptr, count,
                         MPI_INT64_T, MPI_SUM, root, impl_->mpi, request);
    });
  });
}

}  // namespace berth::comm
