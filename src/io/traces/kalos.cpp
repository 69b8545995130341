// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <cmath>

namespace berth::io {

/// Kalos (Shanghai AI Laboratory) in the converted form of the Acme traces: job_id, arrival_time
/// (s), num_iteration, iteration_computing_time (s), gpu_workers (machines), gpu_per_worker. A job
/// takes num_iteration x iteration_computing_time; the converter chose these so that the product
/// is the published duration, and invented networking times and tensor sizes, which are not read.
void read_kalos_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto id = csv.need("job_id");
  const auto arrival = csv.need("arrival_time");
  const auto iterations = csv.need("num_iteration");
  const auto seconds = csv.need("iteration_computing_time");
  const auto workers = csv.need("gpu_workers");
  const auto per_worker = csv.need("gpu_per_worker");
  const auto cpus = csv.find("cpu_per_gpu_worker");
  while (csv.next()) {
    const auto submit = number_or_none(csv, arrival);
    if (!submit) csv.fail(arrival.name, "has no arrival");
    const std::int64_t tasks = count_of(csv, workers, kMaxCount);
    const double cores = cpus ? csv.amount(*cpus, 1e6) : 0.0;  // also 12.5
    jobs.add({.id = csv.name(id),
              .line = csv.line(),
              .submit = *submit,
              .duration = csv.amount(iterations, 1e12) * csv.amount(seconds, 1e9),
              .tasks = tasks,
              .gpus = tasks * count_of(csv, per_worker, model::kMaxGpusPerMachine),
              .cpu_milli = tasks * std::llround(1000.0 * cores)});
  }
}

}  // namespace berth::io
