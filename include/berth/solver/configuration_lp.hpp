// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/resources.hpp"
#include "berth/solver/bin_type.hpp"
#include "berth/solver/job_group.hpp"
#include "berth/solver/pack.hpp"

namespace berth::solver {

/// One feasible content of one machine of a bin type, and how many machines have it.
struct Configuration {
  struct BundleCount {
    std::int32_t bundle = 0;  ///< index into ConfigurationSolution::bundles
    std::int32_t count = 0;   ///< > 0
    auto operator<=>(const BundleCount&) const = default;
  };
  std::int32_t bin = 0;              ///< index into the bin types
  std::vector<BundleCount> content;  ///< ascending bundle
  double machines = 0.0;             ///< weight in the LP; over a bin type at most its machines
};

template <class Archive>
void describe(Archive& archive, Configuration& c) {
  archive(c.bin, c.content, c.machines);
}

/// One option of a job group, and how many of its jobs have it.
struct OptionUse {
  std::int32_t group = 0;   ///< index into ConfigurationSolution::jobs
  std::int32_t option = 0;  ///< index into its options
  double jobs = 0.0;        ///< weight in the LP; over a group at most its jobs
};

/// Multipliers of resources within the bound of one machine of a class.
struct ResourceMultiplier {
  ClassId machine_class;
  std::array<double, model::kResources> unit_price = {};  ///< objective per unit, >= 0
};

/// Near-optimal primal and dual solution of the configuration LP
///
///   max sum_k v_k y_k   over groups of N alike with at most N columns used (generalised upper
///                       bounds: Dantzig and Van Slyke 1967):
///   jobs of a group      columns: options k, a GPU type each, value v_k
///   machines of a bin    columns: configurations, value 0
///   for every shape and GPU type (shapes without GPUs: all machines together)
///     tasks that the options take <= tasks that the configurations hold
///   for every limit that the jobs could exceed
///     least use by the options <= its capacity, or more at a penalty
///
/// for the whole cluster: the value of a job is an upper bound over its places. A value type, equal
/// on all ranks once sent.
struct ConfigurationSolution {
  int value_bits = 53;  ///< of JobGrouping: a job is of the group that it finds with these
  JobCounts jobs;       ///< ascending group
  std::vector<TaskBundle> bundles;
  std::vector<Configuration> configurations;    ///< weight > 0; ascending (bin, content)
  std::vector<OptionUse> options;               ///< weight > 0; ascending (group, option)
  std::vector<TaskPrice> prices;                ///< ascending (shape, GPU type); > 0
  std::vector<ResourceMultiplier> multipliers;  ///< ascending class; empty: none binds
  std::vector<double> limit_prices;             ///< by limit, per unit of it
  double value = 0.0;                           ///< of the weights
  double bound = 0.0;  ///< that the prices prove with exact contents, required jobs all placed
  int rounds = 0;      ///< of pricing
  int columns = 0;     ///< options and configurations, used or not

  /// False: the LP was skipped, the other members are empty.
  [[nodiscard]] bool solved() const { return !jobs.empty(); }
  /// Index of the group in `jobs`, or -1. O(log groups).
  [[nodiscard]] std::int32_t find(const JobGroup& group) const;
};

template <class Archive>
void describe(Archive& archive, ConfigurationSolution& s) {
  archive(s.value_bits, s.jobs, s.bundles, s.configurations, s.options, s.prices, s.multipliers,
          s.limit_prices, s.value, s.bound, s.rounds, s.columns);
}

/// A limit that couples jobs, in its unit.
struct LimitSupply {
  double capacity = 0.0;
  double penalty = kInfinity;  ///< objective per unit over the capacity
  double price = 0.0;          ///< first price of a unit
};

/// First prices of the configuration LP, and the limits.
struct ConfigurationStart {
  std::span<const double> gpu_price;         ///< by slot, of the relaxation by pools
  std::span<const LimitSupply> limits = {};  ///< by limit, as JobGroup::Option::loads
};

/// Limits of the solution, all counts. Chosen, not tuned.
struct ConfigurationOptions {
  int value_bits = 53;         ///< of the grouping that found the job groups
  double relative_gap = 1e-5;  ///< stops when bound - value <= relative_gap x bound
  /// A bound known before: stops when the value reaches it, as no prices prove less then.
  double known_bound = kInfinity;
  /// Above 0: an LP of more than 64 rows is skipped where machines hold what jobs ask for at the
  /// first prices, up to this part of the bound. The first prices must be those of the least bound
  /// by GPU prices.
  double negligible = 0.0;
  int rounds = 120;            ///< most rounds of pricing
  int options = 30'000;        ///< most options of job groups; with more, values are rounded
  std::size_t labels = 4'000;  ///< most labels of one machine in pricing
  /// Work limit, in contents of machines compared or computation that takes as long.
  std::int64_t work = 3'000'000;
};

/// Solves the configuration LP by column generation (Gilmore and Gomory 1961): the master by an
/// interior point method with the groups eliminated, pricing by exact dynamic programming over one
/// machine. Skipped, with an empty result, when no machine holds a task, when tasks fill the GPUs
/// of every machine whatever their mix, and as `negligible` says: prices of GPUs are as good there.
/// With more than 600 rows (shapes x types) machines of a type share their GPUs and resources
/// instead: the prices are those of that larger relaxation, without configurations and options.
/// On one rank; the result does not depend on the number of threads.
///
/// @param instance  its cluster and tables are read, no job's record
/// @param bins      all machines that are up, by room
/// @param jobs      ascending group, each once
/// @pre a PetscSession exists
ConfigurationSolution solve_configuration_lp(const model::InstanceView& instance,
                                             std::span<const BinType> bins, JobCounts jobs,
                                             const ConfigurationStart& start,
                                             const ConfigurationOptions& options = {},
                                             const StopToken& stop = {});

}  // namespace berth::solver
