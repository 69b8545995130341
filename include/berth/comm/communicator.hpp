// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/comm/by_rank.hpp"
#include "berth/comm/error.hpp"
#include "berth/comm/traffic.hpp"

namespace berth::comm {

class Communicator;
namespace internal {
/// For tests: a communicator of these ranks with messages cut at `bytes` instead of 1 GiB.
Communicator with_chunk_limit(const Communicator& comm, std::size_t bytes);
/// For tests: a communicator of these ranks in which each sleeps a random time up to `longest`
/// before each collective.
Communicator with_delays(const Communicator& comm, std::uint64_t seed,
                         std::chrono::microseconds longest);
}  // namespace internal

/// A group of ranks, passed in by the code that starts the work. Copies communicate with the same
/// ranks and count their traffic separately.
///
/// Collectives: every rank calls the same ones in the same order, from the main thread, outside
/// parallel loops; roots and lengths agree unless said otherwise. None blocks inside MPI: each
/// starts non-blocking and is completed by testing, yielding and short sleeps, so that more ranks
/// than cores stay usable. Messages beyond the limit of MPI's int counts are cut. Results depend
/// on the ranks' input alone. A failing MPI call throws MpiError.
class Communicator {
 public:
  static Communicator serial();  ///< one rank, needs no MPI
  static Communicator world();   ///< all ranks; an Environment must be alive. For apps and tests

  Communicator(const Communicator& other);
  Communicator& operator=(const Communicator& other);
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] Communicator fresh()
      const;  ///< these ranks, with no traffic counted or recorded yet

  void barrier() const;
  /// A barrier for ranks that will be idle for seconds: they leave their cores to other ranks.
  void rest() const;

  /// The first `ranks` ranks as a group of their own; no value on the other ranks. Collective.
  [[nodiscard]] std::optional<Communicator> first(int ranks) const;

  /// Sends the root's values to all ranks. For a vector, only the root need know the length.
  template <Shippable T>
  void broadcast(std::span<T> values, int root = 0) const {
    broadcast_bytes(std::as_writable_bytes(values), root);
  }
  template <Shippable T>
  void broadcast_value(T& value, int root = 0) const {
    broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)), root);
  }
  template <Shippable T>
  void broadcast_vector(std::vector<T>& values, int root = 0) const {
    values.resize(broadcast_length(values.size(), root));
    broadcast_bytes(std::as_writable_bytes(std::span(values)), root);
  }
  void broadcast_string(std::string& text, int root = 0) const;

  /// Element-wise sum over ranks, in place; exact and independent of order unless a sum overflows
  /// int64.
  void sum(std::span<std::int64_t> values) const;
  /// Element-wise sum over ranks, at the root only; the other ranks keep their values.
  void sum_to_root(std::span<std::int64_t> values, int root = 0) const;
  void max(std::span<std::int64_t> values) const;
  void min(std::span<std::int64_t> values) const;
  [[nodiscard]] std::int64_t sum(std::int64_t value) const;
  [[nodiscard]] std::int64_t max(std::int64_t value) const;
  [[nodiscard]] std::int64_t min(std::int64_t value) const;
  [[nodiscard]] double max_seconds(
      double value) const;  ///< of the slowest rank; must not decide anything

  /// Gathers one value of each rank on all ranks, by rank.
  template <Shippable T>
  [[nodiscard]] std::vector<T> all_gather(const T& value) const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    const std::vector<std::uint64_t> sizes(values.size(), sizeof(T));
    gather_bytes(std::as_bytes(std::span(&value, 1)), sizes,
                 std::as_writable_bytes(std::span(values)), kAllRanks);
    return values;
  }
  /// Gathers any number of items of each rank on all ranks, end to end by rank.
  template <Shippable T>
  [[nodiscard]] std::vector<T> all_gather_varying(std::span<const T> mine) const {
    return gather<T>(mine, kAllRanks).values;
  }
  template <Shippable T>
  [[nodiscard]] ByRank<T> all_gather_by_rank(std::span<const T> mine) const {
    return gather<T>(mine, kAllRanks);
  }
  /// Gathers any number of items of each rank at the root; the other ranks get nothing.
  template <Shippable T>
  [[nodiscard]] std::vector<T> gather_varying(std::span<const T> mine, int root = 0) const {
    return gather<T>(mine, root).values;
  }
  template <Shippable T>
  [[nodiscard]] ByRank<T> gather_by_rank(std::span<const T> mine, int root = 0) const {
    return gather<T>(mine, root);
  }

  /// @param items   those for rank 0, then those for rank 1, ...
  /// @param counts  size ranks; number of items for each rank
  /// @return        the items that each rank gave for this rank
  template <Shippable T>
  [[nodiscard]] ByRank<T> all_to_all_varying(std::span<const T> items,
                                             std::span<const std::size_t> counts) const {
    const Exchange exchange = plan_exchange(counts, items.size(), sizeof(T));
    ByRank<T> received = room_for<T>(exchange.from);
    exchange_bytes(std::as_bytes(items), exchange,
                   std::as_writable_bytes(std::span(received.values)));
    return received;
  }

  /// Agrees on failure before a step that needs all ranks: if any rank passes a failure, every rank
  /// throws AgreedError with the failure of the lowest such rank. One reduction when none fails.
  void agree(const Status& status) const;

  /// Runs `work` (which communicates on all ranks alike, or not at all) and agrees on its outcome.
  template <class Work>
  auto agreed(Work&& work) const -> decltype(work()) {
    if constexpr (std::is_void_v<decltype(work())>) {
      agree(attempt([&] { work(); }));
    } else {
      std::optional<decltype(work())> result;
      agree(attempt([&] { result.emplace(work()); }));
      return std::move(*result);
    }
  }

  /// Runs `work` on rank 0 alone and agrees on its outcome on all ranks.
  template <class Work>
  void agreed_on_root(Work&& work) const {
    agreed([&] {
      if (rank() == 0) work();
    });
  }

  /// Ends all ranks at once with this exit code. Print the reason before.
  [[noreturn]] void abort(ExitCode code) const;

  /// Counts traffic from here on under `stage`. Counters are not part of the communicator's value.
  void begin_stage(std::string_view stage) const;
  [[nodiscard]] std::vector<Traffic> stats() const;  ///< stages in order of first use
  [[nodiscard]] std::vector<CallTraffic> stats_by_call() const;
  [[nodiscard]] Traffic traffic() const;  ///< over all stages

  /// Records every stage, span and collective from here on for `events`. Collective: a barrier
  /// starts the ranks' clocks together, up to its own skew.
  void record_events() const;
  [[nodiscard]] std::vector<Event> events() const;

  /// An event from construction to destruction; costs nothing unless events are recorded.
  class TraceSpan {
   public:
    TraceSpan(const Communicator& comm, std::string_view name, std::int64_t index = -1);
    ~TraceSpan();
    TraceSpan(const TraceSpan&) = delete;
    TraceSpan& operator=(const TraceSpan&) = delete;

   private:
    const Communicator& comm_;
    std::string_view name_;
    std::int64_t index_;
    std::chrono::steady_clock::time_point begin_;
  };

 private:
  struct Impl;
  struct Owned;
  struct Exchange {
    std::vector<std::uint64_t> to, from;  ///< bytes by rank
    std::uint64_t largest = 0;            ///< between any two ranks
  };
  static constexpr int kAllRanks = -1;  ///< as a rank: a call without root

  explicit Communicator(std::unique_ptr<Impl> impl);
  friend Communicator internal::with_chunk_limit(const Communicator& comm, std::size_t bytes);
  friend Communicator internal::with_delays(const Communicator& comm, std::uint64_t seed,
                                            std::chrono::microseconds longest);

  template <class Work>
  static Status attempt(Work&& work) {
    try {
      work();
    } catch (...) {
      return failure_of(std::current_exception());
    }
    return std::nullopt;
  }

  template <Shippable T>
  ByRank<T> gather(std::span<const T> mine, int root) const {
    const std::vector<std::uint64_t> sizes = all_gather(std::uint64_t{mine.size_bytes()});
    const bool receives = root == kAllRanks || root == rank();
    ByRank<T> all = room_for<T>(receives ? sizes : std::vector<std::uint64_t>(sizes.size(), 0));
    gather_bytes(std::as_bytes(mine), sizes, std::as_writable_bytes(std::span(all.values)), root);
    return all;
  }

  template <Shippable T>
  static ByRank<T> room_for(const std::vector<std::uint64_t>& bytes) {
    ByRank<T> room{{}, {0}};
    for (const std::uint64_t size : bytes) {
      room.begins.push_back(room.begins.back() + static_cast<std::size_t>(size / sizeof(T)));
    }
    room.values.resize(room.begins.back());
    return room;
  }

  void broadcast_bytes(std::span<std::byte> bytes, int root) const;
  [[nodiscard]] std::size_t broadcast_length(std::size_t length, int root) const;
  void gather_bytes(std::span<const std::byte> mine, std::span<const std::uint64_t> sizes,
                    std::span<std::byte> all, int root) const;
  [[nodiscard]] Exchange plan_exchange(std::span<const std::size_t> counts, std::size_t items,
                                       std::size_t item_bytes) const;
  void exchange_bytes(std::span<const std::byte> items, const Exchange& exchange,
                      std::span<std::byte> received) const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::comm
