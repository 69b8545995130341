// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "berth/scale/results.hpp"

namespace berth::scale {
namespace {

using Json = nlohmann::ordered_json;

const char* name(Scaling scaling) { return scaling == Scaling::strong ? "strong" : "weak"; }

Json calls_json(std::span<const CallCount> calls) {
  Json list = Json::array();
  for (const CallCount& c : calls) {
    list.push_back({{"stage", c.stage},
                    {"call", comm::name(c.call)},
                    {"messages_per_rank", c.messages},
                    {"bytes", c.bytes}});
  }
  return list;
}

Json stage_json(const StageShares& stage) {
  Json ranks = Json::array();
  for (const RankShare& r : stage.ranks) {
    ranks.push_back(
        {{"work", r.work}, {"waiting", r.waiting}, {"messages", r.messages}, {"bytes", r.bytes}});
  }
  return {{"stage", stage.stage},
          {"slowest", stage.slowest()},
          {"imbalance", stage.imbalance()},
          {"ranks", std::move(ranks)}};
}

Json point_json(const ScalingSweep& sweep, const ScalingPoint& p) {
  Json stages = Json::array();
  for (const StageShares& stage : p.stages) stages.push_back(stage_json(stage));
  return {{"ranks", p.ranks},
          {"threads", p.threads},
          {"gpus", p.gpus},
          {"jobs", p.jobs},
          {"shards", p.shards},
          {"plan_digest", p.plan_digest},
          {"same_digest", p.same_digest},
          {"objective", p.objective},
          {"upper_bound", p.upper_bound},
          {"gap", p.gap},
          {"evaluations", p.evaluations},
          {"rounds", p.rounds},
          {"seconds", p.median_seconds},
          {"seconds_of_repeats", p.solve_seconds},
          {"cpu_seconds", p.cpu_seconds},
          {"efficiency", efficiency(sweep, p)},
          {"messages_per_rank", p.messages()},
          {"bytes", p.bytes()},
          {"peak_memory_mib", p.peak_memory_mib},
          {"shard_seconds", p.shard_seconds},
          {"evaluate_seconds", p.evaluate_seconds},
          {"stages", std::move(stages)},
          {"calls", calls_json(p.calls)}};
}

Json forecast_json(const ScalingForecast& f) {
  Json stages = Json::array();
  for (const StageForecast& s : f.stages) {
    stages.push_back({{"stage", s.stage}, {"work", s.work}, {"communication", s.communication}});
  }
  return {{"ranks", f.ranks}, {"seconds", f.seconds},        {"messages_per_rank", f.messages},
          {"bytes", f.bytes}, {"stages", std::move(stages)}, {"calls", calls_json(f.calls)}};
}

Json model_json(const ScalingSweep& sweep) {
  Json forecasts = Json::array();
  for (const ScalingForecast& f : sweep.forecasts) forecasts.push_back(forecast_json(f));
  const Network& n = sweep.network;
  return {{"note",
           "modelled, not measured: a LogGP network with assumed parameters, work and message "
           "counts from the points, a core for every thread"},
          {"parameters",
           {{"latency_us", n.latency},
            {"overhead_us", n.overhead},
            {"gap_us", n.gap},
            {"gap_per_byte_us", n.gap_per_byte},
            {"polling_us", n.polling}}},
          {"points", std::move(forecasts)}};
}

}  // namespace

std::string json_text(const ScalingSweep& sweep) {
  Json points = Json::array();
  for (const ScalingPoint& p : sweep.points) points.push_back(point_json(sweep, p));
  const Json document{{"schema", 1},
                      {"scaling", name(sweep.scaling)},
                      {"instance", sweep.instance},
                      {"machine", sweep.machine},
                      {"points", std::move(points)},
                      {"model", model_json(sweep)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth::scale
