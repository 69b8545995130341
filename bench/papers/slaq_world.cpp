// SPDX-License-Identifier: Apache-2.0
#include "slaq_world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/base/random.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kSlaqDraws = 0x51A0;
constexpr double kNoise = 0.005;
constexpr double kNever = std::numeric_limits<double>::infinity();

double slaq_noise(std::uint64_t seed, std::uint64_t job, std::uint64_t at) {
  const double u = random_unit({kSlaqDraws, seed, job, at, 1});
  const double v = random_unit({kSlaqDraws, seed, job, at, 2});
  return std::sqrt(-2.0 * std::log1p(-u)) * std::cos(6.283185307179586 * v);
}

/// Part of an epoch that a job spends before this many iterations; kNever: not in this epoch.
double part_until(double iterations, double from, double to) {
  if (iterations <= from) return 0.0;
  return iterations <= to ? (iterations - from) / (to - from) : kNever;
}

/// A job in training.
struct Training {
  const TrainedJob* job = nullptr;
  std::uint64_t id = 0;
  papers::LossHistory history;
  double iteration = 0.0, next_report = 0.0;
  double k90 = 0.0, k95 = 0.0;

  void report(std::uint64_t seed) {
    for (; next_report <= iteration; next_report += 1.0) {
      const double loss = job->offset + job->unit * job->curve.loss(next_report);
      const double z = slaq_noise(seed, id, 100 + static_cast<std::uint64_t>(next_report));
      history.add(next_report, loss * (1.0 + kNoise * z));
    }
  }
};

struct Clock {
  double now = 0.0, epoch = 0.0;
};

/// Trains one epoch with these cores; true: the job ended.
bool advance(Training& t, std::int32_t cores, const Clock& clock, QualityResult& sum) {
  const double from = t.iteration;
  const double to = from + cores * clock.epoch / t.job->seconds_per_iteration;
  const double since = clock.now - t.job->arrival;
  const auto add = [&](double iterations, double& total) {
    if (from > 0.0 && iterations <= from) return;
    if (const double part = part_until(iterations, from, to); part < kNever)
      total += since + part * clock.epoch;
  };
  add(t.k90, sum.to_90);
  add(t.k95, sum.to_95);
  add(t.job->exit, sum.to_exit);
  // The loss is linear between whole iterations: the trapezoidal rule over them is exact.
  const double stop = std::min(to, t.job->exit);
  for (double at = from; at < stop;) {
    const double next = std::min(std::floor(at) + 1.0, stop);
    const double seconds = (next - at) / (to - from) * clock.epoch;
    sum.loss_seconds += 0.5 * seconds * (t.job->left(at) + t.job->left(next));
    at = next;
  }
  if (to == from) sum.loss_seconds += clock.epoch * t.job->left(from);
  t.iteration = to;
  return to >= t.job->exit;
}

void arrive(std::vector<Training>& present, const TrainedJob& job, std::uint64_t id,
            const Clock& clock, QualityResult& sum) {
  Training t;
  t.job = &job;
  t.id = id;
  t.k90 = job.until(0.1);
  t.k95 = job.until(0.05);
  sum.loss_seconds += clock.now - job.arrival;  // it waits for the decision
  present.push_back(std::move(t));
}

double mean_left(std::span<const Training> present) {
  double sum = 0.0;
  for (const Training& t : present) sum += t.job->left(t.iteration);
  return present.empty() ? 0.0 : sum / static_cast<double>(present.size());
}

}  // namespace

double TrainedJob::left(double iterations) const {
  const double whole = std::floor(iterations), part = iterations - whole;
  const double at = curve.normalised(whole);
  return part == 0.0 ? at : at + part * (curve.normalised(whole + 1.0) - at);
}

double TrainedJob::until(double part) const {
  const double after = std::ceil(curve.iterations_until(part)), before = after - 1.0;
  if (after <= 0.0) return 0.0;
  const double high = curve.normalised(before), low = curve.normalised(after);
  return before + (high - part) / (high - low);
}

std::vector<TrainedJob> draw_jobs(const QualitySetting& setting, std::uint64_t seed) {
  constexpr double kSigma = 1.0;
  const double mean_work = setting.load * setting.cores * setting.mean_gap;
  std::vector<TrainedJob> jobs;
  double arrival = 0.0;
  for (std::uint64_t j = 0; j < setting.jobs; ++j) {
    const auto unit = [&](std::uint64_t what) { return random_unit({kSlaqDraws, seed, j, what}); };
    TrainedJob job;
    arrival -= setting.mean_gap * std::log1p(-unit(1));
    job.arrival = arrival;
    const double k95 = 20.0 * std::pow(10.0, unit(2));
    if (unit(3) < 0.5) {
      job.curve = {.family = speed::LossFamily::sublinear, .a = 0, .b = 19 / k95, .c = 1, .d = 0};
    } else {
      job.curve = {.family = speed::LossFamily::linear,
                   .a = std::pow(0.05, 1.0 / k95),
                   .b = 0.0,
                   .c = 0.0,
                   .d = 0.0};
    }
    job.exit = 2.0 * std::ceil(k95);
    const double work =
        mean_work * std::exp(kSigma * slaq_noise(seed, j, 4) - 0.5 * kSigma * kSigma);
    job.seconds_per_iteration = work / job.exit;
    job.unit = std::pow(10.0, 4.0 * unit(5) - 2.0);
    job.offset = job.unit * unit(6);
    jobs.push_back(job);
  }
  return jobs;
}

QualityResult train(std::span<const TrainedJob> jobs, const QualitySetting& setting,
                    DivisionRule rule, std::uint64_t seed) {
  QualityResult sum;
  std::vector<Training> present;
  Clock clock{.now = 0.0, .epoch = setting.epoch};
  double busy = 0.0;
  for (std::size_t next = 0; next < jobs.size() || !present.empty(); clock.now += clock.epoch) {
    for (; next < jobs.size() && jobs[next].arrival <= clock.now; ++next)
      arrive(present, jobs[next], next, clock, sum);
    if (present.empty()) continue;
    std::vector<KnownJob> known;
    for (Training& t : present) {
      t.report(seed);
      known.push_back({&t.history, t.iteration, t.job->seconds_per_iteration});
    }
    const std::vector<std::int32_t> cores = rule(known, setting);
    const double before = mean_left(present);
    std::vector<Training> stay;
    for (std::size_t i = 0; i < present.size(); ++i) {
      if (!advance(present[i], cores[i], clock, sum)) stay.push_back(std::move(present[i]));
    }
    present = std::move(stay);
    sum.mean_loss += clock.epoch * (present.empty() ? before : 0.5 * (before + mean_left(present)));
    busy += clock.epoch;
  }
  const auto n = static_cast<double>(jobs.size());
  return {.mean_loss = sum.mean_loss / busy,
          .loss_seconds = sum.loss_seconds / n,
          .to_90 = sum.to_90 / n,
          .to_95 = sum.to_95 / n,
          .to_exit = sum.to_exit / n};
}

std::vector<papers::FluidJob> fluid_jobs(std::span<const TrainedJob> jobs, double part) {
  std::vector<papers::FluidJob> fluid;
  for (const TrainedJob& job : jobs) {
    papers::FluidJob& added = fluid.emplace_back();
    added.release = job.arrival;
    const double end = part > 0.0 ? job.until(part) : job.exit;
    for (double k = 0.0; k < end; k += 1.0) {
      const double next = std::min(k + 1.0, end);
      added.pieces.push_back(
          {(next - k) * job.seconds_per_iteration, job.left(k) - job.left(next)});
    }
    added.pieces.back().value += job.left(end);  // what is left leaves with the job
  }
  return fluid;
}

}  // namespace berth::bench
