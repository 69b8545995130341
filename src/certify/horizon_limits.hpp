// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "horizon_jobs.hpp"

#include <cstdint>
#include <vector>

#include "berth/horizon/price_certificate.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Quotas and budgets of GPU-hours of a bound problem. What running jobs leave of a quota does not
/// fall over time, and no job starts above it, so waiting jobs never use more; budgets count
/// waiting jobs within the horizon.
class HorizonLimits {
 public:
  HorizonLimits(const model::InstanceView& instance, const model::Horizon& horizon);

  /// Adds quotas, budgets and the queues that they belong to.
  void add_to(BoundProblem& bound) const;
  /// The last option of the problem counts for the job's queue and those above it.
  void charge(const model::Job& job, horizon::Problem& problem) const;

 private:
  [[nodiscard]] std::vector<horizon::CapacityStep> left_of(QueueId queue) const;

  model::InstanceView instance_;
  model::Horizon horizon_;
  std::vector<QueueId> quotas_, budgets_;
  std::vector<std::int32_t> quota_of_, budget_of_;  ///< by QueueId; -1: none
};

/// The prices of a file by curve of the problem. What it does not name costs nothing.
/// @throws InputError when it names what the instance does not have
horizon::PriceCertificate certificate_of(const model::InstanceView& instance,
                                         const BoundProblem& bound,
                                         const model::PriceCurves& prices);

}  // namespace berth::certify
