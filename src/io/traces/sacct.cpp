// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io {

/// Accounting of a Slurm cluster as CSV (NREL's Eagle): job_id, partition, wallclock_req (s, the
/// limit), nodes_req, processors_req (all nodes), gpus_req (all nodes), mem_req (MiB, all nodes),
/// submit_time, start_time and end_time (local). Jobs of an array share their submission.
/// Processors are threads: 72 on a node of 36 cores.
void read_sacct_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto id = csv.need("job_id");
  const auto partition = csv.need("partition");
  const auto limit = csv.need("wallclock_req");
  const auto nodes = csv.need("nodes_req");
  const auto processors = csv.need("processors_req");
  const auto gpus = csv.need("gpus_req");
  const auto memory = csv.need("mem_req");
  const auto submitted = csv.need("submit_time");
  const auto started = csv.need("start_time");
  const auto ended = csv.need("end_time");
  while (csv.next()) {
    const auto submit = date_or_none(csv, submitted);
    const auto start = date_or_none(csv, started);
    const auto end = date_or_none(csv, ended);
    if (!submit || !start || !end || *end < *start) {
      jobs.skip(csv.line(), !submit ? "have no submission" : "never started or have not ended");
      continue;
    }
    const auto megabytes = number_or_none(csv, memory);
    jobs.add({.id = csv.name(id),
              .line = csv.line(),
              .submit = *submit,
              .duration = *end - *start,
              .limit = number_or_none(csv, limit),
              .queue = csv.name(partition),
              .tasks = count_of(csv, nodes, kMaxCount),
              .gpus = says_none(csv.cell(gpus)) ? 0 : count_of(csv, gpus, kMaxCount),
              .cpu_milli = 1000 * count_of(csv, processors, kMaxCount),
              .memory_mib = static_cast<std::int64_t>(std::max(megabytes.value_or(0.0), 0.0))});
  }
}

}  // namespace berth::io
