// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/planner_model/limit_groups.hpp"
#include "berth/planner_model/pools.hpp"
#include "berth/planner_model/room.hpp"
#include "berth/planner_model/value.hpp"

namespace berth::solver {

/// GPU capacity of the pools: all of it, or what is free.
struct Supply {
  std::size_t pools = 0;
  std::vector<std::int64_t> milli;  ///< by PoolId, GPU thousandths
  std::vector<std::int64_t> tasks;  ///< [k * pools + p]: tasks of k whole GPUs that fit, k >= 1

  [[nodiscard]] std::int64_t whole_tasks(std::size_t gpus, std::size_t pool) const {
    const std::size_t at = gpus * pools + pool;
    return at < tasks.size() ? tasks[at] : 0;
  }
};

/// Supply of all machines with their immovable content only. O(machines x GPUs of a machine).
Supply full_supply(const model::Cluster& cluster, const planner_model::Pools& pools);

/// Supply of the free room of `machines`; 0 for pools without any of them.
Supply free_supply(const planner_model::Pools& pools, const planner_model::Room& room,
                   std::span<const MachineId> machines);

/// The unknowns of the market's dual: prices by PoolId, then by quota, then by group of limits.
struct MarketShape {
  std::vector<double> capacity;     ///< GPUs; for groups of limits: units of the group
  std::vector<double> upper;        ///< upper bound on an optimal price, per GPU or unit
  std::vector<std::int32_t> group;  ///< GPU type; pools of one type share the first prices
  double largest_value = 0.0;       ///< of any job, per GPU
  double price_scale = 0.0;         ///< order of magnitude of the prices, per GPU; <= largest_value
};

/// Demand by value per GPU, in bands of a factor 2: a histogram whose sums are exact in any order.
class ValueBands {
 public:
  void add(double value, std::int64_t milli);  ///< O(1); values <= 0 are not counted
  void add(const ValueBands& other);

  /// Value per GPU, rounded up to a power of 2, of the demand at the margin: what the most valuable
  /// jobs leave out of `capacity`. At most three quarters of the demand are above it, so that a few
  /// worthless jobs in an underloaded cluster do not count. 0 without demand.
  /// @param capacity  GPU thousandths, >= 0
  [[nodiscard]] double marginal_value(std::int64_t capacity) const;

 private:
  static constexpr int kLeastExponent = -64;  ///< values below 2^-64 share the first band
  std::array<std::int64_t, 128> milli_{};     ///< [e]: values in [2^(e-1), 2^e) x 2^-64
};

/// Quantities that determine the fixed-point units of a market. Markets of parts of the jobs must
/// agree on it before their sums are added. Trivially copyable.
struct MarketScale {
  std::int64_t milli = 0;      ///< GPU thousandths of all jobs with options
  std::int64_t options = 1;    ///< largest number of options of a job
  std::int64_t required = 0;   ///< 1 = some job is required
  double largest_value = 0.0;  ///< of any job, per GPU
  ValueBands demand = {};      ///< GPU thousandths of all jobs by their best value per GPU

  /// Scale of the jobs of both markets.
  [[nodiscard]] MarketScale with(const MarketScale& other) const;
};

/// Hash of the job's task profile and its best value per GPU type, not of its home. Jobs of one
/// bidder have equal kinds.
std::uint64_t job_kind(const planner_model::Valuation& valuation, JobId job);

/// The smoothed dual of "which job is placed where": one price per GPU and pool.
///
///   D(p) = sum_pools cap p + sum_jobs n eps log( [not required] + sum_options exp((v/n - q)/eps) )
///   q    = -eps log sum_places exp(-c/eps)       over the places of the option's place class
///   c    = price per GPU of the place: its pool's, or the cheapest filling of its pools
/// (smoothing of a Lagrangian dual by log-sum-exp: Nesterov 2005). With quotas every option of a
/// job also costs theta, the prices of its queue's limits, and D has a term limit x price for each
/// quota. Groups of limits have such terms too: an option pays for the job's least use of them
/// (`LimitGroups::group_loads`).
///
/// At any prices >= 0 and eps = 0, D is an upper bound on every plan. Jobs with equal options are
/// merged and place classes are priced once, so an evaluation costs
/// O(distinct jobs x (types + options at home) + places); less while prices move little, because
/// options far below a job's best one are skipped. CPU-only jobs are not part of the market.
///
/// Sums are int64 fixed point: sums over any split of the blocks, added in any order, on any number
/// of ranks and threads, have equal bits. So have sums of several markets with one scale, if jobs
/// of one kind are in one market.
class Market {
 public:
  /// @param jobs     ascending; the valuation and the pools must outlive the market
  /// @param limits   adds a price per GPU for each quota after those of the pools, then a price per
  ///                 unit for each group of limits. Null: no such prices
  Market(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
         std::span<const JobId> jobs, const Supply& supply,
         const planner_model::LimitGroups* limits = nullptr);
  ~Market();
  Market(Market&&) noexcept;

  [[nodiscard]] const MarketShape& shape() const;
  [[nodiscard]] std::size_t blocks() const;     ///< number of blocks of 256 distinct jobs
  [[nodiscard]] std::size_t sums_size() const;  ///< 1 + prices

  [[nodiscard]] MarketScale scale() const;   ///< of this market's jobs; the initial scale
  void set_scale(const MarketScale& scale);  ///< call before the first evaluation
  /// Adds the value of the jobs in blocks [first_block, last_block) to sums[0] and their demand by
  /// price to the other entries, if `sums` has more than one. Uses threads. Not const: the kernel
  /// keeps a shortlist of options for the next evaluation; results do not depend on it.
  /// @pre prices 0 .. shape().upper, 0 <= eps <= shape().largest_value
  void evaluate(std::span<const double> prices, double eps, std::size_t first_block,
                std::size_t last_block, std::span<std::int64_t> sums);

  /// The dual value from the sums over all blocks, and gradient[p] = capacity - demand unless
  /// `gradient` is empty. O(prices).
  double finish(std::span<const double> prices, std::span<const std::int64_t> sums,
                std::span<double> gradient) const;

  /// `evaluate` of all blocks and `finish`, on this rank.
  double dual(std::span<const double> prices, double eps, std::span<double> gradient);

 private:
  struct IndexedDual;
  std::unique_ptr<IndexedDual> dual_;
};

/// (prices, eps, gradient) -> dual value; `gradient` may be empty.
using MarketDual = std::function<double(std::span<const double>, double, std::span<double>)>;

/// Defaults for pools: docs/decisions/0012. Defaults for types: chosen, not tuned.
struct PriceOptions {
  /// Smoothing as fractions of MarketShape::price_scale, descending.
  std::vector<double> type_eps{0.02, 0.007};
  std::vector<double> pool_eps{0.0005, 0.00005};
  int type_iterations = 15;   ///< most iterations per eps, with one price per GPU type
  int pool_iterations = 400;  ///< most iterations per eps, with one price per pool
  int patience = 30;          ///< a solve ends when this many iterations gain less than ...
  double least_gain = 1e-5;   ///< ... this share of the dual
  int memory = 20;            ///< past steps in the minimiser's curvature
};
struct PriceResult {
  std::vector<double> prices;  ///< by PoolId; of the lowest exact dual value seen
  double bound = 0.0;          ///< lowest exact dual value seen
  int evaluations = 0;
};

/// Minimises the dual with one price per GPU type, then per pool, at descending eps (PETSc TAO
/// BLMVM).
/// @param start  by PoolId, or empty; with a start the solves with prices per type are skipped
/// @param stop   checked before every evaluation but the first and the last
PriceResult minimise_market(const MarketDual& dual, const MarketShape& shape,
                            std::span<const double> start, const PriceOptions& options,
                            const StopToken& stop = {});

}  // namespace berth::solver
