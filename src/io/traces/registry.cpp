// SPDX-License-Identifier: Apache-2.0
#include "trace_readers.hpp"

#include <array>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::io {
namespace {

using TraceReader = void (*)(const TraceText&, TraceJobs&);

struct TraceFormatRow {
  TraceFormat format;
  TraceReader read;
};

/// One row a format, by name.
constexpr std::array kTraceRows{
    TraceFormatRow{{"acme", "Acme 2023 (Seren, Kalos) as published", "trace_seren.csv", ""},
                   read_acme_trace},
    TraceFormatRow{{"batsim", "Batsim workload; profiles of delay", "workload.json", ""},
                   read_batsim_trace},
    TraceFormatRow{
        {"chronus", "Chronus: Philly-like jobs with deadlines", "trace_job_Philly_MIX2.csv", ""},
        read_chronus_trace},
    TraceFormatRow{{"gavel", "Gavel: steps of job types", "*.trace", "simulation_throughputs.json"},
                   read_gavel_trace},
    TraceFormatRow{{"helios", "Helios 2020 (SenseTime)", "cluster_log.csv", ""}, read_helios_trace},
    TraceFormatRow{{"kalos", "Kalos 2023 in the converted form", "converted_kalos_trace.csv", ""},
                   read_kalos_trace},
    TraceFormatRow{{"openb-trace", "Alibaba openb 2023: pods with their times",
                    "openb_pod_list_default.csv", ""},
                   read_openb_trace},
    TraceFormatRow{{"pai", "Alibaba PAI 2020, sampled jobs", "pai_1k.csv", ""}, read_pai_trace},
    TraceFormatRow{{"philly", "Philly 2017 (Microsoft), one line a job", "philly.csv", ""},
                   read_philly_trace},
    TraceFormatRow{
        {"philly-log", "Philly 2017, the original log with attempts", "cluster_job_log", ""},
        read_philly_log},
    TraceFormatRow{{"pollux", "Pollux: applications with GPUs and batch size", "workload-1.csv",
                    "folder with one folder for each application"},
                   read_pollux_trace},
    TraceFormatRow{{"sacct", "Slurm accounting as CSV (NREL Eagle)", "sample_eagle_data.csv", ""},
                   read_sacct_trace},
    TraceFormatRow{{"shockwave", "Shockwave: jobs with changing batch size", "*.trace", ""},
                   read_shockwave_trace},
    TraceFormatRow{{"swf", "Standard Workload Format", "*.swf", ""}, read_swf_trace},
};

constexpr auto kTraceFormats = [] {
  std::array<TraceFormat, kTraceRows.size()> formats;
  for (std::size_t i = 0; i < formats.size(); ++i) formats[i] = kTraceRows[i].format;
  return formats;
}();

TraceReader reader_of(const TraceFormat& format) {
  for (const TraceFormatRow& row : kTraceRows) {
    if (row.format.name == format.name) return row.read;
  }
  BERTH_EXPECT(false);
  return nullptr;
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kTraceFormats; }

TraceImport import_trace(const TraceFormat& format, const std::string& path,
                         const std::string& profiles, model::Cluster cluster,
                         const TraceOptions& options) {
  if (!format.profiles.empty() && profiles.empty()) {
    throw InputError({.file = "", .line = 0, .field = "profiles"},
                     "this format needs a second file", std::string(format.profiles));
  }
  TraceJobs jobs;
  reader_of(format)({.file = path, .text = read_file(path), .profiles = profiles}, jobs);
  TraceImport import;
  import.rows = static_cast<std::int64_t>(jobs.jobs().size()) + jobs.skipped();
  import.instance.cluster = std::move(cluster);
  import.instance.workload = make_workload(jobs, options, path, import.instance.cluster);
  if (!jobs.jobs().empty()) import.origin = jobs.jobs().front().submit;
  import.skipped = jobs.take_skipped();
  import.changed = jobs.take_changed();
  for (const TraceJob& job : jobs.jobs()) {
    if (job.throughput <= 0.0) continue;
    import.profiles.resize(jobs.jobs().size());
    import.profiles[static_cast<std::size_t>(&job - jobs.jobs().data())] = {job.profile,
                                                                            job.throughput};
  }
  return import;
}

}  // namespace berth::io
