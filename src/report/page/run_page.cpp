// SPDX-License-Identifier: Apache-2.0
#include "berth/report/run_page.hpp"

#include "../table_rows.hpp"
#include "gantt.hpp"
#include "html.hpp"
#include "page_frame.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/span_text.hpp"

namespace berth::report {
namespace {

using model::JobRecord;
using model::JobRun;

/// Microseconds without GPUs until the first run.
std::int64_t first_wait(const JobRecord& record) {
  return record.runs.front().start - record.arrival;
}

std::vector<const JobRecord*> finished(std::span<const JobRecord> records) {
  std::vector<const JobRecord*> result;
  for (const JobRecord& record : records) {
    if (record.finished()) result.push_back(&record);
  }
  return result;
}

std::int64_t begin_of(std::span<const JobRecord> records) {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (const JobRecord& record : records) begin = std::min(begin, record.arrival);
  return records.empty() ? 0 : begin;
}

/// A sum over time: changes by microsecond.
using Changes = std::map<std::int64_t, std::int64_t>;

/// @param unit  of the amounts
ChartLine line_of(std::string name, const Changes& changes, std::int64_t begin, double unit) {
  constexpr std::size_t kMostPoints = 1500;
  const std::size_t step = 1 + changes.size() / kMostPoints;
  ChartLine line{.name = std::move(name), .x = {}, .y = {}};
  std::int64_t amount = 0;
  std::size_t i = 0;
  for (const auto& [at, change] : changes) {
    amount += change;
    if (i++ % step != 0 && i != changes.size()) continue;
    line.x.push_back(static_cast<double>(at - begin) / (3600.0 * model::kMicros));
    line.y.push_back(static_cast<double>(amount) / unit);
  }
  return line;
}

std::string run_figures(const RunPageContent& content) {
  HtmlTable table("Figures over the jobs that ended", {"figure", "value"});
  for (const model::RunFigureRow& row : model::kRunFigureRows) {
    const double value = content.summary.figures.*row.value;
    table.add({html(row.text), figure(row.key, value, fmt::format("{:.6g}", value))});
  }
  std::string options;
  for (const auto& [name, value] : content.summary.options) {
    options += (options.empty() ? "" : ", ") + html(name) + " " + html(value);
  }
  return section("figures", "The run",
                 "<p class=\"lead\">Policy " + html(content.summary.policy) + "</p>\n<p>" + options +
                     "</p>\n" + table.text());
}

std::string run_course(const RunPageContent& content, std::int64_t begin) {
  Changes gpus, waiting, running;
  for (const JobRecord* record : finished(content.records)) {
    std::int64_t since = record->arrival;
    for (const JobRun& run : record->runs) {
      if (run.start > since) ++waiting[since], --waiting[run.start];
      gpus[run.start] += run.milli, gpus[run.end] -= run.milli;
      ++running[run.start], --running[run.end];
      since = run.end;
    }
  }
  const std::array<ChartLine, 1> used{line_of("GPUs in use", gpus, begin, 1000.0)};
  const std::array<ChartLine, 2> jobs{line_of("jobs that wait", waiting, begin, 1.0),
                                      line_of("jobs that run", running, begin, 1.0)};
  return section("course", "Over time",
                 chart("GPUs in use", "hours from the first arrival", used, true) +
                     chart("Jobs that wait and that run", "hours from the first arrival", jobs, true));
}

GanttRow row_of(const RunPageContent& content, const JobRecord& record, std::int64_t begin) {
  const auto hours = [&](std::int64_t at) {
    return static_cast<double>(at - begin) / (3600.0 * model::kMicros);
  };
  GanttRow row{.name = std::string(content.instance.workload.tables().job_names[record.job.index()]),
               .title = {},
               .spans = {}};
  std::int64_t since = record.arrival;
  for (const JobRun& run : record.runs) {
    if (run.start > since) row.spans.push_back({hours(since), hours(run.start), "later"});
    if (run.overhead > 0) {
      row.spans.push_back({hours(run.start), hours(run.start + run.overhead), "more"});
    }
    row.spans.push_back({hours(run.start + run.overhead), hours(run.end), "fill"});
    since = run.end;
  }
  row.title = fmt::format("{}: {} GPUs, waited {}, {} runs", row.name, devices(record.milli),
                          span_text(first_wait(record) / model::kMicros), record.runs.size());
  return row;
}

/// The jobs of most GPU time, in order of arrival.
std::string run_jobs(const RunPageContent& content, std::int64_t begin) {
  constexpr std::size_t kMostRows = 120;
  std::vector<const JobRecord*> jobs = finished(content.records);
  // in doubles: thousandths x microseconds may exceed 64 bits; ties keep the order of the records
  const auto gpu_time = [](const JobRecord* record) {
    double sum = 0.0;
    for (const JobRun& run : record->runs) {
      sum += static_cast<double>(run.milli) * static_cast<double>(run.end - run.start);
    }
    return -sum;
  };
  std::ranges::stable_sort(jobs, {}, gpu_time);
  jobs.resize(std::min(jobs.size(), kMostRows));
  std::ranges::stable_sort(jobs, {}, &JobRecord::arrival);
  if (jobs.empty()) return {};
  std::vector<GanttRow> rows;
  for (const JobRecord* record : jobs) rows.push_back(row_of(content, *record, begin));
  return section("time", "Jobs in time",
                 gantt(rows, "first arrival",
                       fmt::format("The {} jobs of most GPU time. Outlined: waits; in the second "
                                   "colour: begins without progress after a stop; filled: runs.",
                                   rows.size())));
}

/// Waits of one group of jobs, in microseconds.
struct WaitRow {
  std::string name;
  std::vector<std::int64_t> waits;
  double gpu_hours = 0.0;
};

std::string wait_table(std::string_view caption, std::string_view head, std::vector<WaitRow> rows) {
  HtmlTable table(caption, {std::string(head), "jobs", "median", "nine of ten below", "longest", "GPU-hours"});
  for (WaitRow& row : rows) {
    if (row.waits.empty()) continue;
    std::ranges::sort(row.waits);
    const auto at = [&](std::size_t tenths) {
      return span_text(row.waits[(row.waits.size() - 1) * tenths / 10] / model::kMicros);
    };
    table.add({html_name(row.name), fmt::format("{}", row.waits.size()), at(5), at(9), at(10),
               fmt::format("{:.1f}", row.gpu_hours)});
  }
  return table.text();
}

void add(WaitRow& row, const JobRecord& record) {
  row.waits.push_back(first_wait(record));
  for (const JobRun& run : record.runs) {
    row.gpu_hours += static_cast<double>(run.milli) / 1000.0 *
                     static_cast<double>(run.end - run.start) / (3600.0 * model::kMicros);
  }
}

std::string size_rows(std::span<const JobRecord* const> jobs) {
  std::vector<WaitRow> rows{{"no GPU", {}}, {"up to 1 GPU", {}}, {"up to 8 GPUs", {}}, {"up to 64 GPUs", {}}, {"more GPUs", {}}};
  constexpr std::array<std::int64_t, 4> kMost{0, 1'000, 8'000, 64'000};
  for (const JobRecord* record : jobs) {
    const auto size = std::ranges::lower_bound(kMost, record->milli) - kMost.begin();
    add(rows[static_cast<std::size_t>(size)], *record);
  }
  return wait_table("From arrival to the first start, by size", "size", std::move(rows));
}

std::string queue_rows(const RunPageContent& content, std::span<const JobRecord* const> jobs) {
  const auto& queues = content.instance.cluster.queues;
  if (queues.empty()) return {};
  std::vector<WaitRow> rows;
  for (const model::Queue& queue : queues) rows.push_back({queue.name, {}});
  rows.push_back({"(no queue)", {}});
  for (const JobRecord* record : jobs) {
    const QueueId queue = content.instance.workload.job(record->job).queue;
    add(rows[queue.valid() ? queue.index() : queues.size()], *record);
  }
  return wait_table("From arrival to the first start, by queue", "queue", std::move(rows));
}

std::string longest_rows(const RunPageContent& content, std::vector<const JobRecord*> jobs) {
  constexpr std::size_t kMostRows = 20;
  std::ranges::stable_sort(jobs, std::greater{}, [](const JobRecord* r) { return first_wait(*r); });
  HtmlTable table("The longest waits", {"job", "GPUs", "waited", "runs", "from arrival to end"});
  for (std::size_t i = 0; i < std::min(jobs.size(), kMostRows); ++i) {
    const JobRecord& record = *jobs[i];
    table.add({html_name(content.instance.workload.tables().job_names[record.job.index()]),
               devices(record.milli), span_text(first_wait(record) / model::kMicros),
               fmt::format("{}", record.runs.size()),
               span_text((record.end() - record.arrival) / model::kMicros)});
  }
  return table.text();
}

std::string run_waits(const RunPageContent& content) {
  const std::vector<const JobRecord*> jobs = finished(content.records);
  if (jobs.empty()) return {};
  return section("waiting", "Waits",
                 size_rows(jobs) + queue_rows(content, jobs) + longest_rows(content, jobs));
}

}  // namespace

std::string run_page(const RunPageContent& content) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSections{
      {{"figures", "Run"}, {"course", "Course"}, {"time", "Time"}, {"waiting", "Waits"}}};
  const std::int64_t begin = begin_of(content.records);
  const std::string body = run_figures(content) + run_course(content, begin) +
                           run_jobs(content, begin) + run_waits(content);
  return page_head("Berth: a simulation", {}) + "<header><h1>Berth</h1><pre>" +
         html_lines(cluster_line(content.instance.cluster)) + "</pre></header>\n" +
         page_links(kSections, body) + "<main>\n" + body + "</main>\n" +
         fmt::format("<footer><p>run <code>{}</code></p><p>files <code>{}</code></p></footer>\n"
                     "</body></html>\n",
                     html(content.summary.run_digest), html(content.summary.instance_digest));
}

}  // namespace berth::report
