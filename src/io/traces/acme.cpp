// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io {

/// Acme (Shanghai AI Laboratory; Hu et al., NSDI 2024), trace_seren.csv and trace_kalos.csv:
/// job_id, node_num, gpu_num, cpu_num, type (of the work, taken as queue), submit_time, start_time
/// and end_time with their zone (Seren +08:00, Kalos +00:00). `duration` of Kalos contains `queue`,
/// that of Seren does not, so a job takes end_time - start_time. Kalos adds mem_per_pod_GB: memory
/// of a node's part.
void read_acme_trace(const TraceText& trace, TraceJobs& jobs) {
  constexpr std::int64_t kMibPerGb = 1024;
  Csv csv(trace.text, trace.file);
  const auto id = csv.need("job_id");
  const auto nodes = csv.need("node_num");
  const auto gpus = csv.need("gpu_num");
  const auto cpus = csv.need("cpu_num");
  const auto type = csv.need("type");
  const auto submitted = csv.need("submit_time");
  const auto started = csv.need("start_time");
  const auto ended = csv.need("end_time");
  const auto memory = csv.find("mem_per_pod_GB");
  while (csv.next()) {
    const auto submit = date_or_none(csv, submitted);
    const auto start = date_or_none(csv, started);
    const auto end = date_or_none(csv, ended);
    if (!submit || !start || !end) {
      jobs.skip(csv.line(), !submit ? "have no submission" : "never started or have not ended");
      continue;
    }
    if (*end < *start) {
      jobs.skip(csv.line(), "end before they start");
      continue;
    }
    const std::int64_t tasks = count_of(csv, nodes, kMaxCount);
    const auto gigabytes = memory ? number_or_none(csv, *memory) : std::nullopt;
    jobs.add({.id = csv.name(id),
              .line = csv.line(),
              .submit = *submit,
              .duration = *end - *start,
              .queue = says_none(csv.cell(type)) ? std::string() : csv.name(type),
              .tasks = tasks,
              .gpus = count_of(csv, gpus, kMaxCount),
              .cpu_milli = 1000 * count_of(csv, cpus, kMaxAmount / 1000),
              .memory_mib = static_cast<std::int64_t>(gigabytes.value_or(0.0)) * kMibPerGb *
                            std::max<std::int64_t>(tasks, 1)});
  }
}

}  // namespace berth::io
