// SPDX-License-Identifier: Apache-2.0
#include "gavel_throughputs.hpp"
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

namespace berth::io {
namespace {

/// GPU types to measure durations on, the first that the job fits on.
constexpr const char* kGavelReference[] = {"v100", "p100", "k80"};

/// Sets duration, speeds and profile by the steps that the job has to do. False: it fits nowhere.
bool set_gavel_times(const GavelThroughputs& table, const std::string& type, double steps,
                     TraceJob& job) {
  const GavelThroughputs::Key key{type, static_cast<std::int32_t>(job.gpus)};
  for (const char* reference : kGavelReference) {
    job.throughput = table.at(reference, key);
    if (job.throughput > 0.0) break;
  }
  if (job.throughput == 0.0) return false;
  job.duration = steps / job.throughput;
  job.profile = type;
  for (const auto& [gpu_type, rows] : table.consolidated) {
    const double speed = table.at(gpu_type, key) / job.throughput;
    if (speed != 1.0) job.speeds.emplace_back(gpu_type, speed);
  }
  return true;
}

}  // namespace

/// Trace of Gavel (Narayanan et al., OSDI 2020): tab-separated without header: job_type, command,
/// num_steps_arg, needs_data_dir, total_steps, arrival (s), scale factor (GPUs). A job takes
/// total_steps / throughput of its job type and number of GPUs on v100 (where it does not fit:
/// p100, k80); its speeds are relative to that. Throughputs are in the second file.
void read_gavel_trace(const TraceText& trace, TraceJobs& jobs) {
  const GavelThroughputs table = read_gavel_throughputs(trace.profiles);
  Csv csv(trace.text, trace.file,
          {.separator = '\t',
           .header = {"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps",
                      "arrival", "scale_factor"}});
  const auto type = csv.need("job_type");
  const auto steps = csv.need("total_steps");
  const auto arrival = csv.need("arrival");
  const auto gpus = csv.need("scale_factor");
  while (csv.next()) {
    TraceJob job{.id = {},
                 .line = csv.line(),
                 .submit = csv.amount(arrival, 1e12),
                 .gpus = count_of(csv, gpus, kMaxCount)};
    if (set_gavel_times(table, csv.name(type), csv.amount(steps, 1e15), job)) {
      jobs.add(std::move(job));
    } else {
      jobs.skip(csv.line(), "have a job type and number of GPUs without throughput");
    }
  }
}

}  // namespace berth::io
