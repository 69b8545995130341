// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/time.hpp"
#include "berth/model/cluster.hpp"
#include "berth/model/job.hpp"
#include "berth/model/placement_rules.hpp"
#include "berth/model/resources.hpp"
#include "berth/model/time_rules.hpp"

namespace berth::horizon {

using CurveId = StrongId<struct CurveTag>;      ///< pools of one curve have the same price of a GPU
using PoolSetId = StrongId<struct PoolSetTag>;  ///< pools among which an option chooses one

/// Entries begin .. end - 1 of one of the flat tables of a problem or a plan.
struct IndexRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;

  [[nodiscard]] constexpr std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  template <class T>
  [[nodiscard]] std::span<const T> of(const std::vector<T>& table) const {
    return std::span(table).subspan(static_cast<std::size_t>(begin), size());
  }
};

/// Cost of completing at C for after < C <= the next piece's `after`: cost + slope (C - after).
/// The first piece begins no later than the job's release, the last one holds for ever. A table of
/// pieces is non-decreasing in C; at a jump the cheaper, earlier piece holds (lower
/// semicontinuous). To maximise values, costs are their negatives.
struct CostPiece {
  Seconds after = 0;
  double cost = 0.0;   ///< just after `after`, in units of the objective
  double slope = 0.0;  ///< per second, >= 0
};

/// Equal tasks of a job, none in some configurations of an elastic job; each takes whole GPUs of
/// one machine, a share of one GPU, or none.
struct TaskGroup {
  std::int32_t tasks = 1;
  std::int32_t gpus = 1;        ///< of each task; a task without GPUs needs some CPU
  model::Resources needs = {};  ///< of each task
  std::int32_t milli = 0;       ///< thousandths of one GPU, then gpus = 0; 0: no share
  std::int32_t neighbours = 0;  ///< in Problem::neighbours; the same for all groups of a job
};

/// A job sets marks on its machines while it runs, and avoids those that others have set.
/// Ascending.
struct Neighbours {
  std::vector<std::int32_t> sets;
  std::vector<std::int32_t> avoids;
};

/// How the tasks of a job are spread over machines, racks and pods.
struct TaskSpread {
  model::DomainCounts most = model::PlacementRules{}.max_tasks;  ///< tasks in one
  model::DomainCounts least = {1, 1, 1};                         ///< number of different ones
};

/// What a job sends over the uplinks of racks and pods that hold only some of its tasks
/// (docs/formats.md).
struct Traffic {
  std::int64_t mbps = 0;
  std::int32_t servers = -1;  ///< the task group of parameter servers; -1: a ring
};

/// A number of licenses of one kind that an option takes from start to end.
struct LicenseUse {
  std::int32_t license = 0;  ///< in Problem::licenses
  std::int64_t count = 0;    ///< > 0
};

/// Rents are counted in parts of a GPU: an option pays for `Option::rent` of them, a pool earns for
/// `Pool::worth` of them.
inline constexpr int kRentBits = 14;
inline constexpr std::int64_t kRentUnit = std::int64_t{1} << kRentBits;  ///< a whole GPU

/// One way to run a job: on one pool of a set, for `duration` seconds without interruption. GPU
/// types and elastic configurations are different options.
struct Option {
  PoolSetId pools;
  Seconds duration = 1;          ///< >= 1
  Gpus gpus = 0;                 ///< of all tasks, whole ones
  std::int64_t share_milli = 0;  ///< thousandths of GPUs that shares take beside them
  IndexRange tasks;              ///< in Problem::task_groups
  IndexRange cost;               ///< in Problem::cost_pieces, by ascending `after`
  model::Level domain = model::Level::cluster;  ///< widest domain that may hold all tasks
  IndexRange quotas = {};                       ///< in Problem::option_quotas
  IndexRange budgets = {};                      ///< in Problem::option_budgets
  IndexRange licenses = {};                     ///< in Problem::option_licenses
  std::int64_t rent = 0;      ///< in 1 / kRentUnit of a GPU; its GPUs unless shapes have factors
  std::int32_t spread = -1;   ///< in Problem::spreads; -1: any
  std::int32_t traffic = -1;  ///< in Problem::traffics; -1: none
};

/// GPUs of all tasks with the shares.
inline double gpus_of(const Option& option) {
  return static_cast<double>(option.gpus) + static_cast<double>(option.share_milli) / 1000.0;
}
/// The same in 1 / kRentUnit of a GPU, rounded down.
inline std::int64_t rent_of_gpus(Gpus gpus, std::int64_t share_milli) {
  return kRentUnit * gpus + kRentUnit * share_milli / 1000;
}

struct Job {
  Seconds release = 0;        ///< no earlier start
  Seconds deadline = kNever;  ///< no later completion
  bool required = true;       ///< false: may be left out, at cost 0; its costs are then <= 0
  IndexRange options;         ///< in Problem::options; exactly one is chosen
};

/// GPUs from `from` to the next step; the last step holds for ever.
struct CapacityStep {
  Seconds from = 0;
  Gpus gpus = 0;
};

/// Resources of a machine that has enough of each.
inline constexpr model::Resources kUnlimited = [] {
  model::Resources amounts;
  for (std::size_t r = 0; r < model::kResources; ++r) amounts[r] = model::kNoLimit;
  return amounts;
}();

/// Machines of one GPU type, in one pod or in all.
struct Pool {
  CurveId curve;
  IndexRange machines;                 ///< in Problem::machines
  std::vector<CapacityStep> capacity;  ///< GPUs not closed by outages; first step at Problem::now
  /// Thousandths that outages leave of GPUs of which they take a part, where tasks have shares.
  std::vector<CapacityStep> parts = {};
  /// Most rent, in 1 / kRentUnit of a GPU, that the contents of its machines pay at a time, by step
  /// from Problem::now; empty: that of all GPUs of `capacity`.
  std::vector<CapacityStep> worth = {};
};

/// What the tasks on a machine use with others of its rack and pod: entries of
/// Problem::place_limits; -1: no limit.
struct PlaceLimitIds {
  std::int32_t rack_power = -1, pod_power = -1;    ///< W
  std::int32_t rack_uplink = -1, pod_uplink = -1;  ///< Mbit/s
  std::int32_t spare = -1;                         ///< GPU thousandths beside spare GPUs of the pod
};

/// A limit that follows from the GPUs of the pools of a curve: gangs that run together hold whole
/// multiples of `gpus` GPUs, and so does each pool (docs/horizon.md).
struct MultipleLimit {
  CurveId curve;
  Gpus gpus = 1;
  std::vector<CapacityStep> capacity = {};  ///< GPUs in whole multiples, of all pools of the curve
};
/// The GPUs that are counted where multiples of `unit` are.
constexpr Gpus in_multiples(Gpus gpus, Gpus unit) { return gpus / unit * unit; }

struct Machine {
  PoolId pool;
  std::int32_t gpus = 0;  ///< 0 .. 64
  model::Resources capacity = kUnlimited;
  RackId rack = {};  ///< machines of a rack are neighbours within a pool, and so are those of a pod
  PodId pod = {};
  std::int32_t gpu_slices = 0;  ///< of each GPU (model::MachineClass)
  PlaceLimitIds limits = {};

  /// Thousandths that a share takes here.
  [[nodiscard]] Gpus share_taken(std::int32_t milli) const {
    return model::share_taken(milli, gpu_slices);
  }
};

/// GPUs of a machine that no job of the plan may use in [from, to): maintenance, a reservation for
/// others, or a running job that stays. Overlapping outages close a GPU once. Outages of single
/// GPUs begin at Problem::now; later ones close the whole machine, so that free GPUs at every
/// moment suffice to give each job the same GPUs from start to end (interval graphs are perfect).
struct Outage {
  MachineId machine;
  Seconds from = 0;
  Seconds to = 0;
  std::uint64_t devices = 0;              ///< bit g: GPU g
  model::Resources taken = {};            ///< of the machine; all of its capacity when it is closed
  std::int32_t milli = model::kGpuMilli;  ///< thousandths of each GPU; less: shares that run
  std::int32_t neighbours = -1;           ///< of a job that runs; -1: it sets no mark
};

/// Which job runs where and when is to be decided.
struct Problem {
  Seconds now = 0;  ///< no job starts earlier
  std::size_t curves = 0;
  std::vector<Pool> pools;                     ///< by PoolId
  std::vector<std::vector<PoolId>> pool_sets;  ///< by PoolSetId; ascending
  std::vector<Machine> machines;               ///< by MachineId; those of a pool are neighbours
  std::vector<Outage> outages;
  std::vector<Job> jobs;  ///< by JobId
  std::vector<Option> options;
  std::vector<TaskGroup> task_groups;
  std::vector<CostPiece> cost_pieces;
  std::vector<Neighbours> neighbours;  ///< empty: jobs avoid no others
  std::vector<TaskSpread> spreads;
  std::vector<Traffic> traffics;
  std::vector<std::vector<CapacityStep>> place_limits;  ///< by PlaceLimitIds, each in its unit
  std::vector<std::vector<CapacityStep>> quotas;  ///< GPUs that jobs of a quota may use at a time
  /// The same in thousandths, exactly; `quotas` are rounded down.
  std::vector<std::vector<CapacityStep>> quotas_milli;
  std::vector<std::int32_t> option_quotas;          ///< indices in `quotas`
  std::vector<MultipleLimit> multiples = {};        ///< that prices may be of; implied by pools
  std::vector<std::vector<CapacityStep>> licenses;  ///< that jobs may take at a time; no price
  std::vector<LicenseUse> option_licenses;
  std::vector<std::int64_t> budgets;         ///< GPU-seconds that jobs may use until budgets_end
  std::vector<std::int32_t> option_budgets;  ///< indices in `budgets`
  Seconds budgets_end = kNever;
  /// Ascending, distinct, without cycles. Releases are not below the earliest ends they imply.
  std::vector<model::Dependency> dependencies;

  [[nodiscard]] std::span<const Option> options_of(const Job& job) const {
    return job.options.of(options);
  }
  [[nodiscard]] std::span<const CostPiece> cost_of(const Option& option) const {
    return option.cost.of(cost_pieces);
  }
  [[nodiscard]] std::span<const TaskGroup> tasks_of(const Option& option) const {
    return option.tasks.of(task_groups);
  }
  [[nodiscard]] std::span<const std::int32_t> quotas_of(const Option& option) const {
    return option.quotas.of(option_quotas);
  }
  [[nodiscard]] std::span<const LicenseUse> licenses_of(const Option& option) const {
    return option.licenses.of(option_licenses);
  }
  [[nodiscard]] std::span<const std::int32_t> budgets_of(const Option& option) const {
    return option.budgets.of(option_budgets);
  }
  [[nodiscard]] std::span<const PoolId> pools_of(const Option& option) const {
    return pool_sets[option.pools.index()];
  }
};

/// GPUs of a machine that outages close or take a part of, from Problem::now on; overlapping ones
/// count once.
struct ClosedGpus {
  MachineId machine;
  std::vector<CapacityStep> steps;  ///< 0 before the first and from the last one on
};

/// By machine, ascending; machines without outages are left out. O(outages log outages).
std::vector<ClosedGpus> closed_gpus(const Problem& problem);

/// Cost of completing at `completion`. O(pieces).
double cost_at(std::span<const CostPiece> pieces, Seconds completion);

}  // namespace berth::horizon
