// SPDX-License-Identifier: Apache-2.0
#include "run_plots.hpp"

#include <algorithm>
#include <cstddef>

namespace berth::sim {
namespace {

constexpr std::size_t kMostQuantiles = 512;

struct TimeUnit {
  const char* name;
  double seconds;
};

/// Of an axis over this span: seconds up to 10 minutes, minutes up to 10 hours, and so on.
TimeUnit unit_of(double seconds) {
  if (seconds <= 600.0) return {"s", 1.0};
  if (seconds <= 36'000.0) return {"min", 60.0};
  if (seconds <= 864'000.0) return {"h", 3600.0};
  return {"days", 86'400.0};
}

double seconds_of(Micros time) { return static_cast<double>(time) / static_cast<double>(kSecond); }

/// The series is of means over intervals: a line of steps.
PlotLine steps_of(const Run& run, const char* name, double SeriesPoint::*value, double unit) {
  PlotLine line{.name = name, .points = {}};
  for (const SeriesPoint& point : run.series) {
    line.points.push_back({seconds_of(point.from) / unit, point.*value});
    line.points.push_back({seconds_of(point.from + run.interval) / unit, point.*value});
  }
  return line;
}

/// Nearest ranks, as the figures have them.
PlotLine distribution_of(const std::vector<model::JobRecord>& records) {
  std::vector<double> times;
  for (const model::JobRecord& record : records) {
    if (record.finished()) times.push_back(seconds_of(record.end() - record.arrival));
  }
  std::ranges::sort(times);
  PlotLine line{.name = "jobs", .points = {}};
  const std::size_t count = std::min(times.size(), kMostQuantiles);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = (i * times.size() + count - 1) / count;
    line.points.push_back(
        {times[rank - 1], 100.0 * static_cast<double>(rank) / static_cast<double>(times.size())});
  }
  return line;
}

}  // namespace

std::vector<NamedPlot> plots_of(const model::Cluster& cluster, const Run& run,
                                const std::string& policy) {
  double gpus = 0.0;
  for (std::size_t m = 0; m < cluster.machines(); ++m) gpus += cluster.class_of(MachineId(m)).gpus;
  double span = 0.0;
  if (!run.series.empty()) {
    span = seconds_of(run.series.back().from + run.interval - run.series.front().from);
  }
  const TimeUnit unit = unit_of(span);
  const std::string time = std::string("time, ") + unit.name;
  const auto steps = [&](const char* name, double SeriesPoint::*value) {
    return steps_of(run, name, value, unit.seconds);
  };
  PlotLine allocated = steps("allocated", &SeriesPoint::gpus);
  PlotLine present{.name = "GPUs of the cluster", .points = {}, .dashed = true};
  if (!allocated.points.empty()) {
    present.points = {{allocated.points.front().x, gpus}, {allocated.points.back().x, gpus}};
  }
  return {{"utilisation.svg", {policy + ": GPUs allocated", time, "GPUs", {allocated, present}}},
          {"queue.svg",
           {policy + ": jobs waiting and running",
            time,
            "jobs",
            {steps("waiting", &SeriesPoint::waiting), steps("running", &SeriesPoint::running)}}},
          {"jct.svg",
           {policy + ": jobs by completion time (JCT)",
            "JCT, s",
            "% of jobs",
            {distribution_of(run.records)},
            true}}};
}

}  // namespace berth::sim
