// SPDX-License-Identifier: Apache-2.0
// The moves on a second state: one that remembers the placements of all jobs, copies them for a
// mark, and derives all else anew at every question. They must do there what they do on an
// `Occupancy`. The definitions of the moves are included: the library has them for `Occupancy`.
#include "instance_builder.hpp"
#include "local_search/apply_insertion.cpp"
#include "local_search/fill_idle_capacity.cpp"
#include "local_search/insertion.cpp"
#include "local_search/openings.cpp"
#include "local_search/quota_eviction.cpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "berth/base/random.hpp"
#include "berth/solver/occupancy.hpp"

namespace berth::solver {
namespace {

using model::JobPlacement;
using planner_model::Precedence;

class CopyingState {
 public:
  using Mark = std::vector<JobEntry>;
  using Change = Occupancy::Change;

  CopyingState(const planner_model::Valuation& valuation, std::span<const MachineId> machines)
      : valuation_(&valuation),
        machines_(machines.begin(), machines.end()),
        index_(valuation.instance().cluster, machines),
        limit_usage_(valuation.instance()) {
    for (std::size_t j = 0; j < workload().size(); ++j) {
      entries_.push_back({.placement = {.job = JobId(j), .tasks = {}}});
    }
  }

  [[nodiscard]] std::optional<JobPlacement> fit(JobId job, std::span<const MachineId> machines) {
    planner_model::Room now = room();
    return planner_model::place_job(now, workload(), job, machines);
  }
  void take(JobPlacement placement) {
    JobEntry& entry = entries_[placement.job.index()];
    ASSERT_FALSE(entry.is_placed());
    entry.placement = std::move(placement);
    entry.value = entry.unpriced_value = valuation_->placed(entry.placement);
  }
  void give_back(JobId job) {
    ASSERT_TRUE(is_placed(job));
    entries_[job.index()] = {.placement = {.job = job, .tasks = {}}};
  }
  [[nodiscard]] Mark mark() const { return entries_; }
  void roll_back(Mark mark) { entries_ = std::move(mark); }
  void keep(const Mark& /*mark*/) {}

  [[nodiscard]] std::vector<Change> changes_since(const Mark& mark) const {
    std::vector<Change> changes;
    for (std::size_t j = 0; j < entries_.size(); ++j) {
      if (entries_[j].placement.tasks == mark[j].placement.tasks) continue;
      changes.push_back({JobId(j), mark[j].placement.tasks});
    }
    return changes;
  }
  [[nodiscard]] const std::vector<JobEntry>& entries() const { return entries_; }
  [[nodiscard]] std::size_t position(JobId job) const { return job.index(); }
  [[nodiscard]] bool is_placed(JobId job) const { return entries_[job.index()].is_placed(); }
  [[nodiscard]] const JobPlacement& placed(JobId job) const {
    return entries_[job.index()].placement;
  }
  [[nodiscard]] double value_of(JobId job) const { return entries_[job.index()].value; }
  [[nodiscard]] Precedence precedence_of(JobId job) const {
    const double density =
        planner_model::value_density(workload(), workload().job(job), value_of(job));
    return planner_model::precedence(workload(), job, density);
  }
  [[nodiscard]] std::vector<Occupant> occupants(MachineId m) const {
    std::vector<Occupant> found;
    for (const JobEntry& entry : entries_) {
      const Precedence precedence = precedence_of(entry.job());
      Occupant o{.density = precedence.density,
                 .job = entry.job(),
                 .value = entry.value,
                 .evictable = !precedence.required,
                 .precedence = precedence};
      bool here = false;
      for (const model::TaskPlacement& task : entry.placement.tasks) {
        if (task.machine != m) continue;
        here = true;
        o.milli += std::int64_t{task.milli} * std::popcount(task.devices);
        o.whole_gpus += task.milli == model::kGpuMilli ? std::popcount(task.devices) : 0;
      }
      if (here) found.push_back(o);
    }
    std::ranges::sort(found, std::less<>{});
    return found;
  }
  [[nodiscard]] std::vector<Precedence> evictable_jobs(std::size_t /*quota*/) const { return {}; }
  [[nodiscard]] planner_model::Room room() const {
    planner_model::Room room(valuation_->instance().cluster, machines_);
    for (const JobEntry& entry : entries_) planner_model::take(room, workload(), entry.placement);
    return room;
  }
  [[nodiscard]] const planner_model::LimitUsage& limit_usage() const { return limit_usage_; }
  [[nodiscard]] const DomainIndex& index() const { return index_; }
  [[nodiscard]] std::span<const MachineId> machines() const { return machines_; }
  [[nodiscard]] const planner_model::Valuation& valuation() const { return *valuation_; }

 private:
  [[nodiscard]] const model::WorkloadView& workload() const {
    return valuation_->instance().workload;
  }

  const planner_model::Valuation* valuation_;
  std::vector<MachineId> machines_;
  DomainIndex index_;
  planner_model::LimitUsage limit_usage_;
  std::vector<JobEntry> entries_;  ///< by job
};

/// By job: where its tasks are.
template <SearchState State>
std::vector<std::vector<model::TaskPlacement>> places(const State& state) {
  std::vector<std::vector<model::TaskPlacement>> tasks;
  for (const JobEntry& entry : state.entries()) tasks.push_back(entry.placement.tasks);
  return tasks;
}

/// Fills the room with half of the jobs; then the others are inserted for those they evict, once
/// the insertion has been undone because it gains too little.
template <SearchState State>
std::pair<double, int> fill_and_insert(State& state, std::span<const JobId> jobs) {
  const std::size_t half = jobs.size() / 2;
  local_search::fill_idle_capacity(state, jobs.first(half));
  double gained = 0.0;
  int insertions = 0;
  for (const JobId job : jobs.subspan(half)) {
    if (state.is_placed(job)) continue;  // a victim that was put back
    const local_search::Insertion found = local_search::find_insertion(state, job);
    if (found.gain <= 0.0) continue;
    EXPECT_EQ(local_search::insert(state, job, found, 1e9).gain, 0.0);
    const double gain = local_search::insert(state, job, found, 0.0).gain;
    gained += gain;
    insertions += gain > 0.0 && !found.victims.empty() ? 1 : 0;
  }
  return {gained, insertions};
}

TEST(SearchState, moves_do_the_same_on_any_state) {
  int insertions = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const test::InstanceBuilder plan = test::mixed_instance(seed, 160);
    const planner_model::Valuation valuation = plan.value();
    const auto machines = std::span(plan.machines).first(12);
    Occupancy occupancy(valuation, machines);
    occupancy.admit(plan.jobs);
    CopyingState copying(valuation, machines);
    const auto by_journal = fill_and_insert(occupancy, plan.jobs);
    const auto by_copies = fill_and_insert(copying, plan.jobs);
    EXPECT_EQ(by_journal, by_copies);
    EXPECT_TRUE(places(occupancy) == places(copying));
    insertions += by_journal.second;
  }
  EXPECT_GT(insertions, 50);
}

/// In order of arrival 400 and 300 thousandths would leave 300 of the device idle.
TEST(FillIdleCapacity, places_large_shares_before_small_ones_of_equal_density) {
  test::InstanceBuilder plan({"A"});
  plan.rack(plan.pod());
  plan.add_machines(1, 0, 1);
  for (const int milli : {400, 700, 300}) plan.job({.gpus = 0, .milli = milli});
  const planner_model::Valuation valuation = plan.value();
  Occupancy occupancy(valuation, plan.machines);
  occupancy.admit(plan.jobs);
  local_search::fill_idle_capacity(occupancy, plan.jobs);
  EXPECT_EQ(occupancy.room().free_milli(plan.machines.front()), 0);
}

}  // namespace
}  // namespace berth::solver
