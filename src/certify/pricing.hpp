// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gang_prices.hpp"
#include "price_table.hpp"
#include "quota_capacities.hpp"

#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Values and prices of jobs, in the certificate's fixed point.
struct Pricing {
  Pricing(const model::InstanceView& instance, model::Objective objective,
          const model::Certificate& certificate);
  /// Also computes what machines are worth (PricedPool::worth) if some job is exclusive.
  /// @param facts  of all jobs
  Pricing(const model::InstanceView& instance, model::Objective objective,
          const model::Certificate& certificate, const JobFacts& facts);

  model::InstanceView instance;
  model::Objective objective;
  int scale_log2;
  PriceTable price_table;
  GangPrices gangs;
  QuotaCapacities quotas;
  model::Certificate::WholeJobs whole_jobs;
  std::vector<GpuTypeId> types;  ///< GPU types of the machines
  bool stays_on_machines;        ///< running jobs that stay are items of their machines' contents
};

}  // namespace berth::certify
