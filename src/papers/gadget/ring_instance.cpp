// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/gadget/ring_instance.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "berth/base/assert.hpp"
#include "berth/base/option_range.hpp"
#include "berth/papers/gadget/ring_network.hpp"
#include "berth/speed/loss_curve.hpp"

namespace berth::papers::gadget {
namespace {

/// log(cosh x), for any x.
double log_cosh(double x) {
  return std::abs(x) + std::log1p(std::exp(-2.0 * std::abs(x))) - std::log(2.0);
}

/// log(sinh x), x > 0.
double log_sinh(double x) { return x + std::log(-std::expm1(-2.0 * x)) - std::log(2.0); }

/// What the job alone breaks in a slot; empty: nothing.
std::string fault_of_job(const RingJob& job, std::int32_t slot, std::int32_t workers,
                         std::int64_t done) {
  if (workers > 0 && slot < job.arrival) return "before its arrival";
  if (workers > job.most) return "more workers than it may have";
  return done + workers > job.budget ? "beyond its budget" : "";
}

}  // namespace

std::int64_t RingCluster::total_gpus() const {
  return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0});
}

std::int64_t worker_slots_of(double budget, double efficiency, BudgetReading reading) {
  expect_option("gadget: efficiency", efficiency, above(0.0));
  expect_option("gadget: budget", budget, at_least(0.0));
  const double slots = reading == BudgetReading::iterations ? budget / efficiency : budget;
  return static_cast<std::int64_t>(std::floor(slots));
}

double RingJob::utility(std::int64_t worker_slots) const {
  const double work = efficiency * static_cast<double>(worker_slots);
  return family == WorkUtility::sigmoid ? speed::sigmoid_of_work(c1, c2, c3, work)
                                        : c1 * std::sqrt(work);
}

double RingJob::log_gain(std::int64_t done, std::int64_t more) const {
  BERTH_EXPECT(done >= 0 && more > 0);
  const double from = efficiency * static_cast<double>(done);
  const double by = efficiency * static_cast<double>(more);
  if (c1 <= 0.0) return -std::numeric_limits<double>::infinity();
  if (family == WorkUtility::square_root)
    return std::log(c1) + std::log(by) - std::log(std::sqrt(from + by) + std::sqrt(from));
  if (c2 <= 0.0) return -std::numeric_limits<double>::infinity();
  // s(b) - s(a) = sinh((b - a) / 2) / (2 cosh(a / 2) cosh(b / 2)) of the logistic function s.
  const double a = 0.5 * c2 * (from - c3), b = 0.5 * c2 * (from + by - c3);
  return std::log(c1) + log_sinh(0.5 * c2 * by) - std::log(2.0) - log_cosh(a) - log_cosh(b);
}

void check_instance(const RingInstance& instance) {
  const RingCluster& cluster = instance.cluster;
  expect_option("gadget: slots", instance.slots, at_least(1.0));
  const std::size_t servers = cluster.servers(), racks = cluster.rack_link.size();
  for (std::size_t s = 0; s < servers; ++s) {
    const std::string at = "gadget: servers[" + std::to_string(s) + "].";
    expect_option(at + "gpus", cluster.gpus[s], at_least(0.0));
    expect_option(at + "link", cluster.server_link.at(s), at_least(0.0));
    expect_option(at + "rack", static_cast<double>(cluster.rack.at(s)),
                  {.least = 0.0, .most = static_cast<double>(racks) - 1.0});
  }
  for (std::size_t r = 0; r < racks; ++r)
    expect_option("gadget: racks[" + std::to_string(r) + "].link", cluster.rack_link[r],
                  at_least(0.0));
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
    const RingJob& job = instance.jobs[j];
    const std::string at = "gadget: jobs[" + std::to_string(j) + "].";
    expect_option(at + "arrival", job.arrival, at_least(0.0));
    expect_option(at + "most", job.most, at_least(1.0));
    expect_option(at + "budget", static_cast<double>(job.budget), at_least(0.0));
    expect_option(at + "efficiency", job.efficiency, above(0.0));
    expect_option(at + "bandwidth", job.bandwidth, at_least(0.0));
    expect_option(at + "c1", job.c1, at_least(0.0));
    expect_option(at + "c2", job.c2, at_least(0.0));
  }
}

std::int32_t workers_of(const Ring& ring) {
  std::int32_t sum = 0;
  for (const ServerShare& share : ring) sum += share.workers;
  return sum;
}

std::string fault_of(const RingInstance& instance, const RingSchedule& schedule) {
  std::vector<std::int64_t> done(instance.jobs.size(), 0);
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    RingNetwork network(instance.cluster);
    BERTH_EXPECT(schedule[t].size() == instance.jobs.size());
    for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
      const RingJob& job = instance.jobs[j];
      const Ring& ring = schedule[t][j];
      const std::int32_t workers = workers_of(ring);
      std::string fault = fault_of_job(job, static_cast<std::int32_t>(t), workers, done[j]);
      if (fault.empty() && !network.fits(ring, job.bandwidth)) fault = "GPUs or links";
      if (!fault.empty())
        return "slot " + std::to_string(t) + ", job " + std::to_string(j) + ": " + fault;
      network.take(ring, job.bandwidth);
      done[j] += workers;
    }
  }
  return schedule.size() > static_cast<std::size_t>(instance.slots) ? "too many slots" : "";
}

double total_utility(const RingInstance& instance, const RingSchedule& schedule) {
  double sum = 0.0;
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
    std::int64_t done = 0;
    for (const std::vector<Ring>& slot : schedule) done += workers_of(slot[j]);
    sum += instance.jobs[j].utility(done);
  }
  return sum;
}

}  // namespace berth::papers::gadget
