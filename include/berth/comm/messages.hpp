// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/base/archive.hpp"
#include "berth/comm/communicator.hpp"

/// Messages of values that an archive can write (berth/base/archive.hpp), including texts and lists
/// of any length. All functions are collective.
namespace berth::comm {

/// Sends the root's value to all ranks.
template <class T>
void broadcast(const Communicator& comm, T& value, int root = 0) {
  if (comm.size() == 1) return;
  std::string bytes;
  if (comm.rank() == root) bytes = to_bytes(value);
  comm.broadcast_string(bytes, root);
  if (comm.rank() != root) value = from_bytes<T>(bytes);
}

namespace internal {

/// The values whose consecutive encodings these bytes are.
template <class T>
std::vector<T> all_values(const std::vector<char>& bytes) {
  std::vector<T> values;
  for (ByteReader reader(bytes); !reader.done();) {
    values.push_back(reader.next<T>());
  }
  return values;
}

template <class T>
std::string end_to_end(std::span<const T> values) {
  ByteWriter writer;
  for (const T& value : values) writer(value);
  return writer.take();
}

}  // namespace internal

/// Gathers any number of values of each rank at rank 0, by rank; the other ranks get none.
template <class T>
[[nodiscard]] std::vector<T> gather(const Communicator& comm, std::span<const T> mine) {
  return internal::all_values<T>(comm.gather_varying<char>(internal::end_to_end(mine)));
}

/// Gathers any number of values of each rank on all ranks, by rank.
template <class T>
[[nodiscard]] std::vector<T> all_gather(const Communicator& comm, std::span<const T> mine) {
  return internal::all_values<T>(comm.all_gather_varying<char>(internal::end_to_end(mine)));
}

/// Sends to[r] to rank r. Frees each writer's bytes as soon as they are packed, so that memory does
/// not hold the sent data twice while data arrives.
/// @param to  size ranks
/// @return    the bytes for this rank, by source rank
[[nodiscard]] inline std::vector<char> exchange_bytes(const Communicator& comm,
                                                      std::vector<ByteWriter> to) {
  std::vector<std::size_t> counts;
  std::size_t bytes = 0;
  for (const ByteWriter& writer : to) bytes += counts.emplace_back(writer.size());
  std::string all;
  all.reserve(bytes);
  for (ByteWriter& writer : to) all += writer.take();
  return comm.all_to_all_varying<char>(all, counts).values;
}

/// Exchanges values of one type, as `exchange_bytes` does.
template <class T>
[[nodiscard]] std::vector<T> exchange(const Communicator& comm, std::vector<ByteWriter> to) {
  return internal::all_values<T>(exchange_bytes(comm, std::move(to)));
}

}  // namespace berth::comm
