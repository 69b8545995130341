// SPDX-License-Identifier: Apache-2.0
#include "profiles/measurements.hpp"
#include "traces/pollux_profile.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/speed/statistical_efficiency.hpp"

namespace berth::io {
namespace {

/// y = at_zero + slope x with both >= 0, by least squares.
struct LineFit {
  double at_zero = 0.0, slope = 0.0;
};

struct Measured {
  double x, y;
};

LineFit fit_line(const std::vector<Measured>& points) {
  if (points.empty()) return {};
  const auto n = static_cast<double>(points.size());
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const Measured& point : points) {
    x += point.x / n;
    y += point.y / n;
  }
  for (const Measured& point : points) {
    xx += (point.x - x) * (point.x - x);
    xy += (point.x - x) * (point.y - y);
  }
  const double slope = xx > 0.0 ? xy / xx : 0.0;
  if (slope < 0.0) return {y, 0.0};
  if (y >= slope * x) return {y - slope * x, slope};
  double squares = 0.0, products = 0.0;  // through the origin
  for (const Measured& point : points) {
    squares += point.x * point.x;
    products += point.x * point.y;
  }
  return {0.0, squares > 0.0 ? products / squares : 0.0};
}

/// Equations 8 to 11 of Pollux with overlap 1: the files say which part of a step is all-reduce.
speed::IterationTime fit_times(const PolluxProfile& profile) {
  std::vector<Measured> compute, local, across;
  for (const auto& [gpus, steps] : profile.steps) {
    for (const PolluxStep& step : steps) {
      compute.push_back({static_cast<double>(step.local_batch), step.seconds - step.sync_seconds});
      if (gpus < 2) continue;
      (step.nodes == 1 ? local : across)
          .push_back({static_cast<double>(gpus - 2), step.sync_seconds});
    }
  }
  const LineFit c = fit_line(compute), l = fit_line(local), a = fit_line(across);
  return {.compute_fixed = c.at_zero,
          .compute_per_sample = c.slope,
          .sync_local_fixed = l.at_zero,
          .sync_local_per_gpu = l.slope,
          .sync_fixed = a.at_zero,
          .sync_per_gpu = a.slope};
}

/// Work is seconds on one GPU at the smallest batch.
void add_noise(JsonText& json, const std::vector<PolluxPoint>& curve, double batch,
               double seconds_per_iteration, ProfileImport& import) {
  json.key("noise").open('[');
  double begin = 0.0;  // a point holds for the progress up to it
  for (const PolluxPoint& point : curve) {
    ++import.rows;
    if (point.grad_sqr <= 0.0) {
      note_measurement(import.skipped, "points of curves have no gradient", 0);
      continue;
    }
    ++import.taken;
    json.open('{').field("work", begin * seconds_per_iteration);
    json.field("noise_scale", speed::noise_scale(batch, point.grad_var, point.grad_sqr));
    json.close('}');
    begin = point.progress;
  }
  json.close(']');
}

void add_application(const std::string& name, const PolluxProfile& profile, ProfileImport& import) {
  const auto& [smallest, curve] = *profile.curves.begin();
  const speed::IterationTime time = fit_times(profile);
  const auto batch = static_cast<double>(smallest);
  const double seconds = time.seconds(batch, 1, 1);
  for (const auto& [gpus, steps] : profile.steps) {
    import.rows += static_cast<std::int64_t>(steps.size());
    import.taken += static_cast<std::int64_t>(steps.size());
  }
  for (const auto& [size, points] : profile.curves) {
    if (size == smallest) continue;
    import.rows += static_cast<std::int64_t>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      note_measurement(import.skipped, "points are of curves of larger batches", 0);
  }
  const bool usable =
      std::ranges::any_of(curve, [](const PolluxPoint& point) { return point.grad_sqr > 0.0; });
  if (!usable || seconds <= 0.0) {
    note_measurement(import.skipped, "applications have no gradient or take no time", 0);
    return;
  }
  JsonText json;
  json.open('{').field("profile", name).field("model", "goodput");
  json.field("reference", batch / seconds);
  json.field("compute_fixed", time.compute_fixed);
  json.field("compute_per_sample", time.compute_per_sample);
  json.field("sync_local_fixed", time.sync_local_fixed);
  json.field("sync_local_per_gpu", time.sync_local_per_gpu);
  json.field("sync_fixed", time.sync_fixed).field("sync_per_gpu", time.sync_per_gpu);
  json.field("smallest_batch", std::int64_t{smallest}).field("batch", std::int64_t{smallest});
  add_noise(json, curve, batch, seconds, import);
  json.close('}');
  import.text += json.str() + '\n';
  ++import.profiles;
}

}  // namespace

ProfileImport import_pollux_profiles(const std::string& path, const std::string&) {
  ProfileImport import;
  for (const std::string& name : names_in(path, "")) {
    const auto profile = read_pollux_profile((std::filesystem::path(path) / name).string());
    if (profile) {
      add_application(name, *profile, import);
    } else {
      note_measurement(import.skipped, "folders have no placements.csv", 0);
    }
  }
  if (import.profiles == 0) {
    throw InputError({.file = path, .line = 0, .field = ""}, "has no application",
                     "expected one folder for each, with placements.csv");
  }
  return import;
}

}  // namespace berth::io
