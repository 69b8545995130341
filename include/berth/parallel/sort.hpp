// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include "berth/parallel/loops.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::parallel {
namespace internal {

/// How many of the first `taken` elements of the stable merge of a and b come from a.
template <class T, class Less>
std::size_t taken_from_first(std::span<const T> a, std::span<const T> b, std::size_t taken,
                             const Less& less) {
  std::size_t low = taken - std::min(taken, b.size());
  std::size_t high = std::min(taken, a.size());
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (less(b[taken - middle - 1], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Two neighbouring sorted runs, positions in the whole.
struct RunPair {
  std::size_t begin, middle, end;

  RunPair(std::size_t position, std::size_t run, std::size_t size)
      : begin(position / (2 * run) * (2 * run)),
        middle(std::min(begin + run, size)),
        end(std::min(begin + 2 * run, size)) {}
};

/// Merges neighbouring sorted runs of `run` elements from `from` into `to`, `piece` elements a
/// task; run is a multiple of piece. All cuts are found before any element moves.
template <class T, class Less>
void merge_runs(std::span<T> from, std::span<T> to, std::size_t run, std::size_t piece,
                const Less& less) {
  const std::size_t size = from.size();
  std::vector<std::size_t> cuts((size + piece - 1) / piece);
  sweep(cuts.size(), [&](std::size_t task) {
    const RunPair pair(task * piece, run, size);
    cuts[task] = taken_from_first<T>(from.subspan(pair.begin, pair.middle - pair.begin),
                                     from.subspan(pair.middle, pair.end - pair.middle),
                                     task * piece - pair.begin, less);
  });
  run_tasks(cuts.size(), [&](std::size_t task) {
    const std::size_t first = task * piece;
    const RunPair pair(first, run, size);
    const std::size_t last = std::min(first + piece, pair.end);
    const std::size_t a0 = cuts[task];
    const std::size_t a1 = last == pair.end ? pair.middle - pair.begin : cuts[task + 1];
    T* const left = from.data() + pair.begin;
    T* const right = from.data() + pair.middle;
    std::merge(std::make_move_iterator(left + a0), std::make_move_iterator(left + a1),
               std::make_move_iterator(right + (first - pair.begin - a0)),
               std::make_move_iterator(right + (last - pair.begin - a1)), to.data() + first, less);
  });
}

}  // namespace internal

/// Stable sort by tasks: chunks of fixed size, then merges cut into equal pieces. The result is
/// std::stable_sort's for any number of threads; even so, let the comparator end in an id, so that
/// the order does not depend on how the elements came.
/// O(n log n) comparisons, n elements of extra room; T is movable and default-constructible.
template <class T, class Less = std::less<T>>
void sort(std::span<T> values, const Less& less = {}) {
  constexpr std::size_t kChunk = std::size_t{1} << 13;
  if (values.size() <= kChunk || thread_limit() == 1) {
    std::stable_sort(values.begin(), values.end(), less);
    return;
  }
  run_tasks((values.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    const std::span<T> part =
        values.subspan(chunk * kChunk, std::min(kChunk, values.size() - chunk * kChunk));
    std::stable_sort(part.begin(), part.end(), less);
  });
  std::vector<T> room(values.size());
  std::span<T> from = values, to = room;
  for (std::size_t run = kChunk; run < values.size(); run *= 2, std::swap(from, to)) {
    internal::merge_runs(from, to, run, kChunk, less);
  }
  if (from.data() != values.data()) std::move(from.begin(), from.end(), values.begin());
}

template <class T, class Less = std::less<T>>
void sort(std::vector<T>& values, const Less& less = {}) {
  sort(std::span<T>(values), less);
}

}  // namespace berth::parallel
