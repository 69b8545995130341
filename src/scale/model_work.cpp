// SPDX-License-Identifier: Apache-2.0
// Work of the ranks, and the whole forecast.
#include <algorithm>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/scale/model.hpp"

namespace berth::scale {
namespace {

constexpr std::int64_t kJobsPerBlock = 256;  // jobs in one block of an evaluation of the prices

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The most pieces that one rank gets when equal pieces are dealt to ranks.
std::int64_t largest_share(std::int64_t pieces, int ranks) { return (pieces + ranks - 1) / ranks; }

/// Seconds of the rank whose shards take longest.
double slowest_owner(std::span<const double> shard_seconds, const Owners& owners, int ranks) {
  BERTH_EXPECT(owners.size() >= shard_seconds.size());
  std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t s = 0; s < shard_seconds.size(); ++s) {
    load[static_cast<std::size_t>(owners[s])] += shard_seconds[s];
  }
  return *std::ranges::max_element(load);
}

const RankShare& first_rank(const StageShares& stage) { return stage.ranks.front(); }

/// Work of the slowest rank when one instance is planned on more ranks than `from`.
double strong_work(const ScalingPoint& from, const StageShares& stage, int ranks,
                   const Owners& owners) {
  const double slowest = stage.slowest();
  if (stage.stage == "relax" && !from.evaluate_seconds.empty()) {
    const std::int64_t blocks = std::max<std::int64_t>(1, largest_share(from.jobs, kJobsPerBlock));
    const double all = sum_of(from.evaluate_seconds);
    const double rest = std::max(0.0, first_rank(stage).work - from.evaluate_seconds.front());
    return rest +
           all * static_cast<double>(largest_share(blocks, ranks)) / static_cast<double>(blocks);
  }
  if (stage.stage == "round" && !from.shard_seconds.empty()) {
    const double rest = std::max(0.0, stage.total() - sum_of(from.shard_seconds));
    return rest / static_cast<double>(stage.ranks.size()) +
           slowest_owner(from.shard_seconds, owners, ranks);
  }
  if (stage.stage == "coordinate" && from.shards > 1) {
    return stage.total() * static_cast<double>(largest_share(from.shards, ranks)) /
           static_cast<double>(from.shards);
  }
  return slowest;
}

/// Work of the slowest rank when the instance grows with the ranks.
double weak_work(const ScalingPoint& from, const StageShares& stage, int ranks) {
  const double growth = static_cast<double>(ranks) / from.ranks;
  if (stage.stage == "relax" && !from.evaluate_seconds.empty()) {
    const double rest = std::max(0.0, first_rank(stage).work - from.evaluate_seconds.front());
    return rest * growth + *std::ranges::max_element(from.evaluate_seconds);
  }
  if (stage.stage == "round" && !from.shard_seconds.empty()) return stage.slowest();
  return stage.slowest() * growth;
}

/// Payload of one call, as `bytes` of collective_time.
double payload(const CallCount& c, int ranks) {
  const double each = static_cast<double>(c.bytes) / static_cast<double>(c.messages);
  switch (c.call) {
    case comm::Call::reduce:
      return each / std::max(1, ranks - 1);  // the root sends nothing
    case comm::Call::all_reduce:
    case comm::Call::all_to_all:
      return each / ranks;
    default:
      return each;
  }
}

double communication(std::span<const CallCount> calls, const std::string& stage, int ranks,
                     const Network& network) {
  double microseconds = 0.0;
  for (const CallCount& c : calls) {
    if (c.stage != stage || c.messages == 0) continue;
    microseconds += static_cast<double>(c.messages) *
                    collective_time(c.call, ranks, payload(c, ranks), network);
  }
  return microseconds / 1e6;
}

}  // namespace

ScalingForecast forecast(std::span<const ScalingPoint> measured, Scaling scaling, int ranks,
                         const Owners& owners, const Network& network) {
  BERTH_EXPECT(!measured.empty() && ranks >= 1);
  const bool strong = scaling == Scaling::strong;
  const ScalingPoint& from = strong ? *std::ranges::min_element(measured, {}, &ScalingPoint::ranks)
                                    : *std::ranges::max_element(measured, {}, &ScalingPoint::ranks);
  ScalingForecast result{
      .ranks = ranks, .stages = {}, .calls = forecast_calls(measured, scaling, ranks)};
  for (const StageShares& stage : from.stages) {
    const double work =
        strong ? strong_work(from, stage, ranks, owners) : weak_work(from, stage, ranks);
    const double talk = communication(result.calls, stage.stage, ranks, network);
    result.stages.push_back({stage.stage, work, talk});
    if (stage.stage != "load") result.seconds += work + talk;
  }
  for (const CallCount& c : result.calls) {
    result.messages += c.messages;
    result.bytes += c.bytes;
  }
  return result;
}

}  // namespace berth::scale
