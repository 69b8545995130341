// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "berth/parallel/function_ref.hpp"

/// The loops that use threads. Iterations run in any order and must write only what is theirs
/// (results by index); then nothing depends on the number of threads. When iterations throw, the
/// exception of the lowest throwing index is rethrown after the loop; those above it may not have
/// run. A loop inside another loop's iteration is correct, and a sweep there uses one thread.
namespace berth::parallel {

/// task(index) for each index below count. For irregular work: threads steal from each other
/// (oneTBB), one call through a pointer per task.
void run_tasks(std::size_t count, FunctionRef<void(std::size_t index)> task);

/// body(block, begin, end) for each block of `block_size` indices below count (the last one may be
/// shorter). Blocks are the same for any number of threads. OpenMP.
/// @pre block_size > 0
void sweep_blocks(std::size_t count, std::size_t block_size,
                  FunctionRef<void(std::size_t block, std::size_t begin, std::size_t end)> body);

/// body(index) for each index below count: flat numeric loops, inlined within chunks.
template <class Body>
void sweep(std::size_t count, Body&& body) {
  constexpr std::size_t kChunk = 512;
  sweep_blocks(count, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace berth::parallel
