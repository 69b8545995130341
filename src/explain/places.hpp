// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trials.hpp"

#include <cstdint>
#include <map>
#include <tuple>
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

/// How many tasks of a job one domain of its level holds in free room.
class FreeTasks {
 public:
  explicit FreeTasks(const Trials& trials) : trials_(trials) {}
  /// Most of the job's largest group in any domain of this type; at most the group's count.
  /// O(machines), O(log tasks asked about) for tasks asked about before
  std::int64_t of(const model::Job& job, GpuTypeId type);

 private:
  using Key = std::tuple<ShapeId, std::int32_t, bool, model::Level, GpuTypeId>;
  const Trials& trials_;
  std::map<Key, std::int64_t> known_;  ///< by shape, count, on one machine, level, type
};

/// Of each GPU type that the job may use, the cheapest pool of the certificate, by value less cost.
/// O(pools) beside `FreeTasks`
std::vector<PricedPlace> priced_places(const Trials& trials, const CertifiedPools& pools,
                                       FreeTasks& free_tasks, JobId job);

}  // namespace berth::explain
