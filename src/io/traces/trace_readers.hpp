// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace_jobs.hpp"

#include <string>

/// Readers of job traces, one file each. The comment above each one's definition has the schema and
/// its source. All throw InputError with line and field.
namespace berth::io {

/// Text of a trace.
struct TraceText {
  std::string file;  ///< for messages
  std::string text;
  std::string profiles;  ///< path of the file or folder that belongs to it; empty: none
};

void read_acme_trace(const TraceText& trace, TraceJobs& jobs);
void read_batsim_trace(const TraceText& trace, TraceJobs& jobs);
void read_chronus_trace(const TraceText& trace, TraceJobs& jobs);
void read_gavel_trace(const TraceText& trace, TraceJobs& jobs);
void read_helios_trace(const TraceText& trace, TraceJobs& jobs);
void read_kalos_trace(const TraceText& trace, TraceJobs& jobs);
void read_openb_trace(const TraceText& trace, TraceJobs& jobs);
void read_pai_trace(const TraceText& trace, TraceJobs& jobs);
void read_philly_trace(const TraceText& trace, TraceJobs& jobs);
void read_philly_log(const TraceText& trace, TraceJobs& jobs);
void read_pollux_trace(const TraceText& trace, TraceJobs& jobs);
void read_sacct_trace(const TraceText& trace, TraceJobs& jobs);
void read_shockwave_trace(const TraceText& trace, TraceJobs& jobs);
void read_swf_trace(const TraceText& trace, TraceJobs& jobs);

}  // namespace berth::io
