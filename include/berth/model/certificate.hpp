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

/// Prices that prove an upper bound on every plan (weak duality: any non-negative ones do).
/// All amounts are integers in units of 2^-scale_log2 of the objective.
///
/// Price of a task of shape s in pool p:
///   pi_ps = gpu_p x milli_s + sum over resources r of price_pr x need_sr + shape[s][type of p]
/// milli_s being what it takes there (share_taken). A pool or (shape, type) that is not listed has
/// price 0.
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
  /// What a machine's bound charges for its resources beside the pool's own prices.
  struct ClassMultiplier {
    ClassId machine_class;
    Resources unit_price = {};  ///< per unit, >= 0; 0 where the class has no limit
  };

  /// One price for a whole job of whole GPUs: the job is then chosen or not, rack by rack, instead
  /// of paying for its tasks. Ascending job; those that are not listed pay for their tasks.
  struct JobPrice {
    JobId job;
    std::int64_t price = 0;  ///< >= 0
  };

  /// What jobs pay for a limit beside the machines, for each unit that they use of it.
  struct LimitPrice {
    LimitKind kind = LimitKind::gpu_quota;
    LimitScope scope = {};
    /// >= 0; 1000 of a quota's at most over_quota_penalty where there is one
    std::int64_t price = 0;
  };

  std::int32_t scale_log2 = 0;
  Level level = Level::pod;  ///< pools by pod or by rack
  std::vector<PoolPrice> pools;
  std::vector<ShapePrice> shapes;
  std::vector<ClassMultiplier> multipliers;
  std::vector<JobPrice> jobs = {};
  std::vector<LimitPrice> limits = {};
  BoundTree tree = {};  ///< over jobs in `jobs`; the prices there are the root's
};

}  // namespace berth::model
