// SPDX-License-Identifier: Apache-2.0
#include "first_failure.hpp"

#include <algorithm>

#include <omp.h>
#include <tbb/task.h>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::parallel {
namespace {

/// True inside a task or another sweep: the threads are busy, so a team per worker would only
/// oversubscribe the cores.
bool inside_a_loop() { return omp_in_parallel() != 0 || tbb::task::current_context() != nullptr; }

}  // namespace

void sweep_blocks(std::size_t count, std::size_t block_size,
                  FunctionRef<void(std::size_t, std::size_t, std::size_t)> body) {
  BERTH_EXPECT(block_size > 0);
  const std::size_t blocks = count / block_size + (count % block_size != 0 ? 1 : 0);
  const auto run = [&](std::size_t block) {
    body(block, block * block_size, std::min(count, (block + 1) * block_size));
  };
  if (blocks <= 1 || omp_get_max_threads() == 1 || inside_a_loop()) {
    for (std::size_t block = 0; block < blocks; ++block) run(block);
    return;
  }
  FirstFailure failure;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t block = 0; block < blocks; ++block) {
    failure.guard(block, [&] { run(block); });
  }
  failure.rethrow();
}

}  // namespace berth::parallel
