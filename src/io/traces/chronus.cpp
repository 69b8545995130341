// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"
#include "trace_cells.hpp"
#include "trace_readers.hpp"
#include "words.hpp"

#include <algorithm>

namespace berth::io {
namespace {

constexpr double kMinute = 60.0;  // seconds

/// Numbers joined by "-".
std::vector<double> dashed_numbers(const Csv& csv, const Csv::Column& column) {
  std::vector<double> numbers;
  std::string_view list = csv.cell(column);
  while (!list.empty()) {
    const std::size_t dash = std::min(list.find('-'), list.size());
    double number = 0.0;
    if (!read_number(list.substr(0, dash), number) || number < 0.0) {
      csv.fail(column.name,
               "expected numbers joined by \"-\", found " + in_quotes(csv.cell(column)));
    }
    numbers.push_back(number);
    list.remove_prefix(std::min(dash + 1, list.size()));
  }
  return numbers;
}

/// What of the first value is left after each time (minutes from submission).
std::vector<TraceValueStep> steps_of(const Csv& csv, const Csv::Column& column,
                                     const std::vector<double>& times,
                                     const std::vector<double>& values) {
  if (times.empty() || times.size() != values.size() || values.front() <= 0.0) {
    csv.fail(column.name, "expected as many values as times, the first above 0");
  }
  std::vector<TraceValueStep> steps;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0 && (times[i] <= times[i - 1] || values[i] > values[i - 1])) {
      csv.fail(column.name, "times ascend and values never rise");
    }
    steps.push_back({.seconds = times[i] * kMinute, .factor = values[i] / values.front()});
  }
  return steps;
}

}  // namespace

/// Chronus (Gao et al., SoCC 2021), trace_job_Philly_MIX2.csv: job_id, user (taken as queue),
/// num_gpu, submit_time, duration and expect_time_list in minutes, expect_value_list, job_type:
/// strict (one hard deadline), soft (a value by time of completion) or best (no deadline).
/// Expected times count from submission. Not sorted.
void read_chronus_trace(const TraceText& trace, TraceJobs& jobs) {
  Csv csv(trace.text, trace.file);
  const auto id = csv.need("job_id");
  const auto user = csv.need("user");
  const auto gpus = csv.need("num_gpu");
  const auto submitted = csv.need("submit_time");
  const auto duration = csv.need("duration");
  const auto times = csv.need("expect_time_list");
  const auto values = csv.need("expect_value_list");
  const auto type = csv.need("job_type");
  while (csv.next()) {
    TraceJob job{.id = csv.name(id),
                 .line = csv.line(),
                 .submit = csv.amount(submitted, 1e9) * kMinute,
                 .duration = csv.amount(duration, 1e7) * kMinute,
                 .queue = csv.name(user),
                 .gpus = count_of(csv, gpus, kMaxCount)};
    const std::string& kind = csv.cell(type);
    if (kind != "best") {
      const auto worth = dashed_numbers(csv, values);
      const auto steps = steps_of(csv, times, dashed_numbers(csv, times), worth);
      job.value = worth.front();
      if (kind == "strict") {
        job.deadline = steps.front().seconds;
      } else if (kind == "soft") {
        job.steps = steps;
      } else {
        csv.fail(type.name, "expected strict, soft or best, found " + in_quotes(kind));
      }
    }
    jobs.add(std::move(job));
  }
}

}  // namespace berth::io
