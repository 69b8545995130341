// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/static_duration.hpp"

#include "berth/base/assert.hpp"

namespace berth::speed {

void StaticDuration::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  BERTH_EXPECT(rates.size() == running.size());
  const model::WorkloadTables& tables = workload_.tables();
  for (std::size_t i = 0; i < running.size(); ++i) {
    const model::Job& job = workload_.job(running[i].job);
    const bool timed = tables.time_of(job).duration != model::kNotGiven;  // else by its limit
    double rate =
        timed && running[i].gpu_type.valid() ? tables.speed(job, running[i].gpu_type) : 1.0;
    if (running[i].configuration >= 0) {
      const auto& choices = tables.configurations[tables.time_of(job).configurations];
      const auto chosen = static_cast<std::size_t>(running[i].configuration);
      BERTH_EXPECT(chosen < choices.size());
      rate *= choices[chosen].speed;
    }
    rates[i] = {.per_second = rate};
  }
}

}  // namespace berth::speed
