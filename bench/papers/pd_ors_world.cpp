// SPDX-License-Identifier: Apache-2.0
#include "pd_ors_world.hpp"

#include "job_draws.hpp"

#include <algorithm>
#include <utility>

#include "berth/papers/pd_ors/pooled_bound.hpp"
#include "berth/speed/parameter_server.hpp"

namespace berth::bench {
namespace {

using papers::pd_ors::TrainingJob;

/// Twice as many jobs arrive in odd slots as in even ones.
std::int32_t draw_arrival(JobDraws& draws, std::int32_t slots) {
  const std::int32_t pair = draws.whole(0, std::max(slots / 2, 1) - 1);
  const std::int32_t odd = draws.whole(0, 2) < 2 ? 1 : 0;
  return std::min(2 * pair + odd, slots - 1);
}

void draw_utility(JobDraws& draws, const SlotWorldOptions& options, TrainingJob& job) {
  job.c1 = draws.real(1.0, 100.0);
  job.c3 = draws.real(1.0, 15.0);
  const double kind = draws.real(0.0, 1.0);
  if (kind < options.insensitive) return;
  job.c2 =
      kind < options.insensitive + options.sensitive ? draws.real(0.01, 1.0) : draws.real(4.0, 6.0);
}

TrainingJob draw_job(JobDraws draws, const SlotWorldOptions& options) {
  TrainingJob job;
  job.arrival = draw_arrival(draws, options.slots);
  job.samples = options.work * draws.whole(50, 200) * draws.whole(20'000, 500'000);
  job.max_workers = draws.whole(1, 200);
  job.workers_per_server = draws.whole(1, 10);
  speed::ParameterServerJob speed;
  speed.seconds_per_sample = draws.real(1e-5, 1e-4) * options.slot_seconds;
  speed.gradient_gbit = draws.real(30.0, 575.0) * 8e-3;
  speed.batch = job.max_workers;
  speed.workers_per_server = job.workers_per_server;
  job.external_cost = speed.seconds(draws.real(0.1, 5.0)) / options.slot_seconds;
  job.internal_cost = speed.seconds(draws.real(10.0, 20.0)) / options.slot_seconds;
  for (auto* demand : {&job.worker, &job.server}) {
    const double gpus = demand == &job.worker ? draws.whole(0, 4) : 0;
    *demand = {gpus, static_cast<double>(draws.whole(1, 10)),
               static_cast<double>(draws.whole(2, 32)), static_cast<double>(draws.whole(5, 10))};
  }
  draw_utility(draws, options, job);
  return job;
}

}  // namespace

SlotWorld make_slot_world(const SlotWorldOptions& options, std::uint64_t seed) {
  SlotWorld world;
  world.instance.slots = options.slots;
  world.instance.resources = 4;
  for (std::size_t h = 0; h < options.machines; ++h)
    world.instance.capacity.insert(world.instance.capacity.end(), {8.0, 72.0, 192.0, 500.0});
  auto& jobs = world.instance.jobs;
  for (std::size_t j = 0; j < options.jobs; ++j) jobs.push_back(draw_job({seed, j}, options));
  std::ranges::stable_sort(jobs, {}, &TrainingJob::arrival);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    world.fixed_workers.push_back(
        std::min(jobs[j].max_workers, JobDraws(seed, options.jobs + j).whole(1, 30)));
    const auto rate = pooled_rate(world.instance, jobs[j]);
    const double most = (rate.near_samples + rate.far_samples) * (options.slots - jobs[j].arrival);
    if (most >= jobs[j].samples) world.feasible += 1.0 / static_cast<double>(jobs.size());
  }
  return world;
}

}  // namespace berth::bench
