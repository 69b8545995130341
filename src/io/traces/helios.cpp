// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

namespace berth::io {

/// Helios (SenseTime; Hu et al., SC 2021), cluster_log.csv: job_id, vc, gpu_num, cpu_num, node_num,
/// submit_time (local time), duration (s, without queueing). Jobs that never started have no
/// start_time, those that have not ended no end_time.
void read_helios_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto id = csv.need("job_id");
  const auto vc = csv.need("vc");
  const auto gpus = csv.need("gpu_num");
  const auto cpus = csv.need("cpu_num");
  const auto nodes = csv.need("node_num");
  const auto submitted = csv.need("submit_time");
  const auto started = csv.need("start_time");
  const auto duration = csv.need("duration");
  while (csv.next()) {
    const auto submit = date_or_none(csv, submitted);
    const auto seconds = number_or_none(csv, duration);
    if (!submit) {
      jobs.skip(csv.line(), "have no submission");
    } else if (!date_or_none(csv, started)) {
      jobs.skip(csv.line(), "never started");
    } else if (!seconds || *seconds < 0.0) {
      jobs.skip(csv.line(), "have no duration");
    } else {
      jobs.add({.id = csv.name(id),
                .line = csv.line(),
                .submit = *submit,
                .duration = *seconds,
                .queue = csv.name(vc),
                .tasks = count_of(csv, nodes, kMaxCount),
                .gpus = count_of(csv, gpus, kMaxCount),
                .cpu_milli = 1000 * count_of(csv, cpus, kMaxAmount / 1000)});
    }
  }
}

}  // namespace berth::io
