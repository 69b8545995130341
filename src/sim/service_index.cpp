// SPDX-License-Identifier: Apache-2.0
#include "service_index.hpp"

#include "job_value.hpp"

#include <algorithm>
#include <cmath>

namespace berth::sim {
namespace {

using policy::Micros;
using policy::State;

constexpr double kAgeingGrace = 600.0;    // seconds
constexpr double kOverdueGrace = 3600.0;  // seconds
constexpr double kLeastWeight = 1e-12;
constexpr double kWorthless = 1e30;  // index of jobs that earn nothing any more

double seconds(Micros span) {
  return static_cast<double>(span) / static_cast<double>(policy::kSecond);
}

/// On its fastest type, from the first start to the end.
double length_of(const State& state, JobId job) {
  return seconds(state.done(job) + state.remaining(job)) / state.demand(job).speeds.front();
}

double age_of(const State& state, JobId job) {
  return seconds(state.now() - state.job(job).arrival);
}

}  // namespace

Micros ServiceIndex::stays_until(const State& state, JobId job) const {
  const policy::Job& known = state.job(job);
  if (!known.preemptible || !options_.preemption) return policy::kNever;
  const double restarts = options_.least_run_restarts * static_cast<double>(known.restart_cost);
  const Micros least = std::max(options_.least_run, static_cast<Micros>(std::llround(restarts)));
  return state.progress(job).since + std::max<Micros>(least, 1);
}

bool ServiceIndex::stays(const State& state, JobId job) const {
  return runs(state, job) && state.now() < stays_until(state, job);
}

/// Seconds to the end on its fastest type. A running job's count less, a stopped one's more.
double ServiceIndex::time_left(const State& state, JobId job) const {
  const double left = seconds(state.remaining(job)) / state.demand(job).speeds.front();
  const double restart = seconds(state.job(job).restart_cost);
  if (runs(state, job)) return std::max(0.0, (1.0 - options_.hysteresis) * left - restart);
  return state.progress(job).runs > 0 ? left + restart : left;
}

/// Weight, and more of it with age.
double ServiceIndex::patience(const State& state, JobId job) const {
  const double weight = state.job(job).weight;
  if (options_.ageing <= 0.0) return weight;
  const double length = length_of(state, job) + kAgeingGrace;
  const double age = age_of(state, job) / (options_.ageing * length);
  return weight * (1.0 + age * age);
}

/// What the job earns when it is served now, and once more what of it is lost when it waits as long
/// as it takes.
double ServiceIndex::value_at_risk(const State& state, JobId job, double time) const {
  const double left = seconds(state.remaining(job)) / state.demand(job).speeds.front();
  const auto end = [&](double after) {
    return state.now() + static_cast<Micros>(std::llround(after * policy::kSecond));
  };
  const double served = value_at(*workload_, job, end(time));
  return 2.0 * served - value_at(*workload_, job, end(time + left));
}

double ServiceIndex::index_of(const State& state, JobId job) const {
  const policy::Demand& demand = state.demand(job);
  double width = demand.gpus();
  if (options_.width_exponent != 1.0) width = std::pow(width, options_.width_exponent);
  const double left = seconds(state.remaining(job)) / demand.speeds.front();
  const double time = time_left(state, job);
  switch (options_.objective) {
    case OnlineObjective::makespan:
      return -left;
    case OnlineObjective::allocate:
      return -width * left;
    case OnlineObjective::value: {
      const double value = value_at_risk(state, job, time);
      return value > 0.0 ? width * time / value : kWorthless;
    }
    case OnlineObjective::flow:
      break;
  }
  return width * time / std::max(patience(state, job), kLeastWeight);
}

bool ServiceIndex::overdue(const State& state, JobId job) const {
  if (options_.overdue_share <= 0.0) return false;
  const double grace = length_of(state, job) + kOverdueGrace;
  return age_of(state, job) > options_.overdue_factor * grace;
}

/// Gives the jobs the index, in order of arrival, until they ask for more than their share of all
/// GPUs; the first one always.
void ServiceIndex::serve_first(const State& state, std::vector<IndexedJob*>& jobs, double share,
                               double index) const {
  double all = static_cast<double>(state.free().free_milli());
  for (const JobId job : state.running()) all += static_cast<double>(state.demand(job).milli);
  std::ranges::sort(jobs, {}, [](const IndexedJob* j) { return std::pair(j->arrival, j->job); });
  double taken = 0.0;
  for (IndexedJob* job : jobs) {
    const auto milli = static_cast<double>(state.demand(job->job).milli);
    if (taken > 0.0 && taken + milli > share * all) continue;
    taken += milli;
    job->index = index;
  }
}

std::vector<IndexedJob> ServiceIndex::index(const State& state, std::span<const JobId> present) {
  std::vector<IndexedJob> jobs;
  jobs.reserve(present.size());
  overdue_.clear();
  gangs_.clear();
  for (const JobId job : present) {
    if (stays(state, job)) continue;
    jobs.push_back({index_of(state, job), state.job(job).arrival, job});
    if (overdue(state, job)) {
      overdue_.push_back(&jobs.back());
    } else if (options_.gang_share > 0.0 && state.demand(job).gpus() >= options_.gang_gpus) {
      gangs_.push_back(&jobs.back());
    }
  }
  serve_first(state, gangs_, options_.gang_share, kFirst / 2.0);
  serve_first(state, overdue_, options_.overdue_share, kFirst);
  return jobs;
}

}  // namespace berth::sim
