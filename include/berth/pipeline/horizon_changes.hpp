// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// What would have to be different for a job that waits to start within the horizon.
enum class TimedChangeKind : std::uint8_t {
  none,      ///< nothing: it fits beside the plan
  eviction,  ///< jobs that do not start, and the value from which that pays
  domain,    ///< a wider domain
  gpu_type,  ///< a GPU type that the job does not list
  count,     ///< fewer tasks
  quota,     ///< a larger quota
  license,   ///< more licenses of one name
  deadline,  ///< a later deadline
  length,    ///< a longer horizon
};

/// One change, and when the job then starts and ends beside all other jobs of the plan but
/// `stopped`. Times are seconds.
struct TimedChange {
  TimedChangeKind kind = TimedChangeKind::none;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::vector<JobId> stopped = {};              ///< eviction: jobs of the plan, ascending
  double loss = 0.0;                            ///< eviction: their value
  model::Level domain = model::Level::cluster;  ///< domain: the narrowest that suffices
  GpuTypeId gpu_type = {};                      ///< gpu_type
  std::int32_t count = 0;                       ///< count: most tasks that fit, of those tried
  QueueId queue = {};                           ///< quota: the one that is too small
  std::int64_t quota = 0;                       ///< quota: GPUs that suffice
  std::uint32_t license = 0;                    ///< license: row of Cluster::licenses
  std::int64_t licenses = 0;                    ///< license: number that suffices, in all
  std::int64_t deadline = 0;                    ///< deadline that suffices
  std::int64_t length = 0;                      ///< of a horizon that suffices
};

/// A plan in time about which questions are asked. Copies the instance.
class HorizonChanges {
 public:
  /// @param plan  of the instance, and valid
  HorizonChanges(const model::Instance& instance, const model::RawHorizonPlan& plan);
  ~HorizonChanges();

  /// The changes of which each alone lets a waiting job start in the horizon, in the order of
  /// TimedChangeKind; only `none` when it fits as it is. None for jobs that run, and for those that
  /// wait for one that waits. Victims are looked for among the 2,048 of least value: no proper
  /// subset of those found suffices (QuickXplain: Junker 2004). O(machines + jobs log jobs) and
  /// some thousand searches in the timelines of machines
  std::vector<TimedChange> of(JobId job);

  /// All placements and their ends once the last asked job is in the plan as this change of it
  /// says. GPUs are dealt anew.
  [[nodiscard]] std::pair<model::Placement, std::vector<std::int64_t>> plan_with(
      const TimedChange& change) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The change in words: "deadline: 7200 instead of 3600; starts at 3600, ends at 7200".
std::string text(const model::InstanceView& instance, const model::Horizon& horizon, JobId job,
                 const TimedChange& change);

}  // namespace berth::pipeline
