// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

namespace berth::io {

/// Shockwave (Zheng et al., NSDI 2023): tab-separated without header, 12 fields. A job takes its
/// `duration` (s) at its scale factor (GPUs). A service level above 0 is a deadline at that many
/// times the duration, as in Gavel; -1: none. Modes accordion and gns change the batch size while
/// the job runs; the duration is that of the whole run. Names of files contain commas.
void read_shockwave_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file,
          {.separator = '\t',
           .header = {"job_type", "command", "directory", "num_steps_arg", "needs_data_dir",
                      "total_steps", "scale_factor", "mode", "priority_weight", "SLO", "duration",
                      "arrival"}});
  const auto type = csv.need("job_type");
  const auto gpus = csv.need("scale_factor");
  const auto mode = csv.need("mode");
  const auto weight = csv.need("priority_weight");
  const auto level = csv.need("SLO");
  const auto duration = csv.need("duration");
  const auto arrival = csv.need("arrival");
  while (csv.next()) {
    TraceJob job{.id = {},
                 .line = csv.line(),
                 .submit = csv.amount(arrival, 1e12),
                 .duration = csv.amount(duration, static_cast<double>(kMaxSeconds)),
                 .gpus = count_of(csv, gpus, kMaxCount),
                 .weight = csv.amount(weight, 1e6),
                 .profile = csv.name(type)};
    const auto slo = number_or_none(csv, level);
    if (slo && *slo > 0.0) job.deadline = *slo * job.duration;
    const std::string& word = csv.cell(mode);
    if (word != "static" && word != "accordion" && word != "gns") {
      csv.fail(mode.name, "expected static, accordion or gns, found " + in_quotes(word));
    }
    jobs.add(std::move(job));
  }
}

}  // namespace berth::io
