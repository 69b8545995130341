// SPDX-License-Identifier: Apache-2.0
#include "horizon_jobs.hpp"
#include "horizon_occupancy.hpp"
#include "horizon_worth.hpp"
#include "limit_prices.hpp"
#include "machine_variants.hpp"
#include "place_limits.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/certify/horizon_plan.hpp"

namespace berth::certify {
namespace {

using model::InstanceView;
using model::LimitKind;
using model::LimitScope;

/// GPU thousandths of a machine that closures take at `time`.
std::int64_t taken_of(const model::MachineClass& machine,
                      const std::vector<const Closure*>& closures, std::int64_t time) {
  std::vector<std::int64_t> taken(static_cast<std::size_t>(machine.gpus), 0);
  for (const Closure* closure : closures) {
    if (time < closure->from || closure->to <= time) continue;
    for (std::uint64_t rest = closure->devices; rest != 0; rest &= rest - 1) {
      taken[static_cast<std::size_t>(std::countr_zero(rest))] +=
          in_slices(closure->milli, machine.gpu_slices);
    }
  }
  std::int64_t sum = 0;
  for (const std::int64_t milli : taken) sum += std::min<std::int64_t>(milli, 1000);
  return sum;
}

/// Use of every limit of racks and pods over time.
class PlaceSweep {
 public:
  PlaceSweep(const InstanceView& instance, const model::Horizon& horizon)
      : instance_(instance), horizon_(horizon), places_(instance, {}) {
    const model::Cluster& cluster = instance.cluster;
    for (const LimitKind kind : {LimitKind::uplink, LimitKind::power}) {
      for (std::size_t r = 0; r < cluster.racks.size(); ++r) {
        add_limit(places_.of(kind, RackId(r)), kind, {.rack = RackId(r)});
      }
      for (std::size_t p = 0; p < cluster.pods.size(); ++p) {
        add_limit(places_.of(kind, PodId(p)), kind, {.pod = PodId(p)});
      }
    }
    for (std::size_t s = 0; s < cluster.spare.size(); ++s) {
      const model::Spare& spare = cluster.spare[s];
      Limit& limit = limit_at(places_.of_spare(s));
      limit.kind = LimitKind::spare;
      limit.scope = {.pod = spare.pod, .gpu_type = spare.gpu_type};
      limit.capacity = -1000 * spare.gpus;
    }
    if (!cluster.spare.empty()) add_machines_with_spare();
    add_content();
  }

  void add(const model::JobPlacement& placed, std::int64_t end) {
    const model::Job& job = instance_.workload.job(placed.job);
    const bool planned = is_decided(instance_, horizon_, job);
    for (const auto& use : places_.uses(job, placed.tasks)) {
      Limit& limit = limit_at(use.limit);
      // running jobs close the GPUs of their machines
      if (limit.kind == LimitKind::spare && !planned) continue;
      limit.add(placed.start, end, use.amount, planned);
    }
  }

  void report(Findings& findings) const {
    for (const Limit& limit : limits_) {
      if (!limit.capacity) continue;
      Int128 used = 0, planned = 0;
      for (const auto& [time, change] : limit.changes) {
        used += change.used;
        planned += change.planned;
        if (planned == 0 || used <= *limit.capacity) continue;
        findings.add(FaultKind::limit_exceeded,
                     describe(instance_.cluster, limit.kind, limit.scope) + " is exceeded at " +
                         std::to_string(time));
        break;
      }
    }
  }

 private:
  struct Change {
    Int128 used = 0;
    Int128 planned = 0;  ///< of it, by jobs that the plan starts
  };
  struct Limit {
    LimitKind kind = LimitKind::uplink;
    LimitScope scope = {};
    std::optional<std::int64_t> capacity = {};
    std::map<std::int64_t, Change> changes = {};  ///< by time

    void add(std::int64_t from, std::int64_t to, Int128 amount, bool by_plan) {
      if (amount == 0 || from >= to) return;
      changes[from].used += amount;
      changes[to].used -= amount;
      if (!by_plan) return;
      changes[from].planned += amount;
      changes[to].planned -= amount;
    }
  };

  Limit& limit_at(std::size_t position) {
    if (limits_.size() <= position) limits_.resize(position + 1);
    return limits_[position];
  }

  void add_limit(std::size_t position, LimitKind kind, const LimitScope& scope) {
    Limit& limit = limit_at(position);
    limit.kind = kind;
    limit.scope = scope;
    limit.capacity = limit_of(instance_.cluster, kind, scope);
  }

  Limit* spare_limit(MachineId machine) {
    const model::Cluster& cluster = instance_.cluster;
    const model::Spare* spare =
        cluster.spare_of(cluster.pod_of(machine), cluster.class_of(machine).gpu_type);
    if (spare == nullptr) return nullptr;
    return &limit_at(places_.of_spare(static_cast<std::size_t>(spare - cluster.spare.data())));
  }

  /// GPUs of the machines; those that are closed at a time count as used.
  void add_machines_with_spare() {
    const model::Cluster& cluster = instance_.cluster;
    std::map<MachineId, std::vector<const Closure*>> by_machine;
    const std::vector<Closure> all = closures(instance_, horizon_);
    for (const Closure& closure : all) by_machine[closure.machine].push_back(&closure);
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      Limit* limit = spare_limit(MachineId(m));
      if (limit != nullptr) *limit->capacity += 1000 * cluster.class_of(MachineId(m)).gpus;
    }
    for (const auto& [machine, of_machine] : by_machine) {
      Limit* limit = spare_limit(machine);
      if (limit == nullptr) continue;
      std::map<std::int64_t, std::int64_t> taken;
      for (const Closure* closure : of_machine) taken[closure->from] = taken[closure->to] = 0;
      std::int64_t before = 0;
      for (auto& [time, milli] : taken) {
        milli = taken_of(cluster.class_of(machine), of_machine, time);
        limit->changes[time].used += milli - before;
        before = milli;
      }
    }
  }

  /// Content of machines that is no placement: pinned jobs to their ends, others for ever.
  void add_content() {
    const model::Cluster& cluster = instance_.cluster;
    for (const model::Immovable& content : cluster.immovable) {
      if (content.job.valid()) continue;
      const RackId rack = cluster.machine_rack[content.machine.index()];
      model::for_each_limited_resource([&](LimitKind kind, std::size_t resource) {
        const Int128 amount = content.taken[resource];
        limit_at(places_.of(kind, rack)).add(horizon_.now, model::kNever, amount, false);
        limit_at(places_.of(kind, cluster.racks[rack.index()].pod))
            .add(horizon_.now, model::kNever, amount, false);
      });
    }
    for (const model::Running& running : instance_.workload.tables().running) {
      if (!running.pinned) continue;
      const auto tasks = instance_.workload.tasks_of(running);
      const model::Job& job = instance_.workload.job(running.job);
      add({.job = running.job, .start = horizon_.now, .tasks = {tasks.begin(), tasks.end()}},
          end_of_running(instance_, horizon_, job));
    }
  }

  InstanceView instance_;
  model::Horizon horizon_;
  PlaceLimits places_;         ///< numbers of limits, and what a job uses of them
  std::vector<Limit> limits_;  ///< by these numbers
};

bool has_place_limits(const model::Cluster& cluster) {
  const auto limited = [](const auto& domain) {
    bool some = false;
    model::for_each_limit(domain, [&](const model::LimitRow&, double limit) {
      some = some || limit < std::numeric_limits<double>::infinity();
    });
    return some;
  };
  return !cluster.spare.empty() || std::ranges::any_of(cluster.racks, limited) ||
         std::ranges::any_of(cluster.pods, limited);
}

}  // namespace

void check_places_over_time(const InstanceView& instance, const model::Horizon& horizon,
                            const model::Placement& placements, std::span<const std::int64_t> ends,
                            Findings& findings) {
  if (!has_place_limits(instance.cluster)) return;
  PlaceSweep sweep(instance, horizon);
  for (std::size_t p = 0; p < placements.size(); ++p) sweep.add(placements[p], ends[p]);
  sweep.report(findings);
}

}  // namespace berth::certify
