// SPDX-License-Identifier: Apache-2.0
#include "../table_rows.hpp"
#include "gantt.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::report {
namespace {

/// A job of a plan in time as a bar.
struct TimeBar {
  const std::string* job;
  std::int64_t start, end, milli;
};

std::vector<TimeBar> time_bars(const model::RawHorizonPlan& plan) {
  std::vector<TimeBar> bars;
  for (std::size_t p = 0; p < plan.plan.placements.size() && p < plan.ends.size(); ++p) {
    const model::RawPlacement& placed = plan.plan.placements[p];
    std::int64_t milli = 0;
    for (const model::RawTask& task : placed.tasks) {
      for (const model::RawDevice& device : task.gpus) milli += device.milli;
    }
    const std::int64_t end = plan.ends[p].value_or(plan.now + plan.length);
    if (end > placed.start) bars.push_back({&placed.job, placed.start, end, milli});
  }
  return bars;
}

/// GPUs in use over time.
std::string use_chart(const model::RawHorizonPlan& plan, const std::vector<TimeBar>& bars) {
  std::map<std::int64_t, std::int64_t> changes{{plan.now, 0}};
  for (const TimeBar& bar : bars) {
    changes[std::max(bar.start, plan.now)] += bar.milli;
    changes[std::max(bar.end, plan.now)] -= bar.milli;
  }
  ChartLine line{.name = "GPUs in use", .x = {}, .y = {}};
  std::int64_t milli = 0;
  for (const auto& [at, change] : changes) {
    milli += change;
    line.x.push_back(static_cast<double>(at - plan.now) / 3600.0);
    line.y.push_back(static_cast<double>(milli) / 1000.0);
  }
  constexpr std::size_t kMostPoints = 2000;
  ChartLine thin{.name = line.name, .x = {}, .y = {}};
  for (std::size_t i = 0; i < line.x.size(); i += 1 + line.x.size() / kMostPoints) {
    thin.x.push_back(line.x[i]), thin.y.push_back(line.y[i]);
  }
  return chart("GPUs in use by the jobs of the plan", "hours from now", std::span(&thin, 1), true);
}

/// The jobs of most GPU time, in order of start, a row each.
std::string job_bars(const model::RawHorizonPlan& plan, std::vector<TimeBar> bars) {
  constexpr std::size_t kMostRows = 120;
  const auto gpu_time = [](const TimeBar& bar) { return -bar.milli * (bar.end - bar.start); };
  std::ranges::stable_sort(bars, {}, gpu_time);
  if (bars.size() > kMostRows) bars.resize(kMostRows);
  std::ranges::stable_sort(bars, {}, &TimeBar::start);
  const auto hours = [&](std::int64_t at) {
    return static_cast<double>(at - plan.now) / 3600.0;
  };
  std::vector<GanttRow> rows;
  for (const TimeBar& bar : bars) {
    rows.push_back({.name = *bar.job,
                    .title = fmt::format("{}: {} GPUs, from {} s to {} s", *bar.job,
                                         devices(bar.milli), bar.start, bar.end),
                    .spans = {{hours(bar.start), hours(bar.end),
                               bar.start <= plan.now ? "fill" : "later"}}});
  }
  return gantt(rows, "now",
               fmt::format("The {} jobs of most GPU time; outlined: they start later.",
                           rows.size()));
}

}  // namespace

std::string time_section(const PageContent& content) {
  if (content.in_time == nullptr) return {};
  const std::vector<TimeBar> bars = time_bars(*content.in_time);
  if (bars.empty()) return {};
  return section("time", "The plan in time",
                 use_chart(*content.in_time, bars) + job_bars(*content.in_time, bars));
}

}  // namespace berth::report
