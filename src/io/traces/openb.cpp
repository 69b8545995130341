// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io {
namespace {

/// Splits "A|B" into its parts, without repeats.
std::vector<std::string> models_of(const Csv& csv, const Csv::Column& column) {
  std::vector<std::string> models;
  std::string_view list = csv.cell(column);
  while (!list.empty()) {
    const std::size_t bar = std::min(list.find('|'), list.size());
    const std::string name(list.substr(0, bar));
    list.remove_prefix(std::min(bar + 1, list.size()));
    if (name.empty() || std::ranges::find(models, name) != models.end()) continue;
    if (const std::string fault = name_fault(name); !fault.empty()) csv.fail(column.name, fault);
    models.push_back(name);
  }
  return models;
}

}  // namespace

/// Pods of Alibaba's openb cluster (Weng et al., ATC 2023) with their times: creation_time,
/// scheduled_time, deletion_time (s); a pod takes deletion - scheduled. num_gpu 0 .. 8; gpu_milli
/// below 1000 is a share of one GPU; gpu_spec are the allowed models, joined by "|", empty: any.
/// Pending pods have no scheduled_time. Files `multigpu*` have no times: use `openb` for them.
void read_openb_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto name = csv.need("name");
  const auto cpu = csv.need("cpu_milli");
  const auto memory = csv.need("memory_mib");
  const auto gpus = csv.need("num_gpu");
  const auto share = csv.need("gpu_milli");
  const auto models = csv.need("gpu_spec");
  const auto created = csv.need("creation_time");
  const auto deleted = csv.need("deletion_time");
  const auto scheduled = csv.need("scheduled_time");
  while (csv.next()) {
    const auto submit = number_or_none(csv, created);
    const auto start = number_or_none(csv, scheduled);
    const auto end = number_or_none(csv, deleted);
    if (!submit || !start || !end) {
      jobs.skip(csv.line(), "were never scheduled or have no end");
      continue;
    }
    if (*end < *start) {
      jobs.skip(csv.line(), "end before they start");
      continue;
    }
    TraceJob job{.id = csv.name(name),
                 .line = csv.line(),
                 .submit = *submit,
                 .duration = *end - *start,
                 .gpus = csv.integer(gpus, model::kMaxGpusPerMachine),
                 .cpu_milli = csv.integer(cpu, kMaxAmount),
                 .memory_mib = csv.integer(memory, kMaxAmount)};
    if (job.gpus > 0) {
      job.gpu_types = models_of(csv, models);
      const std::int64_t milli = csv.cell(share).empty() ? 0 : csv.integer(share, 1000);
      if (milli > 0 && milli < model::kGpuMilli && job.gpus > 1) {
        csv.fail(share.name, "a share is of one GPU; several GPUs are whole (1000)");
      }
      if (milli > 0 && milli < model::kGpuMilli) {
        job.gpu_milli = milli;
        job.gpus = 0;
      }
    }
    jobs.add(std::move(job));
  }
}

}  // namespace berth::io
