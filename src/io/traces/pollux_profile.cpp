// SPDX-License-Identifier: Apache-2.0
#include "pollux_profile.hpp"

#include "numbers.hpp"
#include "trace_cells.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMaxBatch = 1 << 30;  // samples, a guard
constexpr double kMaxStepSeconds = 1e6;      // a guard

PolluxStep step_of(const Csv& csv, std::int32_t nodes, const Csv::Column& batch,
                   const Csv::Column& seconds, const Csv::Column& sync) {
  PolluxStep step{.nodes = nodes,
                  .local_batch = static_cast<std::int32_t>(csv.integer(batch, kMaxBatch)),
                  .seconds = csv.amount(seconds, kMaxStepSeconds),
                  .sync_seconds = csv.amount(sync, kMaxStepSeconds)};
  if (step.seconds <= 0.0 || step.local_batch == 0) csv.fail(seconds.name, "takes no time");
  if (step.sync_seconds > step.seconds) csv.fail(sync.name, "is longer than the step");
  return step;
}

/// placement: one digit a node, its GPUs.
void read_placements(const std::string& path, PolluxProfile& profile) {
  const std::string text = read_file(path);
  Csv csv(text, path);
  const auto placement = csv.need("placement");
  const auto batch = csv.need("local_bsz");
  const auto seconds = csv.need("step_time");
  const auto sync = csv.need("sync_time");
  while (csv.next()) {
    std::int32_t gpus = 0;
    const std::string& digits = csv.cell(placement);
    for (const char digit : digits) {
      if (digit < '1' || digit > '9')
        csv.fail(placement.name, "expected digits, GPUs of each node");
      gpus += digit - '0';
    }
    if (gpus == 0) csv.fail(placement.name, "has no node");
    const auto nodes = static_cast<std::int32_t>(digits.size());
    profile.steps[gpus].push_back(step_of(csv, nodes, batch, seconds, sync));
  }
}

void read_scalability(const std::string& path, PolluxProfile& profile) {
  const std::string text = read_file(path);
  Csv csv(text, path);
  const auto nodes = csv.need("num_nodes");
  const auto replicas = csv.need("num_replicas");
  const auto batch = csv.need("local_bsz");
  const auto seconds = csv.need("step_time");
  const auto sync = csv.need("sync_time");
  while (csv.next()) {
    const auto gpus = static_cast<std::int32_t>(csv.integer(replicas, kMaxCount));
    const auto count = static_cast<std::int32_t>(csv.integer(nodes, kMaxCount));
    profile.steps[gpus].push_back(step_of(csv, count, batch, seconds, sync));
  }
}

std::vector<PolluxPoint> read_curve(const std::string& path) {
  const std::string text = read_file(path);
  Csv csv(text, path);
  const auto progress = csv.need("progress");
  const auto iteration = csv.need("iteration");
  const auto sqr = csv.need("grad_sqr");
  const auto var = csv.need("grad_var");
  std::vector<PolluxPoint> points;
  while (csv.next()) {
    PolluxPoint point{.progress = csv.amount(progress, 1e15),
                      .iteration = csv.amount(iteration, 1e15),
                      .grad_sqr = csv.amount(sqr, 1e300),
                      .grad_var = csv.amount(var, 1e300)};
    if (!points.empty() && point.progress <= points.back().progress) {
      csv.fail(progress.name, "does not grow");
    }
    points.push_back(point);
  }
  if (points.empty()) csv.fail("", "has no points");
  return points;
}

/// Batch size of "validation-<batch>.csv".
std::optional<std::int64_t> batch_of(std::string_view name) {
  constexpr std::string_view prefix = "validation-";
  constexpr std::string_view suffix = ".csv";
  std::int64_t batch = 0;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  if (!read_number(name, batch) || batch < 1) return std::nullopt;
  return batch;
}

/// Seconds of a pass of one local batch, linear between measured sizes, the first below them.
PolluxStep interpolated(const std::vector<PolluxStep>& steps, double local_batch) {
  const auto above = std::ranges::find_if(
      steps, [&](const PolluxStep& step) { return step.local_batch >= local_batch; });
  if (above == steps.begin()) return steps.front();
  if (above == steps.end()) return steps.back();
  const PolluxStep& low = *std::prev(above);
  const double part = (local_batch - low.local_batch) / (above->local_batch - low.local_batch);
  PolluxStep step = low;
  step.seconds += part * (above->seconds - low.seconds);
  step.sync_seconds += part * (above->sync_seconds - low.sync_seconds);
  return step;
}

}  // namespace

std::optional<double> PolluxProfile::step_seconds(std::int32_t gpus, std::int64_t batch) const {
  const auto found = steps.find(gpus);
  if (found == steps.end()) return std::nullopt;
  // Of the fewest nodes the fastest placement, by local batch size.
  std::vector<PolluxStep> best;
  for (const PolluxStep& step : found->second) {
    if (step.nodes != found->second.front().nodes) break;
    if (!best.empty() && best.back().local_batch == step.local_batch) {
      if (step.seconds < best.back().seconds) best.back() = step;
    } else {
      best.push_back(step);
    }
  }
  const double local = static_cast<double>(batch) / gpus;
  const double passes = std::max(1.0, std::ceil(local / best.back().local_batch));
  const PolluxStep step = interpolated(best, local / passes);
  return (passes - 1.0) * (step.seconds - step.sync_seconds) + step.seconds;
}

double PolluxProfile::iterations(std::int64_t batch) const {
  const auto distance = [&](const auto& curve) {
    return std::abs(std::log(static_cast<double>(curve.first) / static_cast<double>(batch)));
  };
  const auto nearest = std::ranges::min_element(curves, {}, distance);
  const double samples = nearest->second.back().iteration * static_cast<double>(nearest->first);
  return samples / static_cast<double>(batch);
}

std::optional<PolluxProfile> read_pollux_profile(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path root(folder);
  std::error_code error;
  if (!fs::exists(root / "placements.csv", error)) return std::nullopt;
  PolluxProfile profile;
  read_placements((root / "placements.csv").string(), profile);
  if (fs::exists(root / "scalability.csv", error)) {
    read_scalability((root / "scalability.csv").string(), profile);
  }
  for (auto& [gpus, steps] : profile.steps) {
    std::ranges::stable_sort(
        steps, {}, [](const PolluxStep& step) { return std::pair(step.nodes, step.local_batch); });
  }
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const auto batch = batch_of(entry.path().filename().string());
    if (batch) profile.curves[*batch] = read_curve(entry.path().string());
  }
  if (profile.curves.empty() || profile.steps.empty()) {
    throw InputError({.file = folder, .line = 0, .field = ""},
                     "has no training curves or no placements", "expected validation-<batch>.csv");
  }
  return profile;
}

}  // namespace berth::io
