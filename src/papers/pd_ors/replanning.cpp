// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/replanning.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "berth/base/random.hpp"
#include "berth/papers/pd_ors/best_schedule.hpp"

namespace berth::papers::pd_ors {
namespace {

/// Prices only break ties when jobs fill what is left.
constexpr double kFillPrice = 1e-3;

std::vector<double> on_machines(const SlotInstance& instance, std::span<const double> pooled) {
  std::vector<double> price;
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    const auto row =
        pooled.subspan(static_cast<std::size_t>(t) * instance.resources, instance.resources);
    for (std::size_t h = 0; h < instance.machines(); ++h)
      price.insert(price.end(), row.begin(), row.end());
  }
  return price;
}

/// Schedules of the open jobs from the present slot on.
struct Plan {
  std::vector<JobSchedule> schedules;  ///< by open job
  double utility = 0.0;
  double rent = 0.0;  ///< of equal utilities the plan that holds cheaper slots is better

  [[nodiscard]] bool better_than(const Plan& other) const {
    const double slack = kRoundingSlack * (1.0 + utility);
    if (utility > other.utility + slack) return true;
    return utility >= other.utility - slack && rent < other.rent - slack;
  }
};

/// Makes plans of one slot's open jobs.
class Planner {
 public:
  /// @param promised  by open job: schedules that stay as they are; empty: the job is free
  Planner(const SlotInstance& instance, std::vector<OpenJob> jobs,
          std::vector<JobSchedule> promised, std::int32_t now, const ReplanOptions& options)
      : instance_(&instance),
        jobs_(std::move(jobs)),
        promised_(std::move(promised)),
        now_(now),
        options_(&options),
        pooled_(pooled_prices(instance, jobs_, now, options.prices)),
        price_(on_machines(instance, pooled_.price)) {}

  /// The best of plans in several orders and of the last plan with the new jobs, repaired.
  [[nodiscard]] Plan best(const std::vector<JobSchedule>& last) const {
    Plan best = filled(last, by_payoff());
    for (const auto& order : {by_payoff(), by_density()}) {
      Plan plan = filled(promised_, order);
      if (plan.better_than(best)) best = std::move(plan);
    }
    for (int round = 0; round < options_->repairs && jobs_.size() > 1; ++round) {
      Plan plan = repaired(best, static_cast<std::uint64_t>(round));
      if (plan.better_than(best)) best = std::move(plan);
    }
    return best;
  }

 private:
  [[nodiscard]] const TrainingJob& job(std::size_t i) const {
    return instance_->jobs[jobs_[i].job];
  }

  [[nodiscard]] std::vector<std::size_t> by_payoff() const {
    return sorted([](const PooledOffer& offer) { return offer.payoff; });
  }
  /// Utility by rent, as in a knapsack; without rent utility decides.
  [[nodiscard]] std::vector<std::size_t> by_density() const {
    return sorted([](const PooledOffer& offer) {
      return offer.utility / std::max(offer.utility - offer.payoff, kFillPrice * offer.utility);
    });
  }
  template <class Key>
  [[nodiscard]] std::vector<std::size_t> sorted(const Key& key) const {
    std::vector<std::pair<double, std::size_t>> keys;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const PooledOffer offer =
          pooled_offer(*instance_, job(i), pooled_.price, now_, jobs_[i].samples);
      keys.emplace_back(offer.payoff > 0.0 ? -key(offer) : 0.0, i);
    }
    std::ranges::sort(keys);
    std::vector<std::size_t> order;
    for (const auto& [value, i] : keys) order.push_back(i);
    return order;
  }

  /// Keeps these schedules and adds jobs in this order: those worth the prices, then all.
  [[nodiscard]] Plan filled(std::vector<JobSchedule> kept,
                            const std::vector<std::size_t>& order) const {
    SlotLedger ledger(*instance_, price_);
    for (std::size_t i = 0; i < kept.size(); ++i) ledger.commit(job(i), kept[i]);
    for (const double factor : {1.0, kFillPrice}) {
      for (const std::size_t i : order) {
        if (kept[i].empty()) insert(i, factor, ledger, kept);
      }
    }
    Plan plan{.schedules = std::move(kept)};
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (plan.schedules[i].empty()) continue;
      plan.utility += job(i).utility(plan.schedules[i].back().slot);
      plan.rent += ledger.cost(job(i), plan.schedules[i]);
    }
    return plan;
  }

  void insert(std::size_t i, double factor, SlotLedger& ledger,
              std::vector<JobSchedule>& schedules) const {
    ScheduleOffer offer = best_schedule(job(i), ledger, PackedSlots(),
                                        {.from = now_,
                                         .samples = jobs_[i].samples,
                                         .units = options_->units,
                                         .room = Room::left,
                                         .price_factor = factor});
    ledger.commit(job(i), offer.schedule);
    schedules[i] = std::move(offer.schedule);
  }

  /// Takes out some jobs and puts them and those that wait back in a random order.
  [[nodiscard]] Plan repaired(const Plan& plan, std::uint64_t round) const {
    const auto slot = static_cast<std::uint64_t>(now_);
    std::vector<std::pair<std::uint64_t, std::size_t>> draws;
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      draws.emplace_back(random_bits({options_->seed, slot, round, jobs_[i].job}), i);
    std::ranges::sort(draws);
    std::vector<JobSchedule> kept = plan.schedules;
    std::vector<std::size_t> order;
    std::uint64_t left = 1 + random_below(options_->largest, {options_->seed, slot, round});
    for (const auto& [draw, i] : draws) {
      order.push_back(i);
      if (left == 0 || kept[i].empty() || !promised_[i].empty()) continue;
      kept[i].clear();
      --left;
    }
    return filled(std::move(kept), order);
  }

  const SlotInstance* instance_;
  std::vector<OpenJob> jobs_;
  std::vector<JobSchedule> promised_;
  std::int32_t now_;
  const ReplanOptions* options_;
  PooledPrices pooled_;
  std::vector<double> price_;  ///< by slot, machine, resource
};

/// Jobs that have arrived and could still end on an empty cluster.
std::vector<OpenJob> open_jobs(const SlotInstance& instance, std::span<const double> left,
                               std::int32_t now) {
  std::vector<OpenJob> open;
  for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
    const TrainingJob& job = instance.jobs[j];
    if (job.arrival > now || left[j] <= kRoundingSlack * job.samples) continue;
    const SlotRate rate = pooled_rate(instance, job);
    const double most = (rate.near_samples + rate.far_samples) * (instance.slots - now);
    if (most >= left[j] * (1.0 - kRoundingSlack)) open.push_back({j, left[j]});
  }
  return open;
}

/// What of a plan lies behind this slot.
JobSchedule after(const JobSchedule& schedule, std::int32_t slot) {
  JobSchedule rest;
  for (const SlotShare& share : schedule) {
    if (share.slot > slot) rest.push_back(share);
  }
  return rest;
}

}  // namespace

std::vector<JobSchedule> replanned_schedules(const SlotInstance& instance,
                                             const ReplanOptions& options) {
  std::vector<JobSchedule> done(instance.jobs.size()), ahead(instance.jobs.size());
  std::vector<double> left;
  for (const TrainingJob& job : instance.jobs) left.push_back(job.samples);
  for (std::int32_t t = 0; t < instance.slots; ++t) {
    std::vector<OpenJob> open = open_jobs(instance, left, t);
    if (options.irrevocable) {
      std::erase_if(open, [&](const OpenJob& job) {
        return instance.jobs[job.job].arrival < t && ahead[job.job].empty();
      });
    }
    std::vector<JobSchedule> last;
    for (const OpenJob& job : open) last.push_back(ahead[job.job]);
    std::vector<JobSchedule> promised(open.size());
    if (options.irrevocable) promised = last;
    const Plan plan = Planner(instance, open, std::move(promised), t, options).best(last);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t j = open[i].job;
      ahead[j] = after(plan.schedules[i], t);
      if (plan.schedules[i].empty() || plan.schedules[i].front().slot != t) continue;
      done[j].push_back(plan.schedules[i].front());
      left[j] -= done[j].back().samples(instance.jobs[j]);
    }
  }
  return done;
}

}  // namespace berth::papers::pd_ors
