// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "berth/scale/results.hpp"

namespace berth::scale {
namespace {

struct CsvLine {
  const char* kind;
  int ranks, threads;
  std::int64_t gpus, jobs, shards;
};

std::string head(const CsvLine& l) {
  return fmt::format("{},{},{},{},{},{}", l.kind, l.ranks, l.threads, l.gpus, l.jobs, l.shards);
}

void add_point(std::string& text, const ScalingPoint& p, double efficiency) {
  const std::string begin = head({"measured", p.ranks, p.threads, p.gpus, p.jobs, p.shards});
  text += fmt::format("{},solve,all,{:.6f},,{},{},{:.4f},{:.1f}\n", begin, p.median_seconds,
                      p.messages(), p.bytes(), efficiency, p.largest_memory());
  for (const StageShares& stage : p.stages) {
    for (std::size_t r = 0; r < stage.ranks.size(); ++r) {
      const RankShare& share = stage.ranks[r];
      text += fmt::format("{},{},{},{:.6f},{:.6f},{},{},,{:.1f}\n", begin, stage.stage, r,
                          share.work, share.waiting, share.messages, share.bytes,
                          r < p.peak_memory_mib.size() ? p.peak_memory_mib[r] : 0.0);
    }
  }
}

void add_forecast(std::string& text, const ScalingForecast& f, const CsvLine& like) {
  CsvLine line = like;
  line.ranks = f.ranks;
  text += fmt::format("{},solve,all,{:.6f},,{},{},,\n", head(line), f.seconds, f.messages, f.bytes);
  for (const StageForecast& s : f.stages) {
    text += fmt::format("{},{},slowest,{:.6f},{:.6f},,,,\n", head(line), s.stage, s.work,
                        s.communication);
  }
}

}  // namespace

std::string csv_text(const ScalingSweep& sweep) {
  std::string text =
      "kind,ranks,threads,gpus,jobs,shards,stage,rank,seconds,waiting,messages,bytes,efficiency,"
      "peak_mib\n";
  for (const ScalingPoint& p : sweep.points) add_point(text, p, efficiency(sweep, p));
  if (sweep.points.empty()) return text;
  const ScalingPoint& last = sweep.points.back();
  for (const ScalingForecast& f : sweep.forecasts) {
    const double growth =
        sweep.scaling == Scaling::weak ? static_cast<double>(f.ranks) / last.ranks : 1.0;
    const auto grown = [&](std::int64_t n) {
      return static_cast<std::int64_t>(static_cast<double>(n) * growth);
    };
    add_forecast(text, f,
                 {"modelled", f.ranks, last.threads, grown(last.gpus), grown(last.jobs),
                  grown(last.shards)});
  }
  return text;
}

}  // namespace berth::scale
