// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gang_cost.hpp"
#include "pricing.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"

namespace berth::certify {

/// All options of jobs with equal tasks, job by job: these jobs share the costs.
class JobOptions {
 public:
  /// @param like  one of these jobs
  JobOptions(const Pricing& pricing, const model::Job& like);

  struct Best {
    JobBest best;
    std::optional<StayOption> stay;
  };
  Best best(const model::Job& job);

  /// True when every value of every option seen so far was an integer.
  [[nodiscard]] bool integral() const { return integral_; }

 private:
  struct OptionSearch;
  struct HomeRegion;
  struct HomeRegions;

  static HomeRegions regions(const model::InstanceView& instance, const model::Job& job);
  void on_type(OptionSearch& search, GpuTypeId type);
  void stay(OptionSearch& search);
  [[nodiscard]] std::vector<StayItem> items_of(const model::Job& job,
                                               const model::JobPlacement& now) const;
  Int128 cost_of(const HomeRegion& region, GpuTypeId type, model::Level width);

  const Pricing* pricing_;
  GangCost costs_;
  std::int64_t milli_;      ///< GPU thousandths of each job
  model::Level narrowest_;  ///< that rules allow
  bool one_task_;
  bool integral_ = true;
};

}  // namespace berth::certify
