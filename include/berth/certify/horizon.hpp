// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"

/// The judge of plans in time: feasibility by an event sweep, the bound in integers.
namespace berth::certify {

enum class HorizonFaultKind : std::uint8_t {
  unknown_option,   ///< the job has no such option, or the plan not one entry a job
  wrong_pool,       ///< the option may not use the pool
  before_release,   ///< also: before Problem::now
  after_deadline,   ///< completes after it
  wrong_tasks,      ///< not exactly the option's tasks of every group (a gang is whole)
  wrong_machine,    ///< a share on a machine of another pool
  wrong_devices,    ///< not the GPUs that the share's tasks take, or GPUs the machine lacks
  device_conflict,  ///< a GPU used twice at a time, or during an outage
  pool_over_full,   ///< a plan over pools: more GPUs in use than the pool has
};

struct HorizonFault {
  HorizonFaultKind kind;
  JobId job;                ///< invalid for pool_over_full
  std::int32_t where = -1;  ///< machine or pool, where there is one
  horizon::Seconds time = 0;
};

/// Faults of a plan on machines: empty when every placed job has its GPUs, alone, from start to
/// end. O((jobs + shares + outages) log).
std::vector<HorizonFault> check_on_machines(const horizon::Problem& problem,
                                            const horizon::Plan& plan);

/// Faults of a plan over pools: machines are not looked at. O(jobs log jobs).
std::vector<HorizonFault> check_on_pools(const horizon::Problem& problem,
                                         const horizon::Plan& plan);

struct HorizonProof {
  double objective = 0.0;  ///< cost of the placed jobs, rounded up
  double bound = 0.0;  ///< on the cost of every plan that places the same required jobs, rounded
                       ///< down; <= objective for a feasible plan
  double gap = 0.0;    ///< (objective - bound) / max(|larger of both|, 1e-12)
  std::vector<JobId> required_missing;  ///< count on neither side
};

/// Cost of the plan, and the bound that the prices prove:
///
///   LB = sum_j min F_j - sum_p integral lambda_p C_p,
///   F_j(t) = f_j(t + d) + n (Lambda(t + d) - Lambda(t)) over options, pools and t >= release,
///
/// or 0 for a job that may be left out. Times are whole seconds, prices whole units of
/// 2^-kPriceFractionBits, so 2 Lambda and every F are integers in 128 bits: nothing is rounded but
/// the costs, down. Whole seconds lose nothing: flooring all starts of a plan keeps it feasible.
/// O(jobs x (intervals + pieces of cost)). Uses threads.
/// @throws InputError when the certificate has prices < 0, or prices or times beyond 2^50 or 2^30
HorizonProof prove_horizon(const horizon::Problem& problem, const horizon::Plan& plan,
                           const horizon::PriceCertificate& certificate);

/// True when the prices prove that no plan completes all jobs by `end`: the least rents of all jobs
/// that end by then sum to more than the capacity is worth, or some job alone cannot.
/// O(jobs x intervals). @throws InputError as prove_horizon
bool refutes_makespan(const horizon::Problem& problem, horizon::Seconds end,
                      const horizon::PriceCertificate& certificate);

}  // namespace berth::certify
