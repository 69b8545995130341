// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "berth/parallel/function_ref.hpp"

/// The loops that use threads. Iterations run in any order and each writes only its own results (by
/// index), so nothing depends on the number of threads. When iterations throw, the loop rethrows
/// the exception of the lowest throwing index; iterations above that index may not have run. A loop
/// inside another loop's iteration is correct; a nested sweep uses one thread.
namespace berth::parallel {

/// Calls task(index) for each index below count. For irregular work: threads steal tasks (oneTBB),
/// one call through a pointer per task.
void run_tasks(std::size_t count, FunctionRef<void(std::size_t index)> task);

/// Calls body(block, begin, end) for each block of `block_size` indices below count (the last block
/// may be shorter). Blocks do not depend on the number of threads. OpenMP.
/// @pre block_size > 0
void sweep_blocks(std::size_t count, std::size_t block_size,
                  FunctionRef<void(std::size_t block, std::size_t begin, std::size_t end)> body);

/// Calls body(index) for each index below count: flat numeric loops, inlined within chunks.
template <class Body>
void sweep(std::size_t count, Body&& body) {
  constexpr std::size_t kChunk = 512;  // indices of a chunk; chosen, not tuned
  sweep_blocks(count, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace berth::parallel
