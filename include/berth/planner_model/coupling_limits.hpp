// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/model/limit_table.hpp"
#include "berth/model/placement.hpp"

namespace berth::planner_model {

/// One limit in the planner's view.
struct CouplingLimit {
  model::LimitKind kind = model::LimitKind::gpu_quota;
  model::LimitScope scope = {};  ///< of the whole cluster, for licenses: nothing is valid
  std::uint32_t license = 0;     ///< row of Cluster::licenses, of kind license
  std::int64_t capacity =
      model::kNoLimit;  ///< less use by immovable content, in the kind's unit, >= 0
  /// Value lost per 1000 units over the limit; infinite: a hard limit. Limits of racks and pods
  /// and licenses are hard, those of spare GPUs soft.
  double penalty = std::numeric_limits<double>::infinity();
};

/// A position in `CouplingLimits` and the amount used of that limit.
using LimitAmount = std::pair<std::size_t, std::int64_t>;

/// The largest limits that any rack, and any pod, has: a job that needs more at some width is never
/// placed at it.
class LargestLimits {
 public:
  explicit LargestLimits(const model::Cluster& cluster);
  /// Some empty rack and pod allow such a job in a domain of this width and no narrower one.
  [[nodiscard]] bool allow(const model::WorkloadView& workload, const model::Job& job,
                           model::Level width) const;

 private:
  using ByKind = std::array<std::int64_t, model::kLimitKinds>;
  ByKind of_racks_{}, of_pods_{};
};

/// Whether any job of a workload communicates.
enum class JobTraffic : std::uint8_t { none, some };
/// @pre the workload has the records of all jobs
JobTraffic job_traffic_of(const model::WorkloadView& workload);

/// The limits that couple the machines of an instance, in one numbering: quotas by queue, then for
/// each kind that can bind the limits of all racks, then those of all pods; licenses by row of
/// Cluster::licenses if some job takes one; spare GPUs last, by row of Cluster::spare. The judge
/// counts limits in code of its own.
class CouplingLimits {
 public:
  /// Soft quotas and spare GPUs are limits if the objective counts costs.
  /// @param traffic  of the whole workload, if the instance has a part of it
  CouplingLimits(const model::InstanceView& instance, model::Objective objective,
                 JobTraffic traffic);
  CouplingLimits(const model::InstanceView& instance, model::Objective objective)
      : CouplingLimits(instance, objective, job_traffic_of(instance.workload)) {}

  [[nodiscard]] bool empty() const { return limits_.empty(); }
  [[nodiscard]] std::size_t size() const { return limits_.size(); }
  [[nodiscard]] const CouplingLimit& operator[](std::size_t limit) const { return limits_[limit]; }
  [[nodiscard]] std::int64_t capacity(std::size_t limit) const { return limits_[limit].capacity; }
  [[nodiscard]] double penalty(std::size_t limit) const { return limits_[limit].penalty; }
  [[nodiscard]] bool soft(std::size_t limit) const {
    return penalty(limit) < std::numeric_limits<double>::infinity();
  }

  /// Number of limits of queues, which come first. A job's use of them does not depend on its
  /// place.
  [[nodiscard]] std::size_t of_queues() const { return queue_limits_; }
  /// True when racks or pods have limits, or jobs take licenses. A job's use of the limits of racks
  /// and pods depends on its place.
  [[nodiscard]] bool of_places() const { return size() > queue_limits_; }
  /// True when racks or pods (the cluster, for licenses) have limits of this kind.
  [[nodiscard]] bool has(model::LimitKind kind) const { return first_[index_of(kind)] < size(); }
  /// @pre has(kind)
  [[nodiscard]] std::size_t at(model::LimitKind kind, RackId rack) const {
    return first_[index_of(kind)] + rack.index();
  }
  [[nodiscard]] std::size_t at(model::LimitKind kind, PodId pod) const {
    return first_[index_of(kind)] + instance_.cluster.racks.size() + pod.index();
  }

  /// Limit of a row of Cluster::licenses. @pre has(LimitKind::license)
  [[nodiscard]] std::size_t at_license(std::uint32_t row) const {
    return first_[index_of(model::LimitKind::license)] + row;
  }

  /// First limit of spare GPUs, which are the last limits.
  [[nodiscard]] std::size_t first_spare() const {
    return std::min(size(), first_[index_of(model::LimitKind::spare)]);
  }

  /// The limits that jobs of the queue use: its own first, then its ancestors'. Empty for an
  /// invalid queue.
  [[nodiscard]] std::span<const std::uint32_t> of(QueueId queue) const;
  /// By QueueId: price of a GPU, summed over the limits that the queue's jobs use; empty without
  /// quotas.
  /// @param prices  value per GPU by limit; at least those of queues
  [[nodiscard]] std::vector<double> by_queue(std::span<const double> prices) const;

  /// Amounts that a placed job uses of all limits but quotas, by ascending limit.
  ///   uplink, ring: the job's rate on each rack with tasks of it, if there are several; pods alike
  ///   uplink, ps:   ceil(rate (w (P - p) + (W - w) p) / P) with w of W workers and p of P servers
  ///                 inside
  ///   resources:    what its tasks in the rack (pod) need
  ///   licenses:     what the job takes, wherever it is
  ///   spare GPUs:   GPU thousandths that its tasks take of the pod's GPUs of the type
  /// O(tasks log tasks).
  [[nodiscard]] std::vector<LimitAmount> use_of_places(
      JobId job, std::span<const model::TaskPlacement> tasks) const;

  /// Most that a job can use of this limit (of any one rack's or pod's limit of its kind).
  /// @pre limit >= of_queues()
  [[nodiscard]] std::int64_t most_use(std::size_t limit, JobId job) const;

  /// Sets the prices that valuations subtract already: value per GPU, by limit of a queue; empty:
  /// none.
  void charge(std::vector<double> per_gpu) { charged_ = std::move(per_gpu); }
  [[nodiscard]] double charged(std::size_t limit) const {
    return limit < charged_.size() ? charged_[limit] : 0.0;
  }

 private:
  void add_quotas(model::Objective objective);
  void add_places(model::LimitKind kind);
  void add_licenses();
  void add_license_use(std::vector<LimitAmount>& amounts, JobId job) const;
  void add_spare();
  void add_gpus_beside_spare(std::vector<LimitAmount>& amounts,
                             std::span<const model::TaskPlacement> tasks) const;
  void use_up_by_immovable_content();
  [[nodiscard]] std::vector<LimitAmount> traffic(JobId job,
                                                 std::span<const model::TaskPlacement> tasks) const;
  void add_needs(std::vector<LimitAmount>& amounts, model::LimitKind kind, std::size_t resource,
                 JobId job, std::span<const model::TaskPlacement> tasks) const;
  void add_traffic(std::vector<LimitAmount>& amounts, const model::Communication& communication,
                   std::span<const model::TaskPlacement> tasks, bool pods) const;

  model::InstanceView instance_;
  std::vector<CouplingLimit> limits_;
  std::size_t queue_limits_ = 0;
  std::array<std::size_t, model::kLimitKinds> first_{};  ///< by LimitKind; past the end: none
  std::vector<std::vector<std::uint32_t>> chain_;        ///< by QueueId
  std::vector<double> charged_;
};

}  // namespace berth::planner_model
