// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "case_tree.hpp"
#include "job_value.hpp"
#include "pricing.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// A job that gains by being placed somewhere, net of its own price.
struct ProfitableJob {
  Int128 profit = 0;  ///< > 0
  std::int64_t gpus = 0;
  std::uint32_t job = 0;
};

/// Profits of the jobs with a price of their own on one GPU type, by place, at one leaf of the
/// tree. Keeps of each size only as many jobs as fit: the most profitable ones.
class ProfitableJobs {
 public:
  ProfitableJobs(const Pricing& pricing, const SpotIndex& spots, const Leaf& leaf, GpuTypeId type);

  [[nodiscard]] GpuTypeId type() const { return type_; }
  [[nodiscard]] std::vector<ProfitableJob> in_rack(RackId rack, std::int64_t gpus) const;
  [[nodiscard]] std::vector<ProfitableJob> over_racks(PodId pod, std::int64_t gpus) const;
  [[nodiscard]] std::vector<ProfitableJob> over_pods(std::int64_t gpus) const;

 private:
  using BySize = std::map<std::int64_t, std::vector<ProfitableJob>>;  ///< most profitable first
  /// Places where a job's profit differs from that elsewhere. A running job may stay in a rack, or
  /// over the racks of a pod, or over pods.
  struct NearHome {
    PodId home;
    RackId stays;
    PodId stays_over;
  };

  /// Present place of a running job on this type, and its value there; empty for other jobs.
  struct CurrentPlace {
    RackId rack;  ///< valid: in this rack
    PodId pod;    ///< valid: over racks of this pod
    model::Level distance = model::Level::machine;
    bool over_pods = false;
    Int128 worth = 0;
  };

  /// Profit of one job by place, net of its price.
  struct ProfitByPlace {
    std::uint32_t job = 0;
    std::int64_t gpus = 0;
    bool wide = true;  ///< may span racks
    PodId pod;         ///< home, or of the home rack
    RackId rack;       ///< home
    CurrentPlace stay;
    Int128 far = 0, in_pod = 0, in_rack = 0, staying = 0;
    Int128 far_wide = 0, pod_wide = 0, staying_wide = 0, over_pods = 0;
  };

  [[nodiscard]] CurrentPlace staying(std::uint32_t index, const JobValue& worth) const;
  [[nodiscard]] ProfitByPlace profits(std::uint32_t index, Int128 price,
                                      model::Objective objective) const;
  void add(const ProfitByPlace& profits);
  void add_confined(const ProfitByPlace& profits, const SpotIndex& spots,
                    const std::vector<bool>& allowed);
  void keep(const ProfitByPlace& profits, Int128 profit, std::vector<ProfitableJob>& to) const;
  template <class Elsewhere>
  [[nodiscard]] std::vector<ProfitableJob> chosen(BySize near, const BySize& far, std::int64_t gpus,
                                                  const Elsewhere& elsewhere) const;

  model::InstanceView instance_;
  GpuTypeId type_;
  int scale_;
  std::int64_t largest_machine_ = 0;  ///< largest number of entirely free GPUs
  BySize far_;                        ///< in any rack that is not near the job's home
  BySize far_wide_;                   ///< over the racks of any pod but the home pod
  BySize widest_;
  std::vector<NearHome> near_;  ///< by JobId, of listed jobs
  std::vector<std::vector<ProfitableJob>>
      pod_;  ///< by PodId: in any of its racks but the home rack
  std::vector<std::vector<ProfitableJob>> rack_;  ///< by RackId: in the home rack
  std::vector<std::vector<ProfitableJob>> pod_wide_;
};

}  // namespace berth::certify
