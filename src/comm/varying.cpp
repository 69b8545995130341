// SPDX-License-Identifier: Apache-2.0
// Collectives in which every rank gives a different amount. They run in rounds: a round moves at
// most `piece` bytes between two ranks, so that all counts and positions fit MPI's int. Usually
// there is one round, straight from and to the caller's memory.
#include "impl.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/comm/communicator.hpp"

namespace berth::comm {
namespace {

using Sizes = std::span<const std::uint64_t>;

/// Calls f(position in the whole, position in the round, count) for each rank's part of the round.
template <class F>
void for_each_part(Sizes sizes, std::uint64_t offset, const ChunkLayout& layout, F f) {
  std::size_t begin = 0;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const auto count = static_cast<std::size_t>(layout.counts[r]);
    if (count > 0) f(begin + offset, static_cast<std::size_t>(layout.displacements[r]), count);
    begin += static_cast<std::size_t>(sizes[r]);
  }
}

std::vector<std::byte> packed(std::span<const std::byte> whole, Sizes sizes, std::uint64_t offset,
                              const ChunkLayout& layout) {
  std::vector<std::byte> part(layout.total);
  for_each_part(sizes, offset, layout, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::memcpy(part.data() + to, whole.data() + from, count);
  });
  return part;
}

void unpack(std::span<const std::byte> part, Sizes sizes, std::uint64_t offset,
            const ChunkLayout& layout, std::span<std::byte> whole) {
  for_each_part(sizes, offset, layout, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::memcpy(whole.data() + to, part.data() + from, count);
  });
}

std::uint64_t sum_of(Sizes sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

std::uint64_t largest_of(Sizes sizes) {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

}  // namespace

void Communicator::gather_bytes(std::span<const std::byte> mine,
                                std::span<const std::uint64_t> sizes, std::span<std::byte> all,
                                int root) const {
  BERTH_EXPECT(kAllRanks <= root && root < size());
  if (impl_->alone()) {
    std::copy(mine.begin(), mine.end(), all.begin());
    return;
  }
  const bool receives = root == kAllRanks || root == rank();
  const bool one_round = sum_of(sizes) <= impl_->chunk_limit;
  const std::uint64_t piece =
      one_round ? impl_->chunk_limit : bytes_per_rank(impl_->chunk_limit, impl_->ranks());
  std::vector<std::byte> part;
  for (std::uint64_t offset = 0; offset < largest_of(sizes); offset += piece) {
    const ChunkLayout layout(sizes, offset, piece);
    if (!one_round && receives) part.resize(layout.total);
    std::byte* const to = one_round ? all.data() : part.data();
    const std::byte* const from = mine.data() + std::min<std::uint64_t>(mine.size(), offset);
    const int count = layout.counts[static_cast<std::size_t>(rank())];
    const auto sent = root == rank() ? 0 : static_cast<std::uint64_t>(count);
    impl_->run(root == kAllRanks ? Call::all_gather : Call::gather, sent,
               [&](MPI_Request* request) {
                 const int* const counts = layout.counts.data();
                 const int* const displacements = layout.displacements.data();
                 if (root == kAllRanks) {
                   return MPI_Iallgatherv(from, count, MPI_BYTE, to, counts, displacements,
                                          MPI_BYTE, impl_->mpi, request);
                 }
                 return MPI_Igatherv(from, count, MPI_BYTE, to, counts, displacements, MPI_BYTE,
                                     root, impl_->mpi, request);
               });
    if (!one_round && receives) unpack(part, sizes, offset, layout, all);
  }
}

Communicator::Exchange Communicator::plan_exchange(std::span<const std::size_t> counts,
                                                   std::size_t items,
                                                   std::size_t item_bytes) const {
  BERTH_EXPECT(counts.size() == impl_->ranks());
  Exchange exchange;
  for (const std::size_t count : counts) exchange.to.push_back(count * item_bytes);
  BERTH_EXPECT(sum_of(exchange.to) == items * item_bytes);
  exchange.from = exchange.to;
  if (impl_->alone()) return exchange;

  // Each rank tells the others how much it sends them and its largest message, so that all ranks
  // compute the same number of rounds.
  struct Notice {
    std::uint64_t bytes;
    std::uint64_t largest;
  };
  const std::uint64_t largest = largest_of(exchange.to);
  std::vector<Notice> out, in(impl_->ranks());
  for (const std::uint64_t bytes : exchange.to) out.push_back({bytes, largest});
  constexpr int width = sizeof(Notice);
  impl_->run(Call::all_to_all, (impl_->ranks() - 1) * sizeof(Notice), [&](MPI_Request* request) {
    return MPI_Ialltoall(out.data(), width, MPI_BYTE, in.data(), width, MPI_BYTE, impl_->mpi,
                         request);
  });
  for (std::size_t r = 0; r < in.size(); ++r) {
    exchange.from[r] = in[r].bytes;
    exchange.largest = std::max(exchange.largest, in[r].largest);
  }
  return exchange;
}

void Communicator::exchange_bytes(std::span<const std::byte> items, const Exchange& exchange,
                                  std::span<std::byte> received) const {
  if (impl_->alone()) {
    std::copy(items.begin(), items.end(), received.begin());
    return;
  }
  const std::uint64_t piece = bytes_per_rank(impl_->chunk_limit, impl_->ranks());
  const bool one_round = exchange.largest <= piece;
  for (std::uint64_t offset = 0; offset < exchange.largest; offset += piece) {
    const ChunkLayout out(exchange.to, offset, piece);
    const ChunkLayout in(exchange.from, offset, piece);
    std::vector<std::byte> staged_out, staged_in;
    if (!one_round) {
      staged_out = packed(items, exchange.to, offset, out);
      staged_in.resize(in.total);
    }
    const std::byte* const from = one_round ? items.data() : staged_out.data();
    std::byte* const to = one_round ? received.data() : staged_in.data();
    const auto own = static_cast<std::size_t>(out.counts[static_cast<std::size_t>(rank())]);
    impl_->run(Call::all_to_all, out.total - own, [&](MPI_Request* request) {
      return MPI_Ialltoallv(from, out.counts.data(), out.displacements.data(), MPI_BYTE, to,
                            in.counts.data(), in.displacements.data(), MPI_BYTE, impl_->mpi,
                            request);
    });
    if (!one_round) unpack(staged_in, exchange.from, offset, in, received);
  }
}

}  // namespace berth::comm
