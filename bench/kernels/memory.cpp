// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth: the triad of STREAM (McCalpin), 24 bytes an element, far larger than the
// caches.
#include "kernels.hpp"

#include <benchmark/benchmark.h>

#include "berth/parallel/loops.hpp"

namespace berth::bench {
namespace {

void triad(benchmark::State& state) {
  const std::size_t n = 16'000'000;
  std::vector<double> a(n, 0.0), b(n, 1.0), c(n, 2.0);
  double factor = 3.0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(factor);
    parallel::sweep(n, [&](std::size_t i) { a[i] = b[i] + factor * c[i]; });
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(n));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(24 * n));
}

}  // namespace

void register_memory() {
  benchmark::RegisterBenchmark("triad", triad)->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace berth::bench
