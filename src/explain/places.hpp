// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trials.hpp"

#include <map>
#include <utility>
#include <vector>

#include "berth/explain/explain.hpp"

namespace berth::explain {

/// The prices of a certificate, and all pools of its level with their prices.
struct CertifiedPools {
  const model::Certificate* certificate = nullptr;  ///< null: no prices
  /// By GPU type, each in the order of the certificate's places.
  std::map<GpuTypeId, std::vector<model::Certificate::PoolPrice>> pools = {};
  std::map<std::pair<ShapeId, GpuTypeId>, double> shapes = {};  ///< those that are not 0
};
/// O(machines log pools)
CertifiedPools certified_pools(const model::Cluster& cluster,
                               const model::Certificate* certificate);

/// Of each GPU type that the job may use, the cheapest pool of the certificate, by value less cost.
/// O(pools + domains) beside `FreeTaskCounts`
std::vector<PricedPlace> priced_places(Trials& trials, const CertifiedPools& pools, JobId job);

}  // namespace berth::explain
