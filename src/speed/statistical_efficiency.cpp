// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/statistical_efficiency.hpp"

#include "positive.hpp"

#include <algorithm>
#include <cmath>

namespace berth::speed {

double IterationTime::seconds(double batch, std::int32_t gpus, std::int32_t machines) const {
  const double compute = compute_fixed + compute_per_sample * batch / gpus;
  if (gpus == 1) return compute;
  const double further = gpus - 2;
  const double sync = machines == 1 ? sync_local_fixed + sync_local_per_gpu * further
                                    : sync_fixed + sync_per_gpu * further;
  return std::pow(std::pow(compute, overlap) + std::pow(sync, overlap), 1.0 / overlap);
}

ElasticBatchModel::ElasticBatchModel(std::span<const ElasticBatchJob> jobs, const Model& others)
    : jobs_(jobs), others_(&others) {
  constexpr double kMaxOverlap = 10.0;
  constexpr const char* model = "elastic batches";
  for (const ElasticBatchJob& job : jobs) {
    if (job.reference == 0.0) continue;
    const IterationTime& t = job.time;
    check_amounts(
        model,
        {job.smallest_batch, job.batch, job.reference, t.compute_fixed + t.compute_per_sample},
        {t.compute_fixed, t.compute_per_sample, t.sync_local_fixed, t.sync_local_per_gpu,
         t.sync_fixed, t.sync_per_gpu, t.overlap - 1.0, kMaxOverlap - t.overlap});
    if (job.noise.empty() || job.noise.front().work != 0.0 ||
        !std::ranges::is_sorted(job.noise, {}, &NoisePoint::work)) {
      throw std::invalid_argument("elastic batches: noise points ascend from work 0");
    }
    for (const NoisePoint& point : job.noise) check_amounts(model, {}, {point.noise_scale});
  }
}

void ElasticBatchModel::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const ElasticBatchJob& job = jobs_[running[i].job.index()];
    std::int32_t gpus = 0;
    std::int32_t machines = 0;
    for (const MachineTasks& on : running[i].machines) {
      gpus += on.gpus;
      machines += on.gpus > 0 ? 1 : 0;
    }
    if (job.reference == 0.0 || gpus == 0) continue;
    const double batch = running[i].batch > 0 ? static_cast<double>(running[i].batch) : job.batch;
    const auto next = std::ranges::upper_bound(job.noise, running[i].work, {}, &NoisePoint::work);
    const double noise = (next == job.noise.begin() ? next : std::prev(next))->noise_scale;
    const double goodput = batch / job.time.seconds(batch, gpus, machines) *
                           statistical_efficiency(noise, job.smallest_batch, batch);
    rates[i] = {.per_second = goodput / job.reference};
    if (next != job.noise.end()) rates[i].until_work = next->work;
  }
}

OnesBatch ones_batch(std::int64_t gpus, std::int64_t base_batch, double base_rate,
                     double max_rate) {
  const double rate = static_cast<double>(gpus) * base_rate;
  if (rate <= max_rate) return {.per_gpu = base_batch, .learning_rate = rate};
  const auto batch =
      static_cast<std::int64_t>(std::floor(static_cast<double>(base_batch) * max_rate / base_rate));
  return {.per_gpu = batch / gpus, .learning_rate = max_rate};
}

}  // namespace berth::speed
