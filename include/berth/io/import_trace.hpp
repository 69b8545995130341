// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Equal machines, for a trace that does not describe its cluster.
struct EqualMachines {
  std::int64_t machines = 0;  ///< 0 .. 1,000,000
  std::string gpu_type = "GPU";
  std::int64_t gpus = 8;        ///< of a machine, 0 .. 64
  std::int64_t cpu_milli = 0;   ///< of a machine
  std::int64_t memory_mib = 0;  ///< of a machine
  std::int64_t per_rack = 16;   ///< machines of a rack, >= 1; all racks are in one pod
};

/// Racks of equal machines "m0000" .. in one pod; no machines: an empty cluster.
/// @throws InputError naming the option
model::Cluster equal_machines(const EqualMachines& options);

/// What of a trace is taken, and how.
struct TraceOptions {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  std::int64_t skip = 0;     ///< jobs left out in front, in order of submission
  std::int64_t jobs = kAll;  ///< at most so many jobs, in order of submission
  /// A job of more GPUs than this has tasks of that many and one of the rest, 1 .. 64, unless the
  /// trace names its tasks.
  std::int64_t gpus_per_task = 8;
  /// Seconds of Berth's files for one second of the trace, 1 .. 1,000,000: traces with fractions of
  /// a second keep them. Times are rounded up.
  std::int64_t units_per_second = 1;
  bool resources = false;    ///< take CPU and memory too, and jobs without GPUs
  bool preemptible = false;  ///< the jobs may be stopped and go on later
};

/// How often something happened, and on which line first.
struct TraceNote {
  std::string what;
  std::int64_t count = 0;
  std::int64_t first_line = 0;
};

/// Application of a job in a profiles file.
struct JobProfile {
  std::string profile;
  double reference = 0.0;  ///< throughput at which the job takes its duration
};

/// An imported trace.
struct TraceImport {
  model::Instance instance;  ///< the cluster given, with the queues and GPU types of the trace
  std::int64_t rows = 0;     ///< jobs in the file
  double origin = 0.0;       ///< second of the trace that is 0 here; of dates, Unix time
  std::vector<TraceNote> skipped;    ///< rows left out, by reason
  std::vector<TraceNote> changed;    ///< rows taken otherwise than they stand
  std::vector<JobProfile> profiles;  ///< by job; empty without profiles
};

/// A format of job traces: one row of the registry, one file of src/io/traces.
struct TraceFormat {
  std::string_view name;      ///< of the subcommand
  std::string_view what;      ///< one line for its help
  std::string_view file;      ///< as published
  std::string_view profiles;  ///< the second file or folder it needs; empty: none
};

/// All formats, by name.
std::span<const TraceFormat> trace_formats();

/// Reads a trace. Jobs are numbered in order of submission (ties: as in the file), with arrival and
/// not_before at submission, duration and limit in Berth's seconds. A duration of 0 becomes 1, a
/// limit below the duration the duration. Names that are given twice get a suffix.
/// `.gz` by suffix. `profiles` is for formats that need it.
/// @throws InputError with line and field, or naming the option
TraceImport import_trace(const TraceFormat& format, const std::string& path,
                         const std::string& profiles, model::Cluster cluster,
                         const TraceOptions& options);

}  // namespace berth::io
