// SPDX-License-Identifier: Apache-2.0
#include "../table_rows.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/base/span_text.hpp"
#include "berth/report/reasons.hpp"

namespace berth::report {
namespace {

/// A waiting job with what the page shows of it.
struct Waits {
  const model::RawUnplacedJob* job;
  std::int64_t arrival, milli;
};

std::vector<Waits> waits_of(const PlanContent& content) {
  const auto ids = ids_by_name(content);
  const model::WorkloadView& workload = content.instance.workload;
  std::vector<Waits> result;
  for (const model::RawUnplacedJob& job : content.waiting) {
    const auto at = ids.find(job.job);
    if (at == ids.end()) continue;
    const model::Job& record = workload.job(at->second);
    result.push_back({&job, record.arrival, workload.gpu_milli(record)});
  }
  return result;
}

std::string reason_rows(const std::vector<Waits>& waits) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_reason;
  for (const Waits& w : waits) {
    auto& [jobs, milli] = by_reason[reason_summary(w.job->reason)];
    ++jobs, milli += w.milli;
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, sums] : by_reason) order.emplace_back(-sums.first, reason);
  std::ranges::sort(order);
  constexpr std::size_t kMostRows = 200;
  HtmlTable table("By reason", {"reason", "jobs", "GPUs", ""});
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const auto& [jobs, reason] = order[i];
    table.add({html(reason), figure("reason." + reason, -jobs), devices(by_reason[reason].second),
               bar(-static_cast<double>(jobs) / static_cast<double>(waits.size()))});
  }
  if (order.size() <= kMostRows) return table.text();
  return table.text() + fmt::format("<p>And {} other reasons.</p>", order.size() - kMostRows);
}

/// The moment up to which jobs have waited: that of a plan in time, else the last arrival.
std::int64_t moment(const PageContent& content) {
  if (content.in_time != nullptr) return content.in_time->now;
  std::int64_t last = 0;
  const model::WorkloadView& workload = content.now.instance.workload;
  for (std::size_t j = 0; j < workload.size(); ++j) {
    last = std::max(last, workload.job(JobId(j)).arrival);
  }
  return last;
}

/// Quantiles of the time that jobs have waited, by size.
std::string age_rows(const std::vector<Waits>& waits, std::int64_t now) {
  constexpr std::pair<std::int64_t, std::string_view> kSizes[] = {{0, "no GPU"},
                                                                  {1'000, "up to 1 GPU"},
                                                                  {8'000, "up to 8 GPUs"},
                                                                  {64'000, "up to 64 GPUs"},
                                                                  {INT64_MAX, "more GPUs"}};
  HtmlTable table("Time since arrival", {"size", "jobs", "median", "nine of ten below", "longest"});
  std::int64_t below = -1;
  for (const auto& [most, name] : kSizes) {
    std::vector<std::int64_t> ages;
    for (const Waits& w : waits) {
      if (w.milli > below && w.milli <= most)
        ages.push_back(std::max<std::int64_t>(0, now - w.arrival));
    }
    below = most;
    if (ages.empty()) continue;
    std::ranges::sort(ages);
    table.add({html(name), fmt::format("{}", ages.size()), span_text(ages[(ages.size() - 1) / 2]),
               span_text(ages[(ages.size() - 1) * 9 / 10]), span_text(ages.back())});
  }
  return table.text();
}

std::string oldest_rows(std::vector<Waits> waits, std::int64_t now) {
  constexpr std::size_t kMostRows = 20;
  const auto count = std::min(waits.size(), kMostRows);
  std::ranges::stable_sort(waits, {}, &Waits::arrival);
  HtmlTable table("The first in the queue", {"job", "reason", "GPUs", "waits"}, 2);
  for (const Waits& w : std::span(waits).first(count)) {
    table.add({html_name(w.job->job), html(w.job->reason), devices(w.milli),
               span_text(std::max<std::int64_t>(0, now - w.arrival))});
  }
  return table.text();
}

}  // namespace

std::string waiting_section(const PageContent& content) {
  const std::vector<Waits> waits = waits_of(content.now);
  if (waits.empty()) return {};
  const std::int64_t now = moment(content);
  return section("waiting", "Jobs that wait",
                 reason_rows(waits) + age_rows(waits, now) + oldest_rows(waits, now));
}

}  // namespace berth::report
