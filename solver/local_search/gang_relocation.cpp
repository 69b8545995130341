// SPDX-License-Identifier: Apache-2.0
#include "local_search/gang_relocation.hpp"

#include "local_search/fill_idle_capacity.hpp"
#include "local_search/gang_changes.hpp"
#include "local_search/insertion.hpp"
#include "local_search/machines_of.hpp"
#include "local_search/return_running_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/planner_model/option_enumerator.hpp"

namespace berth::solver::local_search {
namespace {

constexpr std::size_t kMostChanges = 64;  ///< chosen, not tuned
/// A change looks at all machines and jobs, so large plans get fewer. Chosen, not tuned.
constexpr std::size_t kMostRecordsSeen = 60'000;
/// A return of all running jobs takes about the square of machines and jobs. Chosen, not tuned.
constexpr std::size_t kMostPairsSeen = 100'000'000;
/// Jobs tried in vain in the room that a gang has left, before it is left to the usual filling.
/// Chosen, not tuned.
constexpr int kMostFailures = 32;
/// A change that loses less than this share of the slack is near a gain: all running jobs may try
/// to return. Chosen, not tuned.
constexpr double kNearGain = 0.2;
constexpr double kLeastGain = 1e-9;  ///< value; guard against rounding

class GangRelocation {
 public:
  GangRelocation(Occupancy& occupancy, const SearchPrices& prices, double slack)
      : occupancy_(occupancy),
        priced_(prices.valuation),
        slack_(slack),
        workload_(occupancy.valuation().instance().workload),
        left_(std::min(kMostChanges, kMostRecordsSeen / records())),
        returns_left_(kMostPairsSeen / records() / records()),
        price_(prices.pools) {}

  double run(const StopToken& stop) {
    double gained = 0.0;
    for (bool again = true; again;) {
      again = false;
      for (const GangChange& change : gang_changes(occupancy_, priced_, price_, slack_)) {
        if (left_ == 0 || stop.requested()) break;
        --left_;
        const double gain = try_change(change, stop);
        gained += gain;
        again = again || gain > 0.0;
      }
    }
    return gained;
  }

 private:
  [[nodiscard]] std::size_t records() const {
    return occupancy_.machines().size() + occupancy_.entries().size() + 1;
  }
  [[nodiscard]] double gpus(JobId job) const {
    return static_cast<double>(workload_.gpu_milli(workload_.job(job))) / model::kGpuMilli;
  }
  [[nodiscard]] double worth() const {
    return occupancy_.value() - occupancy_.limit_usage().surcharges();
  }
  double try_change(const GangChange& change, const StopToken& stop) {
    const bool placed = occupancy_.is_placed(change.gang);
    const GpuTypeId from = placed ? type_of(occupancy_, change.gang) : GpuTypeId{};
    if (from == change.to) return 0.0;  // another change has led to it
    const double before = worth();
    const Occupancy::Mark mark = occupancy_.mark();
    if (placed) occupancy_.give_back(change.gang);
    if (!change.to.valid() || insert(change.gang, change.to)) {
      if (placed) fill_type(from, change.gang);
      fill_idle_capacity(occupancy_, occupancy_.unplaced_jobs(), stop);
      return_running_jobs(occupancy_, displaced_jobs(mark), stop);
      double gain = worth() - before;
      if (gain > -kNearGain * slack_ && returns_left_ > 0) {  // room elsewhere may let more return
        --returns_left_;
        return_running_jobs(occupancy_, stop);
        gain = worth() - before;
      }
      if (gain > kLeastGain) {
        occupancy_.keep(mark);
        return gain;
      }
    }
    occupancy_.roll_back(mark);
    return 0.0;
  }

  /// Running jobs that are stopped, or elsewhere while a machine of their present places has
  /// changed since the mark; by descending move cost.
  [[nodiscard]] std::vector<JobId> displaced_jobs(Occupancy::Mark mark) const {
    const std::vector<MachineId> changed =
        machines_of_changes(std::as_const(occupancy_), occupancy_.changes_since(mark));
    std::vector<std::pair<double, JobId>> order;
    for (const JobEntry& entry : occupancy_.entries()) {
      const model::Running* running = workload_.running_of(workload_.job(entry.job()));
      if (running == nullptr || stays(occupancy_, entry.job())) continue;
      const bool freed = std::ranges::any_of(workload_.tasks_of(*running), [&](const auto& t) {
        return std::ranges::binary_search(changed, t.machine);
      });
      if (!freed && entry.is_placed()) continue;
      order.emplace_back(-running->move_cost, entry.job());
    }
    std::ranges::sort(order);
    std::vector<JobId> jobs;
    for (const auto& [cost, job] : order) jobs.push_back(job);
    return jobs;
  }

  /// Places the gang on the type, in the place of the jobs that lose least.
  bool insert(JobId gang, GpuTypeId to) {
    InsertionSearch search;
    search.type = to;
    search.least = -occupancy_.valuation().best(gang);
    const Insertion insertion = find_insertion(std::as_const(occupancy_), gang, search);
    if (insertion.machines.empty()) return false;
    for (const JobId victim : insertion.victims) occupancy_.give_back(victim);
    auto placement = occupancy_.fit(gang, insertion.machines);
    if (!placement || !occupancy_.limit_usage().surcharge(gang)) return false;
    occupancy_.take(std::move(*placement));
    fill_idle_capacity(occupancy_, insertion.victims, {}, {.type = to});
    return true;
  }

  /// Jobs that gain on the type, by descending gain per GPU.
  [[nodiscard]] std::vector<JobId> candidates(GpuTypeId type, JobId gang) const {
    std::vector<std::pair<double, JobId>> order;
    for (const JobEntry& entry : occupancy_.entries()) {
      const JobId id = entry.job();
      const model::Job& job = workload_.job(id);
      if (id == gang || workload_.gpu_milli(job) == 0 || !planner_model::allows(job, type))
        continue;
      double gain = planner_model::OptionEnumerator(priced_, id).best(type);
      if (entry.is_placed()) {
        const GpuTypeId now = type_of(occupancy_, id);
        const double kept = priced_.placed(entry.placement);
        if (now == type || gain <= kept) continue;
        gain += price_.of(now) * gpus(id) - kept;
      }
      order.emplace_back(-gain / gpus(id), id);
    }
    std::ranges::sort(order);
    std::vector<JobId> jobs;
    for (const auto& [gain, job] : order) jobs.push_back(job);
    return jobs;
  }

  /// Jobs gain on the type as long as the room that the gang has left lasts.
  void fill_type(GpuTypeId type, JobId gang) {
    std::int64_t room = workload_.gpu_milli(workload_.job(gang));
    const OptionPlacer on_type{.type = type};
    int failures = 0;
    for (const JobId job : candidates(type, gang)) {
      const std::int64_t milli = workload_.gpu_milli(workload_.job(job));
      if (milli > room || !occupancy_.limit_usage().surcharge(job)) continue;
      const double value = occupancy_.is_placed(job) ? occupancy_.value_of(job) : 0.0;
      const Occupancy::Mark mark = occupancy_.mark();
      if (occupancy_.is_placed(job)) occupancy_.give_back(job);
      if (place_in_idle_capacity(occupancy_, job, on_type) && occupancy_.value_of(job) > value) {
        occupancy_.keep(mark);
        room -= milli;
      } else {
        occupancy_.roll_back(mark);
        if (++failures == kMostFailures) return;
      }
    }
  }

  Occupancy& occupancy_;
  const planner_model::Valuation& priced_;  ///< values less prices of limits
  double slack_;
  model::WorkloadView workload_;
  std::size_t left_;          ///< changes
  std::size_t returns_left_;  ///< of all running jobs
  TypePrices price_;
};

}  // namespace

double relocate_gangs(Occupancy& occupancy, const SearchPrices& prices, double slack,
                      const StopToken& stop) {
  return GangRelocation(occupancy, prices, slack).run(stop);
}

}  // namespace berth::solver::local_search
