// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/parameter_server.hpp"

#include "positive.hpp"

#include <algorithm>

namespace berth::speed {

bool on_one_machine(const RunningJob& running) { return running.machines.size() == 1; }

ParameterServerModel::ParameterServerModel(std::span<const ParameterServerJob> jobs,
                                           const Model& others)
    : jobs_(jobs), others_(&others) {
  for (const ParameterServerJob& job : jobs) {
    if (job.reference == 0.0) continue;
    check_amounts("parameter servers",
                  {job.batch, job.workers_per_server, job.internal_gbps, job.external_gbps,
                   job.reference, job.seconds(std::min(job.internal_gbps, job.external_gbps))},
                  {job.seconds_per_sample, job.gradient_gbit});
  }
}

void ParameterServerModel::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  for (std::size_t i = 0; i < running.size(); ++i) {
    ParameterServerJob job = jobs_[running[i].job.index()];
    std::int64_t workers = 0;
    std::int64_t servers = 0;
    for (const MachineTasks& on : running[i].machines) {
      workers += on.workers;
      servers += on.servers;
    }
    if (job.reference == 0.0 || servers == 0) continue;
    if (running[i].batch > 0) job.batch = static_cast<double>(running[i].batch);
    const double gbps = on_one_machine(running[i]) ? job.internal_gbps : job.external_gbps;
    rates[i] = {.per_second = static_cast<double>(workers) / job.seconds(gbps) / job.reference};
  }
}

}  // namespace berth::speed
