// SPDX-License-Identifier: Apache-2.0
#include "first_failure.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include "berth/parallel/loops.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::parallel {

void run_tasks(std::size_t count, FunctionRef<void(std::size_t)> task) {
  if (count <= 1 || thread_limit() == 1) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  FirstFailure failure;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, 1),
      [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          failure.guard(i, [&] { task(i); });
        }
      },
      tbb::simple_partitioner());
  failure.rethrow();
}

}  // namespace berth::parallel
