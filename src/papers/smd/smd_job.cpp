// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/smd/smd_job.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"
#include "berth/base/option_range.hpp"
#include "berth/speed/loss_curve.hpp"

namespace berth::papers::smd {
namespace {

constexpr double kLimitSlack = 1e-12;  ///< relative: sums of demands

/// Most units of `demand` in what `other` x count leaves of the limit; a demand of nothing has no
/// end, which callers bound.
std::int64_t most_units(const SmdJob& job, std::span<const double> demand,
                        std::span<const double> other, std::int64_t count) {
  double most = 1e9;
  for (std::size_t r = 0; r < job.limit.size(); ++r) {
    const double left = job.limit[r] * (1.0 + kLimitSlack) - other[r] * static_cast<double>(count);
    if (left < 0.0) return 0;
    if (demand[r] > 0.0) most = std::min(most, left / demand[r]);
  }
  BERTH_ENSURE(most < 1e9);
  return static_cast<std::int64_t>(most);
}

/// Utility or time gained by one more; of time, the larger the more.
double worth(const SmdJob& job, const Crew& crew, OptimusGain gain, double time_unit) {
  const double seconds = completion_seconds(job, crew);
  return gain == OptimusGain::utility ? job.utility(seconds, time_unit) : -seconds;
}

}  // namespace

double SmdJob::utility(double seconds, double time_unit) const {
  return seconds < kInfinity ? speed::sigmoid_of_time(c1, c2, c3, seconds / time_unit) : 0.0;
}

double completion_seconds(const SmdJob& job, double workers, double servers) {
  if (workers <= 0.0 || servers <= 0.0) return kInfinity;
  return job.iterations / speed::iterations_per_second(job.speed, workers, servers);
}

bool within_limit(const SmdJob& job, const Crew& crew) {
  if (crew.workers < 1 || crew.servers < 1) return false;
  for (std::size_t r = 0; r < job.limit.size(); ++r) {
    const double used = job.worker[r] * static_cast<double>(crew.workers) +
                        job.server[r] * static_cast<double>(crew.servers);
    if (used > job.limit[r] * (1.0 + kLimitSlack)) return false;
  }
  return true;
}

double InnerCoefficients::seconds(double w, double p) const {
  return synchronous ? theta1 * w + theta2 * p + theta3 + theta4 * w / p + theta5 / w
                     : theta1 + theta2 * p / w + theta3 / w + theta4 / p;
}

InnerCoefficients coefficients(const SmdJob& job) {
  const speed::OverlapJob& s = job.speed;
  InnerCoefficients c;
  c.synchronous = s.sending_workers <= 0.0;
  const double e = job.iterations;
  const double transfer = 2.0 * e * s.transfer_factor * s.model_gbit / s.server_gbps;
  const double forward = s.forward_factor * e * s.batch * s.forward;
  const double backward = e * s.backward_factor * s.backward;
  c.theta1 = e * s.worker_overhead;
  c.theta2 = e * s.server_overhead;
  c.theta3 = c.synchronous ? backward : forward + backward;
  c.theta4 = c.synchronous ? transfer : transfer * s.sending_workers;
  c.theta5 = c.synchronous ? forward : 0.0;
  return c;
}

Crew fastest_crew(const SmdJob& job) {
  const InnerCoefficients c = coefficients(job);
  Crew best;
  double least = kInfinity;
  const std::int64_t most_workers = most_units(job, job.worker, job.server, 1);
  for (std::int64_t w = 1; w <= most_workers; ++w) {
    const std::int64_t most = most_units(job, job.server, job.worker, w);
    if (most < 1) break;
    const double flat =
        c.theta2 > 0.0 ? std::sqrt(c.theta4 * static_cast<double>(w) / c.theta2) : kInfinity;
    const auto low = static_cast<std::int64_t>(std::clamp(flat, 1.0, static_cast<double>(most)));
    for (const std::int64_t p : {low, std::min(low + 1, most)}) {
      const double seconds = completion_seconds(job, {w, p});
      if (seconds < least) {
        least = seconds;
        best = {w, p};
      }
    }
  }
  return best;
}

Crew round_crew(const SmdJob& job, const RealCrew& crew, const RoundingTries& tries) {
  const double x[] = {crew.workers, crew.servers};
  const auto accept = [&](std::span<const std::int64_t> v) {
    return within_limit(job, {v[0], v[1]});
  };
  if (const auto rounded = round_until(x, tries, accept)) return {(*rounded)[0], (*rounded)[1]};
  return {std::max<std::int64_t>(1, static_cast<std::int64_t>(crew.workers)),
          std::max<std::int64_t>(1, static_cast<std::int64_t>(crew.servers))};
}

Crew optimus_crew(const SmdJob& job, OptimusGain gain, double time_unit) {
  expect_option("optimus: time_unit", time_unit, above(0.0));
  Crew crew{1, 1};
  if (!within_limit(job, crew)) return {};
  for (;;) {
    const double now = worth(job, crew, gain, time_unit);
    const Crew worker{crew.workers + 1, crew.servers}, server{crew.workers, crew.servers + 1};
    const double by_worker =
        within_limit(job, worker) ? worth(job, worker, gain, time_unit) - now : 0.0;
    const double by_server =
        within_limit(job, server) ? worth(job, server, gain, time_unit) - now : 0.0;
    if (std::max(by_worker, by_server) <= 0.0) return crew;
    crew = by_server >= by_worker ? server : worker;
  }
}

Crew equal_crew(const SmdJob& job) {
  std::vector<double> both(job.limit.size());
  for (std::size_t r = 0; r < both.size(); ++r) both[r] = job.worker[r] + job.server[r];
  const std::int64_t count = most_units(job, both, job.worker, 0);
  return {count, count};
}

}  // namespace berth::papers::smd
