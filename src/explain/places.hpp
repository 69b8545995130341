// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trials.hpp"

#include <vector>

#include "berth/explain/explain.hpp"

namespace berth::explain {

/// The prices of a certificate, and all pools of its level with their prices.
struct CertifiedPools {
  const model::Certificate* certificate = nullptr;  ///< null: no prices
  std::vector<model::Certificate::PoolPrice> pools = {};
};
/// O(machines log pools)
CertifiedPools certified_pools(const model::Cluster& cluster,
                               const model::Certificate* certificate);

/// Of each GPU type that the job may use, the cheapest pool of the certificate, by value less cost.
/// O(pools + domains) beside `FreeTaskCounts`
std::vector<PricedPlace> priced_places(Trials& trials, const CertifiedPools& pools, JobId job);

}  // namespace berth::explain
