// SPDX-License-Identifier: Apache-2.0
#include "pollux_profile.hpp"
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <map>

namespace berth::io {

/// Workload of Pollux (Qiao et al., OSDI 2021): name, time (s), application, num_replicas (GPUs),
/// batch_size (of all GPUs). A job takes the iterations of its training curve at its batch size
/// times the seconds of a step on the fewest nodes; curves and steps are in a folder that has one
/// folder for each application (pollux_profile.hpp).
void read_pollux_trace(const TraceText& trace, TraceJobs& jobs) {
  constexpr std::int64_t kMaxSamples = 1 << 30;  // of a batch, a guard
  Csv csv(trace.text, trace.file);
  const auto name = csv.need("name");
  const auto time = csv.need("time");
  const auto application = csv.need("application");
  const auto replicas = csv.need("num_replicas");
  const auto batch = csv.need("batch_size");
  std::map<std::string, std::optional<PolluxProfile>> profiles;
  while (csv.next()) {
    const std::string& wanted = csv.name(application);
    if (wanted.find_first_of("/\\.") != std::string::npos) {
      csv.fail(application.name, "is no name of a folder");
    }
    const auto [found, fresh] = profiles.try_emplace(wanted);
    if (fresh) found->second = read_pollux_profile(trace.profiles + "/" + wanted);
    if (!found->second) {
      jobs.skip(csv.line(), "have an application without profile: " + wanted);
      continue;
    }
    TraceJob job{.id = csv.name(name),
                 .line = csv.line(),
                 .submit = csv.amount(time, 1e12),
                 .gpus = csv.integer(replicas, kMaxCount),
                 .profile = wanted};
    const std::int64_t samples = csv.integer(batch, kMaxSamples);
    if (job.gpus == 0 || samples == 0) csv.fail(replicas.name, "trains on no GPU or no sample");
    const auto seconds = found->second->step_seconds(static_cast<std::int32_t>(job.gpus), samples);
    if (!seconds) {
      jobs.skip(csv.line(), "have a number of GPUs that was not measured");
      continue;
    }
    job.duration = found->second->iterations(samples) * *seconds;
    job.throughput = static_cast<double>(samples) / *seconds;
    jobs.add(std::move(job));
  }
}

}  // namespace berth::io
