// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/bound_tree.hpp"
#include "berth/model/limit_table.hpp"
#include "berth/model/resources.hpp"
#include "berth/model/workload.hpp"

namespace berth::model {

/// Prices that prove an upper bound on every plan; by weak duality any non-negative prices do.
/// All amounts are integers in units of 2^-scale_log2 of the objective.
///
/// Price of a task of shape s in pool p:
///   pi_ps = gpu_p x milli_s + sum over resources r of price_pr x need_sr + shape[s][type of p]
/// where milli_s are the GPU thousandths that the task takes in the pool (share_taken). A pool or
/// pair (shape, type) that is not listed has price 0.
struct Certificate {
  struct PoolPrice {
    PodId pod;
    RackId rack;  ///< invalid when level is pod
    ClassId machine_class;
    std::int64_t gpu_milli = 0;  ///< per GPU thousandth, >= 0
    Resources unit_price = {};   ///< per unit, >= 0; 0 where the class has no limit
  };
  struct ShapePrice {
    ShapeId shape;
    GpuTypeId gpu_type;      ///< invalid: on machines without GPUs
    std::int64_t price = 0;  ///< per task, >= 0
  };
  /// One price for a gang of so many equal tasks that is in one rack and takes whole machines, in
  /// place of the prices of its tasks. Of jobs that are worth more within a rack than spread
  /// further (certify/bound.hpp, "Gangs in racks"). Not together with `jobs`.
  struct GangPrice {
    ShapeId shape;
    std::int64_t tasks = 0;
    GpuTypeId gpu_type;
    std::int64_t price = 0;  ///< per gang, >= 0
  };
  /// Prices of resources within the bound of one machine, added to those of the pool (Lagrange
  /// multipliers: Geoffrion 1974).
  struct ClassMultiplier {
    ClassId machine_class;
    Resources unit_price = {};  ///< per unit, >= 0; 0 where the class has no limit
  };

  /// One price for a whole job of whole GPUs. The bound then chooses the job or not, rack by rack,
  /// and the job's tasks pay no other price. Ascending job; tasks of other jobs pay the prices
  /// above.
  struct JobPrice {
    JobId job;
    std::int64_t price = 0;  ///< >= 0
  };

  /// Price that jobs pay per unit of a limit that they use, beside the prices of machines.
  struct LimitPrice {
    LimitKind kind = LimitKind::gpu_quota;
    LimitScope scope = {};
    /// >= 0; for a soft quota 1000 x price is at most over_quota_penalty
    std::int64_t price = 0;
  };

  /// The bound chooses whole jobs within capacities, in place of jobs by prices.
  struct WholeJobs {
    /// cluster: in the GPUs of the cluster and of its quotas (0/1 knapsack with nested capacities),
    /// where jobs with GPUs pay the price for each thousandth that they ask for, beside the prices
    /// above. home_racks: jobs at home in the GPUs of their home rack.
    enum class Within : std::uint8_t { none, cluster, home_racks };
    Within within = Within::none;
    std::int64_t gpu_milli = 0;  ///< >= 0; of the GPUs of the whole cluster; 0 within home racks

    [[nodiscard]] bool in_cluster() const { return within == Within::cluster; }
    [[nodiscard]] bool in_home_racks() const { return within == Within::home_racks; }
  };

  std::int32_t scale_log2 = 0;
  Level level = Level::pod;  ///< level of the pools: pod or rack
  std::vector<PoolPrice> pools;
  std::vector<ShapePrice> shapes;
  std::vector<ClassMultiplier> multipliers;
  std::vector<JobPrice> jobs = {};
  std::vector<LimitPrice> limits = {};
  WholeJobs whole_jobs = {};  ///< not together with `jobs`
  BoundTree tree = {};        ///< its jobs are in `jobs`, whose prices are those of the root
  std::vector<GangPrice> gangs = {};
  /// Steps of a search over all placements, or over the places of few gangs (certify/bound.hpp); 0:
  /// no search. Its bound needs no prices.
  std::int64_t search_steps = 0;
};

template <class Archive>
void describe(Archive& archive, Certificate& c) {
  archive(c.scale_log2, c.level, c.pools, c.shapes, c.multipliers, c.jobs, c.limits, c.whole_jobs,
          c.tree, c.gangs, c.search_steps);
}

}  // namespace berth::model
