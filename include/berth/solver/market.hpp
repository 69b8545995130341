// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// What the pools have to offer: everything, or what is left of it.
struct Supply {
  std::size_t pools = 0;
  std::vector<std::int64_t> milli;  ///< by PoolId, GPU thousandths
  std::vector<std::int64_t> tasks;  ///< [k * pools + p]: tasks of k whole GPUs that fit, k >= 1

  [[nodiscard]] std::int64_t whole_tasks(std::size_t gpus, std::size_t pool) const {
    const std::size_t at = gpus * pools + pool;
    return at < tasks.size() ? tasks[at] : 0;
  }
};

/// All machines, holding what no plan moves and nothing else. O(machines x GPUs of a machine).
Supply full_supply(const model::Cluster& cluster, const planner_model::Pools& pools);

/// The free room of `machines`; pools without any of them offer nothing.
Supply free_supply(const planner_model::Pools& pools, const planner_model::Room& room,
                   std::span<const MachineId> machines);

/// The unknowns of the market's dual, for a minimiser, by PoolId, then by quota,
/// then by group of uplinks.
struct MarketShape {
  std::vector<double> capacity;     ///< GPUs; of uplinks: in units of the group
  std::vector<double> upper;        ///< largest price per GPU (unit) that can matter
  std::vector<std::int32_t> group;  ///< GPU type; pools of one type start with one price
  double largest_value = 0.0;       ///< of any job, per GPU
};

/// What the fixed-point units of a market depend on: agree on it where several markets, each of
/// some of the jobs, are to be one. Trivially copyable.
struct MarketScale {
  std::int64_t milli = 0;      ///< GPU thousandths of all jobs that bid
  std::int64_t options = 1;    ///< of a job at most
  std::int64_t required = 0;   ///< 1 = some job is required
  double largest_value = 0.0;  ///< of any job, per GPU

  /// That of both markets' jobs.
  [[nodiscard]] MarketScale with(const MarketScale& other) const;
};

/// Equal for jobs that may bid as one. Depends on what the job asks for and what it is worth per
/// type, not on its home.
std::uint64_t job_kind(const planner_model::Valuation& valuation, JobId job);

/// The smoothed dual of "which job is placed where": one price per GPU and pool.
///
///   D(p) = sum_pools cap p + sum_jobs n eps log( [not required] + sum_options exp((v/n - q)/eps) )
///   q    = -eps log sum_places exp(-c/eps)       places that are worth the same to the job
///   c    = price per GPU of the place: its pool's, or the cheapest filling of its pools
/// With quotas every option of a job also costs theta = the prices of its queue's limits, and D has
/// a term limit x price for each. Groups of uplinks are the same but for this: only options that
/// make a ring leave its rack (pod) pay, by what it then sends at least
/// (`LimitGroups::group_loads`).
///
/// Any prices >= 0 bound every plan from above; eps = 0 gives the exact dual value. Equal jobs of
/// one kind are merged, and places worth the same are priced once, so that an evaluation costs
/// O(distinct jobs x (types + options at home) + places), and less while prices move little:
/// options far below a job's best are then known to count for nothing. CPU-only jobs take no part.
///
/// Sums are int64 fixed point: adding those of any split of the blocks, in any order, on any
/// number of ranks and threads, gives the same bits. So does adding those of several markets among
/// which the jobs were dealt kind by kind, once they have one scale.
class Market {
 public:
  /// @param jobs     ascending; the valuation and the pools must outlive the market
  /// @param limits   each quota has a price per GPU too, after those of the pools; last each group
  ///                 of other limits, per unit of it. Null: they have none
  Market(const planner_model::Valuation& valuation, const planner_model::Pools& pools,
         std::span<const JobId> jobs, const Supply& supply,
         const planner_model::LimitGroups* limits = nullptr);
  ~Market();
  Market(Market&&) noexcept;

  [[nodiscard]] const MarketShape& shape() const;
  [[nodiscard]] std::size_t blocks() const;     ///< of 256 distinct jobs
  [[nodiscard]] std::size_t sums_size() const;  ///< 1 + prices

  [[nodiscard]] MarketScale scale() const;   ///< of this market's own jobs; its scale at first
  void set_scale(const MarketScale& scale);  ///< before the first evaluation

  /// Adds the value of the jobs in blocks [first_block, last_block), then their demand by price, to
  /// `sums`; the value alone where that has one entry. It uses threads. Not const: the softmax
  /// keeps a shortlist of options for the next evaluation; results do not depend on it.
  /// @pre prices 0 .. shape().upper, 0 <= eps <= shape().largest_value
  void evaluate(std::span<const double> prices, double eps, std::size_t first_block,
                std::size_t last_block, std::span<std::int64_t> sums);

  /// The dual value from the sums over all blocks; gradient[p] = capacity - demand. With an empty
  /// `gradient` the value alone. O(prices).
  double finish(std::span<const double> prices, std::span<const std::int64_t> sums,
                std::span<double> gradient) const;

  /// Both in one: the dual value on this rank alone.
  double dual(std::span<const double> prices, double eps, std::span<double> gradient);

 private:
  struct IndexedDual;
  std::unique_ptr<IndexedDual> dual_;
};

/// (prices, eps, gradient) -> dual value; `gradient` may be empty.
using MarketDual = std::function<double(std::span<const double>, double, std::span<double>)>;

struct PriceOptions {
  /// Smoothing as fractions of the largest value per GPU, falling; docs/decisions/0012.
  std::vector<double> type_eps{0.02, 0.007};
  std::vector<double> pool_eps{0.0005, 0.00005};
  int type_iterations = 15;   ///< per eps, with one price per GPU type
  int pool_iterations = 400;  ///< per eps, with one price per pool; rarely that many:
  int patience = 30;          ///< an eps is done when so many iterations gained less than
  double least_gain = 1e-5;   ///< this share of the dual
  int memory = 20;            ///< steps that the minimiser's curvature is made of
};

struct PriceResult {
  std::vector<double> prices;  ///< by PoolId: those of the lowest exact dual value seen
  double bound = 0.0;          ///< that value
  int evaluations = 0;
};

/// Minimises the dual: one price per GPU type, then per pool, eps falling (PETSc TAO BLMVM).
/// @param start  by PoolId, or empty; with a start the prices per type are skipped
/// @param stop   asked before every evaluation but the first and the last
PriceResult minimise_market(const MarketDual& dual, const MarketShape& shape,
                            std::span<const double> start, const PriceOptions& options,
                            const StopToken& stop = {});

}  // namespace berth::solver
