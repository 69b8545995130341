// SPDX-License-Identifier: Apache-2.0
#include "smd_policy.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "berth/base/error.hpp"
#include "berth/papers/knapsack.hpp"

namespace berth::papers {
namespace smd {
namespace {

constexpr double kLeastFactor = 1e-9;       ///< of the value: late jobs run in the end
constexpr std::int64_t kNodes = 2'000'000;  ///< of an admission; beyond them the best found

/// Crew of the next larger number of workers and as many servers, or the other way round.
std::size_t next_offer(const OfferedJob& job, std::size_t from, std::int64_t OfferedCrew::*grown,
                       std::int64_t OfferedCrew::*equal) {
  std::size_t best = job.crews.size();
  for (std::size_t c = 0; c < job.crews.size(); ++c) {
    const OfferedCrew& crew = job.crews[c];
    if (crew.*equal != job.crews[from].*equal || crew.*grown <= job.crews[from].*grown) continue;
    if (best == job.crews.size() || crew.*grown < job.crews[best].*grown) best = c;
  }
  return best;
}

class ReservationPolicy final : public policy::Policy {
 public:
  ReservationPolicy(const PaperWorld& world, OfferedWorld offered, CrewRule rule)
      : world_(world), offered_(std::move(offered)), rule_(rule) {}

  void decide(policy::State& state) override {
    std::vector<JobId> waiting;
    for (std::size_t j = 0; j < state.size(); ++j) {
      if (state.progress(JobId(j)).phase == policy::Phase::waiting) waiting.push_back(JobId(j));
    }
    if (waiting.empty()) return;
    const KnapsackChoice choice = best_knapsack(admission(state, waiting), kNodes);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (choice.taken[i] != 0) start(state, waiting[i]);
    }
  }
  bool save(ByteWriter&) const override { return true; }  // it remembers nothing

 private:
  /// The waiting jobs in what running ones do not reserve.
  [[nodiscard]] Knapsack admission(const policy::State& state,
                                   std::span<const JobId> waiting) const {
    Knapsack knapsack;
    knapsack.capacity = offered_.capacity;
    for (const JobId job : state.running()) {
      const Amounts& limit = offered_.jobs[job.index()].limit;
      for (std::size_t k = 0; k < limit.size(); ++k) {
        knapsack.capacity[k] = std::max(knapsack.capacity[k] - limit[k], 0.0);
      }
    }
    for (const JobId job : waiting) {
      knapsack.utility.push_back(utility(state, job));
      const Amounts& limit = offered_.jobs[job.index()].limit;
      knapsack.size.insert(knapsack.size.end(), limit.begin(), limit.end());
    }
    return knapsack;
  }

  /// Of the completion when the job starts now.
  [[nodiscard]] double utility(const policy::State& state, JobId id) const {
    const model::Workload& workload = world_.instance.workload;
    const model::Job& job = workload.job(id);
    const double gpus = static_cast<double>(workload.gpu_milli(job)) / 1000.0;
    const double value = std::isnan(job.value) ? job.weight * std::max(gpus, 1.0) : job.value;
    const OfferedJob& offered = offered_.jobs[id.index()];
    const auto wait = static_cast<double>(state.now() - state.job(id).arrival);
    const double run =
        static_cast<double>(state.remaining(id)) / offered.crews[rule_(offered)].rate;
    const double factor = model::factor_after(workload.utilities[workload.time_of(job).utility],
                                              (wait + run) / policy::kSecond);
    return std::max(value, kLeastFactor) * std::max(factor, kLeastFactor);
  }

  /// With the crew of the rule; where machines hold it in no way, with a slower one.
  void start(policy::State& state, JobId id) const {
    const OfferedJob& job = offered_.jobs[id.index()];
    std::vector<std::size_t> order(job.crews.size());
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t c) { return job.crews[c].rate; });
    const std::size_t chosen = rule_(job);
    std::erase(order, chosen);
    order.insert(order.begin(), chosen);
    for (const std::size_t c : order) {
      if (state.job(id).elastic) state.choose(id, job.crews[c].configuration);
      if (state.start(id)) return;
    }
  }

  PaperWorld world_;
  OfferedWorld offered_;
  CrewRule rule_;
};

}  // namespace

std::size_t fastest_offer(const OfferedJob& job) {
  const auto at = std::ranges::max_element(job.crews, {}, &OfferedCrew::rate);
  return static_cast<std::size_t>(at - job.crews.begin());
}

std::size_t greedy_offer(const OfferedJob& job) {
  const auto tasks = [](const OfferedCrew& crew) { return crew.workers + crew.servers; };
  const auto least = std::ranges::min_element(job.crews, {}, tasks);
  auto at = static_cast<std::size_t>(least - job.crews.begin());
  for (;;) {
    const auto seconds = [&](std::size_t c) {
      return 1.0 / job.crews[c < job.crews.size() ? c : at].rate;
    };
    const std::size_t server = next_offer(job, at, &OfferedCrew::servers, &OfferedCrew::workers);
    const std::size_t worker = next_offer(job, at, &OfferedCrew::workers, &OfferedCrew::servers);
    const std::size_t next = seconds(server) <= seconds(worker) ? server : worker;
    if (seconds(next) >= seconds(at)) return at;
    at = next;
  }
}

std::size_t equal_offer(const OfferedJob& job) {
  std::size_t best = job.crews.size();
  for (std::size_t c = 0; c < job.crews.size(); ++c) {
    if (job.crews[c].workers != job.crews[c].servers) continue;
    if (best == job.crews.size() || job.crews[c].workers > job.crews[best].workers) best = c;
  }
  return best;
}

}  // namespace smd

std::unique_ptr<policy::Policy> make_smd(const PaperWorld& world) {
  return std::make_unique<smd::ReservationPolicy>(world, smd::offered_world("smd", world),
                                                  smd::fastest_offer);
}

std::unique_ptr<policy::Policy> make_optimus(const PaperWorld& world) {
  return std::make_unique<smd::ReservationPolicy>(world, smd::offered_world("optimus", world),
                                                  smd::greedy_offer);
}

std::unique_ptr<policy::Policy> make_esw(const PaperWorld& world) {
  smd::OfferedWorld offered = smd::offered_world("esw", world);
  for (std::size_t j = 0; j < offered.jobs.size(); ++j) {
    if (smd::equal_offer(offered.jobs[j]) < offered.jobs[j].crews.size()) continue;
    throw InputError({.file = "", .line = 0, .field = "configurations"},
                     "job " + std::string(world.instance.workload.job_names[j]) +
                         " has no configuration of as many workers as servers, which esw needs",
                     "list one");
  }
  return std::make_unique<smd::ReservationPolicy>(world, std::move(offered), smd::equal_offer);
}

}  // namespace berth::papers
