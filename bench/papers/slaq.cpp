// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"
#include "slaq_world.hpp"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/certify/flow.hpp"
#include "berth/papers/quality_allocation.hpp"

namespace berth::bench {
namespace {

using QualityView = papers::QualityJob (*)(papers::LossHistory&, double, double);

std::vector<std::int32_t> divide(std::span<const KnownJob> jobs, const QualitySetting& setting,
                                 QualityView view) {
  std::vector<papers::QualityJob> seen;
  for (const KnownJob& job : jobs) {
    seen.push_back(view(*job.history, job.iteration, setting.epoch / job.seconds_per_iteration));
    seen.back().most = setting.most;
  }
  return papers::divide_by_quality(seen, setting.cores);
}

std::vector<std::int32_t> fair(std::span<const KnownJob> jobs, const QualitySetting& setting) {
  return papers::divide_equally(std::vector<std::int32_t>(jobs.size(), setting.most),
                                setting.cores);
}

std::vector<std::int32_t> slaq(std::span<const KnownJob> jobs, const QualitySetting& setting) {
  return divide(jobs, setting, papers::paper_quality_job);
}

std::vector<std::int32_t> berth(std::span<const KnownJob> jobs, const QualitySetting& setting) {
  return divide(jobs, setting, papers::berth_quality_job);
}

/// Values of one scheduler over the seeds.
struct Series {
  std::string scheduler;
  std::vector<QualityResult> by_seed;
};

/// Means that the judge proves for every schedule.
QualityResult bound(std::span<const TrainedJob> jobs, const QualitySetting& setting) {
  const auto n = static_cast<double>(jobs.size());
  std::vector<double> rate(static_cast<std::size_t>(setting.most));
  std::iota(rate.begin(), rate.end(), 1.0);
  const auto flow = [&](double part) {
    std::vector<certify::MalleableJob> malleable;
    for (const papers::FluidJob& job : fluid_jobs(jobs, part)) {
      double work = 0.0;
      for (const papers::FluidPiece& piece : job.pieces) work += piece.work;
      malleable.push_back({.release = job.release, .work = work, .rate = rate});
    }
    return certify::prove_total_flow(malleable, setting.cores) / n;
  };
  std::vector<certify::EarningJob> earning;
  for (const papers::FluidJob& job : fluid_jobs(jobs, 0.0)) {
    earning.push_back({.release = job.release, .pieces = {}});
    for (const papers::FluidPiece& piece : job.pieces)
      earning.back().pieces.push_back({piece.work, piece.value});
  }
  return {.mean_loss = 0.0,
          .loss_seconds = certify::prove_total_unearned(earning, setting.cores) / n,
          .to_90 = flow(0.1),
          .to_95 = flow(0.05),
          .to_exit = flow(0.0)};
}

using Metric = double QualityResult::*;
constexpr std::pair<const char*, Metric> kMetrics[] = {
    {"mean normalised loss", &QualityResult::mean_loss},
    {"loss x time of a job, s", &QualityResult::loss_seconds},
    {"time to 90 %, s", &QualityResult::to_90},
    {"time to 95 %, s", &QualityResult::to_95},
    {"time to exit, s", &QualityResult::to_exit}};

/// A bound that a scheduler beats is no bound.
void check(const QualityResult& result, const QualityResult& least) {
  for (const auto& [metric, member] : kMetrics) {
    if (result.*member < least.*member * (1.0 - 1e-9))
      throw std::logic_error(std::string(metric) + ": below its bound");
  }
}

void add_rows(std::vector<ResultRow>& rows, const std::string& name,
              std::span<const Series> series) {
  for (const auto& [metric, member] : kMetrics) {
    for (const Series& s : series) {
      // A mean over the jobs that are there is no function of when each reaches what.
      if (s.scheduler == "bound" && member == &QualityResult::mean_loss) continue;
      ResultRow& row = rows.emplace_back(name, s.scheduler, metric);
      for (const QualityResult& result : s.by_seed) row.by_seed.push_back(result.*member);
    }
  }
}

}  // namespace

void compare_quality(std::vector<ResultRow>& rows, const std::string& name,
                     const QualitySetting& setting, std::size_t seeds) {
  const std::pair<const char*, DivisionRule> rules[] = {
      {"fair", fair}, {"slaq", slaq}, {"berth", berth}};
  std::vector<Series> series;
  for (const auto& [scheduler, rule] : rules) {
    Series& added = series.emplace_back(scheduler);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      added.by_seed.push_back(train(draw_jobs(setting, seed), setting, rule, seed));
  }
  Series least{"bound", {}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    least.by_seed.push_back(bound(draw_jobs(setting, seed), setting));
    for (const Series& s : series) check(s.by_seed[seed - 1], least.by_seed.back());
  }
  series.push_back(std::move(least));
  add_rows(rows, name, series);
}

std::vector<ResultRow> run_slaq(const ExperimentOptions& options) {
  std::vector<ResultRow> rows;
  QualitySetting setting;
  if (options.smoke) setting.jobs = 12;
  compare_quality(rows, "load 1.15", setting, options.seeds);
  options.ended(rows);
  setting.load = 0.5;
  compare_quality(rows, "load 0.5", setting, options.seeds);
  options.ended(rows);
  setting.load = 1.0;
  setting.most = 64;
  compare_quality(rows, "load 1, 64 cores a job", setting, options.seeds);
  return rows;
}

}  // namespace berth::bench
