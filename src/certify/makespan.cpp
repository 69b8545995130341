// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/makespan.hpp"

#include "job_number.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "berth/base/int128.hpp"

namespace berth::certify {
namespace {

constexpr double kRateSlack = 1e-9;
constexpr std::int64_t kMostIterations = std::int64_t{1} << 40;

/// Fewest servers that hold so many GPUs, the largest first; 0: all together do not.
std::size_t fewest_servers(const std::vector<std::int32_t>& largest_first, std::int32_t gpus) {
  std::int64_t held = 0;
  for (std::size_t s = 0; s < largest_first.size(); ++s) {
    held += largest_first[s];
    if (held >= gpus) return s + 1;
  }
  return 0;
}

/// Slots that the job runs for at least. @param fewest  servers
std::int64_t run_slots(const RingGang& job, std::size_t fewest, std::size_t number) {
  double least = job.slots.back();
  for (std::size_t n = fewest; n <= job.slots.size(); ++n)
    least = std::min(least, job.slots[n - 1]);
  const double in_slot = std::floor(1.0 / least * (1.0 + kRateSlack));
  expect_of_job(in_slot >= 1.0, "slots", number, "has iterations longer than a slot");
  const auto whole = static_cast<std::int64_t>(std::min(in_slot, 0x1p40));
  return (job.iterations + whole - 1) / whole;
}

}  // namespace

std::int64_t prove_makespan(const RingGangs& gangs) {
  std::vector<std::int32_t> servers = gangs.servers;
  std::ranges::sort(servers, std::greater{});
  Int128 all_gpus = 0, gpu_slots = 0;
  for (const std::int32_t gpus : servers) all_gpus += std::max(gpus, 0);
  std::int64_t longest = 0;
  for (std::size_t j = 0; j < gangs.jobs.size(); ++j) {
    const RingGang& job = gangs.jobs[j];
    const std::size_t fewest = fewest_servers(servers, job.gpus);
    expect_of_job(job.gpus >= 1 && fewest > 0, "gpus", j,
                  "has GPUs that the cluster does not have");
    expect_of_job(job.iterations >= 1 && job.iterations <= kMostIterations, "iterations", j,
                  "has iterations out of range: 1 to 2^40");
    expect_of_job(
        !job.slots.empty() && std::ranges::all_of(job.slots, [](double s) { return s > 0.0; }),
        "slots", j, "has no times of an iteration above 0");
    const std::int64_t run = run_slots(job, fewest, j);
    longest = std::max(longest, run);
    gpu_slots += Int128{run} * job.gpus;
  }
  if (gangs.jobs.empty()) return 0;
  return std::max(longest, static_cast<std::int64_t>((gpu_slots + all_gpus - 1) / all_gpus));
}

}  // namespace berth::certify
