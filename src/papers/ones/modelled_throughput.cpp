// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "berth/base/assert.hpp"
#include "berth/papers/berth_elastic.hpp"

namespace berth::papers {
namespace {

double samples_on(const TrainingJob& training, std::int32_t gpus) {
  const auto batch = speed::ones_batch(gpus, training.base_batch, 1.0, training.rate_ratio);
  return static_cast<double>(std::max<std::int64_t>(1, batch.per_gpu) * gpus);
}

}  // namespace

std::vector<double> modelled_throughput(std::span<const TrainingMonitor::Measured> measured,
                                        const TrainingJob& training, std::int32_t largest,
                                        std::int32_t per_machine) {
  BERTH_EXPECT(!measured.empty());
  const TrainingMonitor::Measured& first = measured.front();
  const double per_sample = first.gpus / first.throughput;  // of one GPU
  double local = 0.0, several = 0.0;
  for (const auto& [gpus, throughput] : measured) {
    const double samples = samples_on(training, gpus);
    const double left = std::max(0.0, samples / throughput - per_sample * samples / gpus);
    if (gpus <= per_machine) local = left;
    several = left;
  }
  if (measured.size() == 1) largest = std::min(largest, std::max(per_machine, first.gpus));
  std::vector<double> rates{0.0};
  for (std::int32_t gpus = 1; gpus <= largest; ++gpus) {
    const double samples = samples_on(training, gpus);
    const double reduce = gpus == 1 ? 0.0 : (gpus <= per_machine ? local : several);
    rates.push_back(samples / (per_sample * samples / gpus + reduce));
  }
  return rates;
}

}  // namespace berth::papers
