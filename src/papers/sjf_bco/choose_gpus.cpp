// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include "berth/papers/sjf_bco/sjf_bco.hpp"

namespace berth::papers {
namespace {

using Gpus = std::vector<std::uint32_t>;

/// Idle GPUs of a server that the job may have.
void append_available(const BatchClock& clock, std::size_t server, std::size_t job, double limit,
                      double overestimate, Gpus& gpus) {
  const double more = clock.batch().jobs[job].estimate;
  for (std::size_t g = clock.first_gpu(server); g < clock.first_gpu(server + 1); ++g) {
    const BatchClock::Gpu& gpu = clock.gpus()[g];
    if (gpu.idle && (gpu.accumulated + more) / overestimate <= limit)
      gpus.push_back(static_cast<std::uint32_t>(g));
  }
}

double accumulated(const BatchClock& clock, std::size_t server) {
  double sum = 0.0;
  for (std::size_t g = clock.first_gpu(server); g < clock.first_gpu(server + 1); ++g)
    sum += clock.gpus()[g].accumulated;
  return sum;
}

void sort_least_accumulated(const BatchClock& clock, Gpus& gpus) {
  std::ranges::stable_sort(gpus, {}, [&](std::uint32_t g) { return clock.gpus()[g].accumulated; });
}

void sort_open_first(const BatchClock& clock, Gpus& gpus) {
  std::vector<char> used(clock.servers());
  for (std::size_t s = 0; s < clock.servers(); ++s) used[s] = accumulated(clock, s) > 0.0;
  std::ranges::stable_sort(gpus, {}, [&](std::uint32_t g) {
    const BatchClock::Gpu& gpu = clock.gpus()[g];
    return std::tuple(used[gpu.server] == 0, clock.idle(gpu.server), gpu.server, gpu.accumulated);
  });
}

/// The first GPUs, as many as the job asks for; none when they are too few.
Gpus first_of(Gpus gpus, const BatchClock& clock, std::size_t job) {
  const auto wanted = static_cast<std::size_t>(clock.batch().jobs[job].gpus);
  if (gpus.size() < wanted) return {};
  gpus.resize(wanted);
  return gpus;
}

}  // namespace

Gpus fragment_aware_gpus(const BatchClock& clock, std::size_t job, double limit,
                         const SjfBcoOptions& options) {
  Gpus gpus;
  for (std::size_t s = 0; s < clock.servers(); ++s)
    append_available(clock, s, job, limit, options.overestimate, gpus);
  if (options.order == GpuOrder::literal) sort_least_accumulated(clock, gpus);
  if (options.order == GpuOrder::open_first) sort_open_first(clock, gpus);
  return first_of(std::move(gpus), clock, job);
}

Gpus least_busy_gpus(const BatchClock& clock, std::size_t job, double limit,
                     const SjfBcoOptions& options) {
  std::vector<double> busy(clock.servers());
  for (std::size_t s = 0; s < clock.servers(); ++s)
    busy[s] = accumulated(clock, s) / std::max(clock.batch().servers[s], 1);
  std::vector<std::size_t> order(clock.servers());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t s) { return busy[s]; });
  double wanted = options.spread * clock.batch().jobs[job].gpus;
  Gpus gpus;
  for (const std::size_t s : order) {
    if (wanted <= 0.0) break;
    wanted -= clock.batch().servers[s];
    append_available(clock, s, job, limit, options.overestimate, gpus);
  }
  sort_least_accumulated(clock, gpus);
  return first_of(std::move(gpus), clock, job);
}

}  // namespace berth::papers
