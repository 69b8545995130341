// SPDX-License-Identifier: Apache-2.0
#include "trace_json.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io {
namespace {

/// Runs of a job of the log.
struct PhillyRuns {
  double seconds = 0.0;  ///< of all attempts that started and ended
  std::int64_t ended = 0, endless = 0;
  std::vector<std::int64_t> gpus;  ///< by machine, of the last attempt that names machines
  bool resized = false;            ///< an earlier attempt had another number of GPUs
};

std::vector<std::int64_t> machines_of(const JsonAt& detail) {
  static constexpr std::string_view keys[] = {"ip", "gpus"};
  std::vector<std::int64_t> gpus;
  detail.each([&](const JsonAt& machine) {
    machine.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
      if (key != 1) return;
      gpus.push_back(static_cast<std::int64_t>(value.each([](const JsonAt&) {})));
    });
  });
  return gpus;
}

std::int64_t philly_sum(const std::vector<std::int64_t>& gpus) {
  std::int64_t sum = 0;
  for (const std::int64_t n : gpus) sum += n;
  return sum;
}

void add_attempt(const JsonAt& attempt, PhillyRuns& runs) {
  static constexpr std::string_view keys[] = {"start_time", "end_time", "detail"};
  std::optional<double> start, end;
  attempt.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
    if (key == 0) start = date_or_none(value);
    if (key == 1) end = date_or_none(value);
    if (key != 2) return;
    auto gpus = machines_of(value);
    if (gpus.empty()) return;
    runs.resized =
        runs.resized || (!runs.gpus.empty() && philly_sum(gpus) != philly_sum(runs.gpus));
    runs.gpus = std::move(gpus);
  });
  if (start && end && *end >= *start) {
    runs.seconds += *end - *start;
    ++runs.ended;
  } else if (start) {
    ++runs.endless;
  }
}

/// Takes a job of the log, or says why not.
void add_logged(const PhillyRuns& runs, std::optional<double> submit, TraceJob job,
                TraceJobs& jobs) {
  if (!submit) return jobs.skip(job.line, "have no submission");
  if (runs.ended == 0) {
    return jobs.skip(job.line, runs.endless > 0 ? "have not ended" : "never started");
  }
  if (runs.endless > 0) jobs.note(job.line, "attempts without an end: not counted");
  if (runs.ended > 1) jobs.note(job.line, "several attempts: one run of all their time");
  if (runs.resized) jobs.note(job.line, "attempts of different size: the last one's GPUs");
  job.submit = *submit;
  job.duration = runs.seconds;
  job.gpus = philly_sum(runs.gpus);
  const bool equal =
      std::ranges::all_of(runs.gpus, [&](std::int64_t n) { return n == runs.gpus.front(); });
  job.tasks = equal && job.gpus > 0 ? static_cast<std::int64_t>(runs.gpus.size()) : 0;
  jobs.add(std::move(job));
}

}  // namespace

/// Philly's original log (Microsoft; Jeon et al., ATC 2019), cluster_job_log: a list of jobs with
/// jobid, vc, submitted_time and attempts (start_time, end_time, detail: machines and their GPUs).
/// The gang are all machines of an attempt. A failed job is tried again: the next attempt.
/// `attempts` may be empty and a time null, empty or "None". Rows are numbers of records.
void read_philly_log(const TraceText& trace, TraceJobs& jobs) {
  static constexpr std::string_view keys[] = {"jobid", "vc", "submitted_time", "attempts"};
  const JsonDocument document(trace.text, trace.file);
  std::int64_t record = 0;
  document.root().each([&](const JsonAt& element) {
    TraceJob job{.id = {}, .line = ++record};
    PhillyRuns runs;
    std::optional<double> submit;
    const std::uint64_t seen =
        element.known_fields(keys, [&](std::size_t key, const JsonAt& value) {
          if (key == 0) job.id = value.name();
          if (key == 1) job.queue = value.name();
          if (key == 2) submit = date_or_none(value);
          if (key == 3) value.each([&](const JsonAt& attempt) { add_attempt(attempt, runs); });
        });
    element.need(keys, std::size(keys), seen);
    add_logged(runs, submit, std::move(job), jobs);
  });
}

}  // namespace berth::io
