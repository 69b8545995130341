// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

namespace berth::io {

/// Philly (Microsoft; Jeon et al., ATC 2019) as one line a job: timestamp (local time of
/// submission), duration (s), num_gpus, cluster (virtual cluster). Not sorted; the column gpu_time
/// is duration x num_gpus.
void read_philly_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto submitted = csv.need("timestamp");
  const auto duration = csv.need("duration");
  const auto gpus = csv.need("num_gpus");
  const auto cluster = csv.find("cluster");
  while (csv.next()) {
    const auto submit = date_or_none(csv, submitted);
    const auto seconds = number_or_none(csv, duration);
    if (!submit) {
      jobs.skip(csv.line(), "have no submission");
    } else if (!seconds || *seconds < 0.0) {
      jobs.skip(csv.line(), "have no duration");
    } else {
      jobs.add({.id = {},
                .line = csv.line(),
                .submit = *submit,
                .duration = *seconds,
                .queue = cluster ? csv.name(*cluster) : std::string(),
                .gpus = count_of(csv, gpus, kMaxCount)});
    }
  }
}

}  // namespace berth::io
