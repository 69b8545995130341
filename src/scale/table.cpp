// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "berth/scale/results.hpp"

namespace berth::scale {
namespace {

bool one_digest(const ScalingSweep& sweep) {
  return std::ranges::all_of(sweep.points, [&](const ScalingPoint& p) {
    return p.same_digest && p.plan_digest == sweep.points.front().plan_digest;
  });
}

void add_points(std::string& text, const ScalingSweep& sweep) {
  text +=
      fmt::format("{:>6} {:>7} {:>9} {:>7} {:>9} {:>17} {:>8} {:>10} {:>10} {:>12} {:>9} {:>8}\n",
                  "ranks", "threads", "GPUs", "shards", "seconds", "min..max", "CPU s",
                  "efficiency", "messages", "bytes", "MiB/rank", "gap");
  for (const ScalingPoint& p : sweep.points) {
    const auto [least, most] = std::ranges::minmax(p.solve_seconds);
    text += fmt::format(
        "{:>6} {:>7} {:>9} {:>7} {:>9.3f} {:>17} {:>8.3f} {:>10.3f} {:>10} {:>12} {:>9.1f} "
        "{:>7.4f}%\n",
        p.ranks, p.threads, p.gpus, p.shards, p.median_seconds,
        fmt::format("{:.3f}..{:.3f}", least, most), p.largest_cpu(), efficiency(sweep, p),
        p.messages(), p.bytes(), p.largest_memory(), 100.0 * p.gap);
  }
}

/// Seconds of the slowest rank in each stage, and the imbalance of the ranks.
void add_stages(std::string& text, const ScalingSweep& sweep) {
  if (sweep.points.empty()) return;
  text += fmt::format("\n{:<12}", "stage");
  for (const ScalingPoint& p : sweep.points)
    text += fmt::format(" {:>24}", fmt::format("{} ranks", p.ranks));
  text += fmt::format("\n{:<12}", "");
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    text += fmt::format(" {:>24}", "work  x mean  messages");
  }
  text += '\n';
  for (const StageShares& named : sweep.points.front().stages) {
    text += fmt::format("{:<12}", named.stage);
    for (const ScalingPoint& p : sweep.points) {
      const auto stage = std::ranges::find(p.stages, named.stage, &StageShares::stage);
      const bool known = stage != p.stages.end();
      text += fmt::format(" {:>24}",
                          known ? fmt::format("{:.4f}  {:>6.2f}  {:>8}", stage->slowest(),
                                              stage->imbalance(), stage->ranks.front().messages)
                                : "-");
    }
    text += '\n';
  }
}

void add_forecasts(std::string& text, const ScalingSweep& sweep) {
  if (sweep.forecasts.empty()) return;
  const Network& n = sweep.network;
  text += fmt::format(
      "\nMODELLED, not measured: LogGP with L = {} us, o = {} us, g = {} us, G = {} us/B, polling "
      "= "
      "{} us (assumed);\nwork and message counts from the points above; a core for every thread.\n",
      n.latency, n.overhead, n.gap, n.gap_per_byte, n.polling);
  text += fmt::format("{:>6} {:>9} {:>9} {:>14} {:>10} {:>14}  {}\n", "ranks", "seconds", "work",
                      "communication", "messages", "bytes", "largest stage");
  for (const ScalingForecast& f : sweep.forecasts) {
    double talk = 0.0;
    std::string_view largest = "-";
    double most = 0.0;
    for (const StageForecast& s : f.stages) {
      if (s.stage == "load") continue;
      talk += s.communication;
      if (s.work + s.communication > most) most = s.work + s.communication, largest = s.stage;
    }
    text += fmt::format("{:>6} {:>9.3f} {:>9.3f} {:>14.4f} {:>10} {:>14}  {} {:.3f}\n", f.ranks,
                        f.seconds, f.seconds - talk, talk, f.messages, f.bytes, largest, most);
  }
}

/// Compares the forecast of the calls with the points that it was not fitted to.
void add_model_check(std::string& text, const ScalingSweep& sweep) {
  if (sweep.scaling != Scaling::strong) return;
  bool fitted = false;  // the first point with messages is one that the model was fitted to
  for (const ScalingPoint& p : sweep.points) {
    if (p.ranks < 2 || !std::exchange(fitted, true)) continue;
    std::int64_t modelled = 0;
    for (const CallCount& c : forecast_calls(sweep.points, sweep.scaling, p.ranks)) {
      modelled += c.messages;
    }
    text += fmt::format("messages of each of {} ranks: modelled {}, measured {}\n", p.ranks,
                        modelled, p.messages());
  }
}

}  // namespace

double efficiency(const ScalingSweep& sweep, const ScalingPoint& point) {
  const ScalingPoint& first = sweep.points.front();
  const double ratio = first.median_seconds / std::max(point.median_seconds, 1e-9);
  return sweep.scaling == Scaling::weak ? ratio : ratio * first.ranks / point.ranks;
}

std::string table_text(const ScalingSweep& sweep) {
  std::string text = fmt::format("{} scaling of \"solve\", {}, on {}\n",
                                 sweep.scaling == Scaling::strong ? "strong" : "weak",
                                 sweep.instance, sweep.machine);
  add_points(text, sweep);
  if (sweep.scaling == Scaling::strong && !sweep.points.empty()) {
    text += fmt::format("plan digest {}: {}\n", sweep.points.front().plan_digest,
                        one_digest(sweep) ? "the same in every run" : "NOT THE SAME IN ALL RUNS");
  }
  add_stages(text, sweep);
  add_forecasts(text, sweep);
  add_model_check(text, sweep);
  return text;
}

}  // namespace berth::scale
