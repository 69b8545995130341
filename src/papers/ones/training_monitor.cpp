// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/training_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"

namespace berth::papers {
namespace {

using policy::Micros;

constexpr double kMicro = 1e-6;  ///< seconds in a microsecond

void check(const MonitorOptions& options) {
  expect_option("ones: most_points", static_cast<double>(options.most_points), at_least(1.0));
  expect_option("ones: least_epochs", options.least_epochs, at_least(0.0));
  expect_option("ones: measurements", static_cast<double>(options.measurements), at_least(1.0));
}

void check(const TrainingJob& job, std::string_view name) {
  const auto expect = [&](const char* key, double value, const OptionRange& range) {
    expect_option("job " + std::string(name) + ": " + key, value, range);
  };
  expect("epoch_samples", job.epoch_samples, above(0.0));
  expect("base_batch", static_cast<double>(job.base_batch), at_least(1.0));
  expect("rate_ratio", job.rate_ratio, at_least(1.0));
}

double mean(const std::deque<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

TrainingFeatures training_features(const TrainingJob& job, double epochs, double part) {
  const TrainingCurve& curve = job.curve;
  const double shown = part * (1.0 + curve.steepness) / (1.0 + curve.steepness * part);
  return {std::log(job.epoch_samples), curve.first_loss, epochs, curve.loss_gain * shown,
          curve.accuracy * shown};
}

TrainingMonitor::TrainingMonitor(const PaperWorld& world, std::vector<TrainingJob> jobs,
                                 const MonitorOptions& options)
    : profiles_(&world.profiles),
      jobs_(std::move(jobs)),
      options_(options),
      seed_(world.seed),
      logs_(jobs_.size()),
      points_(options.history.begin(), options.history.end()),
      predictor_(options.predictor, world.seed) {
  BERTH_EXPECT(jobs_.size() == world.instance.workload.size());
  check(options);
  for (std::size_t j = 0; j < jobs_.size(); ++j)
    check(jobs_[j], world.instance.workload.job_names[j]);
  for (const ProgressPoint& point : points_) {
    if (point.epochs < 2.0) totals_.push_back(point.epochs / point.progress);
  }
  refit();
}

void TrainingMonitor::refit() {
  const bool fits =
      options_.remaining == RemainingWork::drawn || options_.remaining == RemainingWork::mean;
  if (!fits || points_.empty()) return;
  const std::vector<ProgressPoint> all(points_.begin(), points_.end());
  predictor_.fit(all, ++fits_);
}

/// At least one: more than that of jobs that outlive all others is not known.
double TrainingMonitor::residual_epochs(double epochs) const {
  double sum = 0.0, jobs = 0.0;
  for (const double total : totals_) {
    if (total <= epochs) continue;
    sum += total - epochs;
    jobs += 1.0;
  }
  return jobs == 0.0 ? 1.0 : std::max(1.0, sum / jobs);
}

/// Samples that a second of work at speed 1 takes, with the present batch.
double TrainingMonitor::samples_per_work(const policy::State& state, JobId id) const {
  const speed::ElasticBatchJob& profile = profiles_->goodputs[id.index()];
  const double work = static_cast<double>(state.done(id)) * kMicro;
  const auto next = std::ranges::upper_bound(profile.noise, work, {}, &speed::NoisePoint::work);
  const double noise = std::prev(next)->noise_scale;
  const std::int64_t chosen = state.progress(id).last.batch;
  const double batch = chosen > 0 ? static_cast<double>(chosen) : profile.batch;
  return profile.reference / speed::statistical_efficiency(noise, profile.smallest_batch, batch);
}

void TrainingMonitor::add_work(const policy::State& state, JobId id) {
  Log& log = logs_[id.index()];
  const Micros done = state.done(id);
  log.samples += static_cast<double>(std::max<Micros>(0, done - log.done)) * kMicro *
                 samples_per_work(state, id);
  log.done = done;
}

TrainingFeatures TrainingMonitor::features(const policy::State& state, JobId id) const {
  const auto done = static_cast<double>(state.done(id));
  const double part = done / (done + static_cast<double>(state.remaining(id)));
  return training_features(job(id), epochs(id), part);
}

void TrainingMonitor::observe(const policy::State& state, JobId id) {
  const policy::Progress& progress = state.progress(id);
  Log& log = logs_[id.index()];
  const double before = std::floor(epochs(id));
  add_work(state, id);
  if (std::floor(epochs(id)) > before)
    log.epochs.push_back({.features = features(state, id), .epochs = epochs(id)});
  const bool trains = progress.phase == policy::Phase::running && progress.speed > 0.0 &&
                      state.now() > progress.since + progress.overhead;
  if (!trains) return;
  std::deque<double>& measured = log.measured[static_cast<std::int32_t>(progress.tasks.size())];
  measured.push_back(progress.speed * samples_per_work(state, id));
  if (measured.size() > options_.measurements) measured.pop_front();
}

void TrainingMonitor::finish(const policy::State& state, JobId id) {
  add_work(state, id);
  Log& log = logs_[id.index()];
  const double all = epochs(id);
  totals_.push_back(all);
  for (ProgressPoint& point : log.epochs) {
    point.progress = point.epochs / all;
    if (point.progress < 1.0) points_.push_back(point);
  }
  while (points_.size() > options_.most_points) points_.pop_front();
  log = {.samples = log.samples, .done = log.done, .measured = {}, .epochs = {}};
  refit();
}

bool TrainingMonitor::predicted(JobId id) const {
  return epochs(id) >= options_.least_epochs && !logs_[id.index()].measured.empty();
}

double TrainingMonitor::remaining(const policy::State& state, JobId id,
                                  std::uint64_t generation) const {
  if (options_.remaining == RemainingWork::estimate)
    return static_cast<double>(state.remaining(id)) * kMicro * samples_per_work(state, id);
  if (options_.remaining == RemainingWork::residual)
    return residual_epochs(epochs(id)) * job(id).epoch_samples;
  const double beta = predictor_.beta(features(state, id));
  const double alpha = epochs(id);
  // alpha (1 / mean - 1) = beta
  if (options_.remaining == RemainingWork::mean || alpha <= 0.0)
    return beta * job(id).epoch_samples;
  const double progress =
      draw_beta(alpha, beta, {seed_, generation, static_cast<std::uint64_t>(id.value())});
  return logs_[id.index()].samples * (1.0 / progress - 1.0);
}

std::vector<TrainingMonitor::Measured> TrainingMonitor::measured(JobId id) const {
  std::vector<Measured> means;
  for (const auto& [gpus, values] : logs_[id.index()].measured)
    means.push_back({gpus, mean(values)});
  return means;
}

double TrainingMonitor::throughput(JobId id, std::int32_t gpus) const {
  const auto& measured = logs_[id.index()].measured;
  if (measured.empty() || gpus == 0) return 0.0;
  // the line through the two measured numbers around it, or the last two
  auto above = measured.lower_bound(gpus);
  if (above == measured.end()) above = std::prev(above);
  const double high = mean(above->second);
  const bool first = above == measured.begin();
  const std::int32_t low_gpus = first ? 0 : std::prev(above)->first;
  const double low = first ? 0.0 : mean(std::prev(above)->second);
  const double slope = (high - low) / (above->first - low_gpus);
  constexpr double kLeast = 1e-3;  // of the last one: a falling line would cross zero
  return std::max(kLeast * high, high + slope * (gpus - above->first));
}

}  // namespace berth::papers
