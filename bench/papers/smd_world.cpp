// SPDX-License-Identifier: Apache-2.0
#include "smd_world.hpp"

#include "job_draws.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::bench {
namespace {

using papers::smd::SmdInstance;
using papers::smd::SmdJob;

double whole(JobDraws& draws, std::int32_t low, std::int32_t high) {
  return draws.whole(low, high);
}

speed::OverlapJob overlap_job(JobDraws& draws, bool synchronous) {
  constexpr double kMillisecond = 1e-3;
  speed::OverlapJob job;
  std::vector<speed::Layer> layers(static_cast<std::size_t>(whole(draws, 10, 100)));
  for (speed::Layer& layer : layers) {
    layer.backward = draws.real(1, 300) * kMillisecond;
    layer.forward = draws.real(1, 500) * kMillisecond;
    layer.transfer = draws.real(80, 500) * kMillisecond;
    job.backward += layer.backward;
    job.forward += layer.forward;
  }
  const speed::WaitFree overlap = speed::wait_free(layers);
  job.backward_factor = overlap.backward_factor;
  job.transfer_factor = overlap.transfer_factor;
  const double worker_batch = whole(draws, 10, 100);
  const double workers = whole(draws, 1, 100);
  job.batch = synchronous ? workers * worker_batch : worker_batch;
  job.model_gbit = draws.real(30, 575) * 8e-3;
  job.server_gbps = draws.real(5, 20);
  job.worker_overhead = draws.real(3, 4);
  job.server_overhead = draws.real(0, 0.01);
  const double sending = draws.real(0.01, 1);
  if (!synchronous) job.sending_workers = sending;
  return job;
}

SmdJob smd_job(JobDraws draws, const SmdSetting& setting) {
  SmdJob job;
  job.speed = overlap_job(draws, setting.synchronous);
  job.iterations = whole(draws, 50, 200);
  job.worker = {whole(draws, 0, 4), whole(draws, 1, 10), whole(draws, 2, 32), whole(draws, 5, 10)};
  job.server = {0, whole(draws, 1, 10), whole(draws, 2, 32), whole(draws, 5, 10)};
  const double machines = whole(draws, 1, 20);
  const MachineSize& m = setting.machine;
  job.limit = {machines * m.gpus, machines * m.vcpus, machines * m.memory_gb,
               machines * m.storage_gb};
  job.c1 = draws.real(1, 100);
  job.c2 = draws.real(4, 6);
  job.c3 = draws.real(1, 15);
  return job;
}

}  // namespace

SmdInstance smd_instance(const SmdSetting& setting, std::uint64_t seed) {
  SmdInstance instance;
  instance.capacity = {600 * setting.units, 3400 * setting.units, 1400 * setting.units,
                       1200 * setting.units};
  std::vector<double> times;
  for (std::size_t i = 0; i < setting.jobs; ++i) {
    instance.jobs.push_back(smd_job(JobDraws(seed, i), setting));
    const SmdJob& job = instance.jobs.back();
    const double seconds = completion_seconds(job, papers::smd::fastest_crew(job));
    if (seconds < kInfinity) times.push_back(seconds);
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  instance.time_unit = times[times.size() / 2] / setting.median_time;
  return instance;
}

}  // namespace berth::bench
