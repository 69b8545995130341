// SPDX-License-Identifier: Apache-2.0
#include "share_rounds.hpp"

#include "service_index.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/base/random.hpp"
#include "berth/solver/time_shares.hpp"

namespace berth::sim {
namespace {

using policy::Micros;
using policy::Phase;
using policy::State;

constexpr double kGap = 1e-3;         // of the shares; a round rounds far more
constexpr double kLeastShare = 1e-6;  // smaller ones are noise
constexpr int kMostParts = 1024;

bool may_stop(const State& state, JobId job) {
  return state.job(job).preemptible && state.demand(job).uses_gpus() &&
         state.progress(job).since < state.now();
}

}  // namespace

void ShareRounds::decide(State& state) {
  if (types_ == 0) {
    types_ = std::max<std::size_t>(state.free().cluster().gpu_types.size(), 1);
    present_.assign(state.running().begin(), state.running().end());
    last_ = state.now();  // jobs that run already have received nothing
  }
  const std::size_t size = state.size() * types_;
  if (share_.size() != size) {
    share_.resize(size);
    owed_.resize(size);
    received_.resize(size);
  }
  account(state);
  note_changes(state);
  if (state.now() >= round_) serve_round(state);
  fill_idle(state);
  const bool several = types_ > 1 && !state.running().empty();
  if (state.waiting() > 0 || several) state.wake_at(std::max(round_, state.now() + 1));
}

/// Counts the time since the last decision as owed and received.
void ShareRounds::account(const State& state) {
  const Micros since = std::exchange(last_, state.now());
  const auto length = static_cast<double>(state.now() - since);
  for (const JobId job : present_) {
    for (std::size_t t = 0; t < types_; ++t) {
      const std::size_t entry = at(job, GpuTypeId(t));
      owed_[entry] += length * share_[entry];
    }
  }
  for (const JobId job : state.running()) {
    if (!state.demand(job).uses_gpus()) continue;
    received_[at(job, state.progress(job).type)] += state.now() - since;
  }
}

void ShareRounds::note_changes(const State& state) {
  for (const JobId job : state.arrived()) {  // a job whose machine failed is here already
    if (std::ranges::find(present_, job) == present_.end()) present_.push_back(job);
  }
  if (!state.ended().empty()) {
    std::erase_if(present_, [&](JobId job) { return state.progress(job).phase == Phase::ended; });
  }
  changed_ =
      changed_ || !state.arrived().empty() || !state.ended().empty() || state.machines_changed();
}

/// GPUs that are free, and those of jobs that may be stopped.
void ShareRounds::count_room(const State& state) {
  room_.assign(types_, 0);
  for (std::size_t t = 0; t < state.free().cluster().gpu_types.size(); ++t) {
    room_[t] = state.free().free_milli(GpuTypeId(t));
  }
  for (const JobId job : state.running()) {
    if (may_stop(state, job)) room_[state.progress(job).type.index()] += state.demand(job).milli;
  }
}

void ShareRounds::choose_shares(const State& state) {
  changed_ = false;
  std::vector<std::vector<JobId>> parts(static_cast<std::size_t>(options_.parts));
  for (const JobId job : present_) {
    for (std::size_t t = 0; t < types_; ++t) share_[at(job, GpuTypeId(t))] = 0.0;
    if (!state.demand(job).uses_gpus()) continue;
    parts[random_below(parts.size(), {job.index()})].push_back(job);
  }
  for (const std::vector<JobId>& part : parts) choose_shares_of(state, part);
}

/// GPU thousandths of each type on machines that are open.
std::vector<std::int64_t> ShareRounds::open_gpus(const State& state) const {
  std::vector<std::int64_t> open(types_);
  for (std::size_t t = 0; t < types_; ++t) open[t] = state.free().free_milli(GpuTypeId(t));
  for (const JobId job : state.running()) {
    if (state.demand(job).uses_gpus())
      open[state.progress(job).type.index()] += state.demand(job).milli;
  }
  return open;
}

/// Rates of Gavel by type: max-min: GPUs x speed over weight and what equal shares of all types
/// give; max-sum: weight x speed over the fastest. Empty: the job fits no type now.
std::vector<double> ShareRounds::rates_of(const State& state, JobId job,
                                          const std::vector<std::int64_t>& open) const {
  const policy::Demand& demand = state.demand(job);
  const auto all = static_cast<double>(std::accumulate(open.begin(), open.end(), std::int64_t{0}));
  std::vector<double> rates(types_);
  double equal = 0.0, fastest = 0.0;
  for (const GpuTypeId type : demand.types) {
    const std::int64_t milli = open[type.index()];
    if (milli < demand.milli) continue;
    const double speed = demand.speed_on(type);
    rates[type.index()] = speed;
    fastest = std::max(fastest, speed);
    equal += speed * static_cast<double>(milli) / all;
  }
  if (fastest == 0.0) return {};
  const double weight = std::max(state.job(job).weight, 1e-6);
  const bool fair = options_.objective == ShareObjective::max_min;
  const double scale = fair ? demand.gpus() / (weight * equal) : weight / fastest;
  for (double& rate : rates) rate *= scale;
  return rates;
}

/// @param jobs  of one part
void ShareRounds::choose_shares_of(const State& state, const std::vector<JobId>& jobs) {
  const std::vector<std::int64_t> open = open_gpus(state);
  solver::ShareProblem problem;
  for (const std::int64_t milli : open) {
    const double gpus = std::max(static_cast<double>(milli) / 1000.0, 1e-3);
    problem.capacity.push_back(gpus / options_.parts);
  }
  std::vector<JobId> asked;
  for (const JobId job : jobs) {
    const std::vector<double> rates = rates_of(state, job, open);
    if (rates.empty()) continue;
    problem.rate.insert(problem.rate.end(), rates.begin(), rates.end());
    problem.gpus.push_back(state.demand(job).gpus());
    asked.push_back(job);
  }
  if (asked.empty()) return;
  const bool fair = options_.objective == ShareObjective::max_min;
  const auto found = fair ? solver::max_min_shares(problem, {.gap = kGap})
                          : solver::max_sum_shares(problem, {.gap = kGap});
  for (std::size_t j = 0; j < asked.size(); ++j) {
    const auto first = found.share.begin() + static_cast<std::ptrdiff_t>(j * types_);
    std::copy_n(first, types_,
                share_.begin() + static_cast<std::ptrdiff_t>(asked[j].index() * types_));
  }
}

/// Pairs of a job and a type that it has a share of.
void ShareRounds::make_claims(const State& state) {
  claims_.clear();
  for (const JobId job : present_) {
    const policy::Demand& demand = state.demand(job);
    if (!demand.uses_gpus() || (runs(state, job) && !may_stop(state, job))) continue;
    for (const GpuTypeId type : demand.types) {
      const std::size_t entry = at(job, type);
      if (share_[entry] < kLeastShare) continue;
      const double served = static_cast<double>(received_[entry]) / std::max(owed_[entry], 1.0);
      claims_.push_back({.served = std::llround(1e3 * std::min(served, 1e12)),
                         .arrival = state.job(job).arrival,
                         .job = job,
                         .preference = -std::llround(1e6 * share_[entry]),
                         .type = type});
    }
  }
  std::ranges::sort(claims_);
}

/// GPUs by number: to claims in order, then to running jobs that nobody has claimed the GPUs of.
void ShareRounds::give_out(const State& state) {
  given_.clear();
  keeps_.assign(state.size(), 0);
  std::vector<std::uint8_t> served(state.size(), 0);
  for (const Claim& claim : claims_) {
    const std::int64_t milli = state.demand(claim.job).milli;
    if (served[claim.job.index()] != 0 || room_[claim.type.index()] < milli) continue;
    served[claim.job.index()] = 1;
    room_[claim.type.index()] -= milli;
    const bool stays = runs(state, claim.job) && state.progress(claim.job).type == claim.type;
    if (stays) {
      keeps_[claim.job.index()] = 1;
    } else {
      given_.push_back(claim);
    }
  }
  for (const JobId job : present_) {
    if (!runs(state, job) || served[job.index()] != 0 || !may_stop(state, job)) continue;
    std::int64_t& room = room_[state.progress(job).type.index()];
    if (room < state.demand(job).milli) continue;
    room -= state.demand(job).milli;
    keeps_[job.index()] = 1;
  }
}

void ShareRounds::serve_round(State& state) {
  round_ = state.now() + options_.round;
  if (changed_) choose_shares(state);
  count_room(state);
  make_claims(state);
  give_out(state);
  for (const JobId job : present_) {
    if (runs(state, job) && keeps_[job.index()] == 0 && may_stop(state, job)) state.stop(job);
  }
  for (const Claim& claim : given_) (void)state.start(claim.job, claim.type);
}

/// What the shares leave idle: jobs in order of time received over time owed, on any type.
void ShareRounds::fill_idle(State& state) {
  if (state.waiting() == 0 || !state.any_may_fit()) return;
  struct WaitingJob {
    double served;
    JobId job;
  };
  std::vector<WaitingJob> waiting;
  for (const JobId job : present_) {
    if (runs(state, job)) continue;
    double received = 0.0, owed = 0.0;
    for (std::size_t t = 0; t < types_; ++t) {
      received += static_cast<double>(received_[at(job, GpuTypeId(t))]);
      owed += owed_[at(job, GpuTypeId(t))];
    }
    waiting.push_back({received / std::max(owed, 1.0), job});
  }
  std::ranges::stable_sort(waiting, {}, &WaitingJob::served);
  for (const WaitingJob& next : waiting) {
    if (state.progress(next.job).stopped && state.undo_stop(next.job)) continue;
    if (!state.start(next.job) && !state.any_may_fit()) break;
  }
}

std::optional<SharePolicyOptions> share_policy_options(std::string_view name) {
  if (name == "max-min") return SharePolicyOptions{};
  if (name == "max-sum") return SharePolicyOptions{.objective = ShareObjective::max_sum};
  constexpr std::string_view kPop = "pop-";
  if (!name.starts_with(kPop)) return std::nullopt;
  const std::string_view number = name.substr(kPop.size());
  SharePolicyOptions options;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), options.parts);
  const bool sound = error == std::errc() && end == number.data() + number.size();
  if (!sound || options.parts < 1 || options.parts > kMostParts) {
    throw InputError({.file = "", .line = 0, .field = "policy"},
                     "\"" + std::string(name) + "\" has no number of parts from 1 to 1024",
                     "for example pop-4");
  }
  return options;
}

std::unique_ptr<policy::Policy> make_share_policy(const SharePolicyOptions& options) {
  return std::make_unique<ShareRounds>(options);
}

}  // namespace berth::sim
