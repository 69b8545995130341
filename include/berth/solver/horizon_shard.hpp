// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/base/stop.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/horizon/plan.hpp"
#include "berth/horizon/problem.hpp"
#include "berth/solver/horizon_bound.hpp"

namespace berth::solver {

/// Jobs of a problem in time with the ids that they have in the whole problem.
struct NamedJobs {
  horizon::Problem problem;
  std::vector<JobId> names;  ///< by JobId of `problem`; distinct
};

/// A part of the cluster with the jobs that it plans, and where its plan begins.
struct HorizonShardTask {
  ShardId shard;
  NamedJobs jobs;      ///< with machines; ascending names
  HorizonBound bound;  ///< prices of the whole problem; its cost shares and dependencies by names
  std::vector<model::Dependency> dependencies;  ///< of these jobs, by their names
  /// Over pools: starts that the lists follow; with machines: the plan itself.
  horizon::Plan plan;
  bool planned = false;             ///< `plan` is with machines
  horizon::Plan kept;               ///< HorizonPlanOptions::kept; without starts: none
  std::int64_t machine_visits = 0;  ///< HorizonPlanOptions::machine_visits of each search
};

/// A job that another shard may take.
struct HorizonOffer {
  JobId job;            ///< name
  double regret = 0.0;  ///< cost + rent beyond the least at the prices; > 0
  double cost = 0.0;    ///< now; infinite for a required job that waits
};

/// Offered jobs as another shard sees them.
struct HorizonGuests {
  NamedJobs jobs;             ///< pools are those of that shard
  std::vector<double> costs;  ///< of each job where it is now
};

/// What the plan gains when the shard takes the job.
struct HorizonBid {
  JobId job;  ///< name
  ShardId shard;
  double gain = 0.0;  ///< > 0; infinite for a required job that waits
};

/// One shard of a plan in time: plans its jobs on its machines, offers those that cost much at the
/// prices, bids for those of others in the room that its plan leaves, and improves its plan. Equal
/// calls give equal plans, and a shard made from the plan of another one goes on as that would.
class HorizonShard {
 public:
  explicit HorizonShard(HorizonShardTask task);
  HorizonShard(HorizonShard&&) noexcept;
  HorizonShard& operator=(HorizonShard&&) noexcept;
  ~HorizonShard();

  [[nodiscard]] ShardId id() const;
  /// Plans on machines by the lists of `plan_on_machines`, unless the task has such a plan.
  void plan(const StopToken& stop);
  /// Jobs with regret and jobs that wait, without those that depend on others, by name.
  [[nodiscard]] std::vector<HorizonOffer> offers() const;
  /// Keeps the guests until `settle`, and bids for those that would cost less here, each alone.
  std::vector<HorizonBid> bids(HorizonGuests guests);
  /// Takes the granted guests in this order, each where it costs least now; returns the names of
  /// those whose gain is still at least half of the bid. @pre after `bids`
  std::vector<JobId> take(std::span<const HorizonBid> granted);
  /// Forgets the jobs that others have taken, and guests without a place here. @pre after `bids`
  void settle(std::span<const JobId> left);
  /// Reinsertions by the draws of `seed`, with 1 / `share` of the work of the task, and a left
  /// shift. Never dearer.
  void improve(std::uint64_t seed, std::int64_t share, const StopToken& stop);

  [[nodiscard]] double cost() const;                      ///< of its placed jobs
  [[nodiscard]] const std::vector<JobId>& names() const;  ///< of its jobs, ascending
  [[nodiscard]] const horizon::Plan& plan() const;        ///< with machines; by position in names

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same as bytes, for messages.
std::string bytes_of(const HorizonShardTask& task);
HorizonShardTask shard_task_from(std::string_view bytes);
std::string bytes_of(const HorizonGuests& guests);
HorizonGuests guests_from(std::string_view bytes);

}  // namespace berth::solver
