// SPDX-License-Identifier: Apache-2.0
#include "changes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace berth::explain {
namespace {

using model::Level;

/// The searches for one job, one kind of change each.
class ChangeSearch {
 public:
  ChangeSearch(Trials& trials, JobId job) : trials_(trials), id_(job) {}

  [[nodiscard]] std::optional<Change> nothing() const {
    return in_free_room([](model::Job&, model::TaskGroup&) {}, {.kind = ChangeKind::none});
  }

  [[nodiscard]] std::optional<Change> eviction() const {
    const double all = 2.0 * (1.0 + trials_.value());
    const auto made =
        trials_.make_room(id_, [&](model::Job& job, model::TaskGroup&) { job.value = all; });
    if (!made) return std::nullopt;
    Change change{.kind = ChangeKind::eviction,
                  .placement = made->placement,
                  .moved = made->moved,
                  .stopped = made->stopped};
    change.placement.job = id_;
    const solver::Occupancy& state = trials_.occupancy();
    for (const JobId stopped : change.stopped) change.loss += state.value_of(stopped);
    for (const model::JobPlacement& moved : change.moved) {
      change.loss += state.value_of(moved.job) - trials_.valuation().placed(moved);
    }
    return change;
  }

  [[nodiscard]] std::optional<Change> domain() const {
    for (const Level level : {Level::rack, Level::pod, Level::cluster}) {
      if (level <= job().domain) continue;
      const auto wider = [&](model::Job& job, model::TaskGroup&) { job.domain = level; };
      if (auto found = in_free_room(wider, {.kind = ChangeKind::domain, .domain = level})) {
        return found;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Change> gpu_type() const {
    for (const GpuTypeId type : trials_.occupancy().index().types()) {
      if (lists(job(), type)) continue;
      const std::uint64_t bit = std::uint64_t{1} << type.index();
      const auto other = [&](model::Job& job, model::TaskGroup&) { job.gpu_types = bit; };
      if (auto found = in_free_room(other, {.kind = ChangeKind::gpu_type, .gpu_types = bit})) {
        return found;
      }
    }
    return std::nullopt;
  }

  /// Of a job of one task group; by bisection.
  [[nodiscard]] std::optional<Change> count() const {
    if (job().groups != 1) return std::nullopt;
    std::optional<Change> best;
    // fewer tasks than domains asked for contradict each other
    const auto& least = trials_.workload().rules_of(job()).min_domains;
    std::int32_t fits = static_cast<std::int32_t>(*std::ranges::max_element(least)) - 1;
    std::int32_t fails = trials_.workload().groups_of(job()).front().count;
    while (fits + 1 < fails) {
      const std::int32_t tried = fits + (fails - fits) / 2;
      const auto fewer = [&](model::Job&, model::TaskGroup& group) { group.count = tried; };
      if (auto found = in_free_room(fewer, {.kind = ChangeKind::count, .count = tried})) {
        best = std::move(found);
        fits = tried;
      } else {
        fails = tried;
      }
    }
    return best;
  }

  /// Where exactly one hard quota is too small.
  [[nodiscard]] std::optional<Change> quota() const {
    const solver::Occupancy& state = trials_.occupancy();
    const std::int64_t milli = trials_.workload().gpu_milli(job());
    Change change{.kind = ChangeKind::quota};
    for (const std::uint32_t limit : trials_.limits().of(job().queue)) {
      if (trials_.limits().soft(limit) || state.limit_usage().left(limit) >= milli) continue;
      if (change.queue.valid()) return std::nullopt;
      change.queue = trials_.limits()[limit].scope.queue;
      const std::int64_t lacking = milli - state.limit_usage().left(limit);
      change.quota = trials_.cluster().queues[change.queue.index()].gpu_quota +
                     (lacking + model::kGpuMilli - 1) / model::kGpuMilli;
    }
    if (!change.queue.valid()) return std::nullopt;
    const auto without = [](model::Job& job, model::TaskGroup&) { job.queue = {}; };
    return in_free_room(without, std::move(change));
  }

  /// Where too few of exactly one license are left.
  [[nodiscard]] std::optional<Change> license() const {
    const planner_model::CouplingLimits& limits = trials_.limits();
    if (!limits.has(model::LimitKind::license)) return std::nullopt;
    const planner_model::LimitUsage& usage = trials_.occupancy().limit_usage();
    std::optional<model::LicenseUse> lacking;
    for (const model::LicenseUse& use : trials_.workload().rules_of(job()).licenses) {
      if (usage.left(limits.at_license(use.license)) >= use.count) continue;
      if (lacking) return std::nullopt;
      lacking = use;
    }
    if (!lacking) return std::nullopt;
    const std::size_t limit = limits.at_license(lacking->license);
    const std::int64_t used = usage.use(limit) + lacking->count;
    auto placement = trials_.find_room(id_, planner_model::LimitAmount(limit, used));
    if (!placement) return std::nullopt;
    Change change{.kind = ChangeKind::license};
    change.placement = *std::move(placement);
    change.placement.job = id_;
    change.license = lacking->license;
    change.licenses = pinned_use(lacking->license) + used;
    return change;
  }

 private:
  [[nodiscard]] const model::Job& job() const { return trials_.workload().job(id_); }

  /// The change with a placement in free room, if the edited job has one.
  [[nodiscard]] std::optional<Change> in_free_room(const Trials::Edit& edit, Change change) const {
    auto placement = trials_.find_room(id_, edit);
    if (!placement) return std::nullopt;
    placement->job = id_;
    change.placement = *std::move(placement);
    return change;
  }

  /// Licenses that pinned jobs take; more than there are, perhaps.
  [[nodiscard]] std::int64_t pinned_use(std::uint32_t license) const {
    const model::WorkloadView& workload = trials_.workload();
    std::int64_t used = 0;
    for (const model::Running& running : workload.tables().running) {
      if (!running.pinned) continue;
      for (const model::LicenseUse& use : workload.rules_of(workload.job(running.job)).licenses) {
        if (use.license == license) used += use.count;
      }
    }
    return used;
  }

  Trials& trials_;
  JobId id_;
};

}  // namespace

std::vector<Change> changes(Trials& trials, JobId job) {
  const ChangeSearch search(trials, job);
  if (auto fits = search.nothing()) return {*std::move(fits)};
  std::vector<Change> found;
  for (auto kind : {&ChangeSearch::eviction, &ChangeSearch::domain, &ChangeSearch::gpu_type,
                    &ChangeSearch::count, &ChangeSearch::quota, &ChangeSearch::license}) {
    if (auto change = (search.*kind)()) found.push_back(*std::move(change));
  }
  return found;
}

}  // namespace berth::explain
