// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <array>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

/// Fields of the Standard Workload Format, in order.
constexpr std::array<const char*, 18> kSwfFields{"job",
                                                 "submit",
                                                 "wait",
                                                 "run",
                                                 "procs",
                                                 "cpu",
                                                 "memory",
                                                 "requested procs",
                                                 "requested time",
                                                 "requested memory",
                                                 "status",
                                                 "user",
                                                 "group",
                                                 "executable",
                                                 "queue",
                                                 "partition",
                                                 "preceding job",
                                                 "think time"};

/// Numbers of a line; fields that are missing at its end are -1, as unknown ones.
std::array<double, 18> swf_fields(const TraceText& trace, std::int64_t line,
                                  std::string_view text) {
  std::array<double, 18> fields;
  fields.fill(-1.0);
  for (std::size_t field = 0; !(text = trimmed(text)).empty(); ++field) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const auto fail = [&](const char* name, const std::string& problem) {
      throw InputError({.file = trace.file, .line = line, .field = name}, problem);
    };
    if (field == fields.size()) fail("", "has more than 18 fields");
    if (!read_number(text.substr(0, end), fields[field])) {
      fail(kSwfFields[field], "expected a number, found " + in_quotes(text.substr(0, end)));
    }
    text.remove_prefix(end);
  }
  return fields;
}

void read_swf_job(const TraceText& trace, std::int64_t line, std::string_view text,
                  TraceJobs& jobs) {
  enum { job, submit, wait, run, procs, requested_procs = 7, requested_time = 8, queue = 14 };
  const auto f = swf_fields(trace, line, text);
  const double processors = f[procs] > 0.0 ? f[procs] : f[requested_procs];
  if (f[submit] < 0.0 || f[run] < 0.0 || processors <= 0.0) {
    jobs.skip(line, f[submit] < 0.0 ? "have no submission"
                    : f[run] < 0.0  ? "have no run time"
                                    : "have no processors");
    return;
  }
  if (processors > static_cast<double>(kMaxCount)) {
    throw InputError({.file = trace.file, .line = line, .field = kSwfFields[procs]},
                     "are absurdly many");
  }
  TraceJob added{.id = std::to_string(static_cast<std::int64_t>(f[job])),
                 .line = line,
                 .submit = f[submit],
                 .duration = f[run],
                 .gpus = static_cast<std::int64_t>(processors)};
  if (f[requested_time] > 0.0) added.limit = f[requested_time];
  if (f[queue] >= 0.0) {
    added.queue = "queue-" + std::to_string(static_cast<std::int64_t>(f[queue]));
  }
  jobs.add(std::move(added));
}

}  // namespace

/// Standard Workload Format (Feitelson's archive): 18 numbers a job, `;` begins a comment, -1 is
/// unknown. Allocated processors (else those asked for) count as GPUs; the requested time is the
/// limit; times in seconds.
void read_swf_trace(const TraceText& trace, TraceJobs& jobs) {
  std::string_view rest = trace.text;
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    text = trimmed(text.substr(0, text.find(';')));
    if (!text.empty()) read_swf_job(trace, line, text, jobs);
  }
}

}  // namespace berth::io
