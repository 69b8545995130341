// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "quota_capacities.hpp"
#include "search/machine_states.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/base/strong_id.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"

namespace berth::certify::search {

/// Free room of all machines: states of machines, ascending in each rack, after a mark of the rack;
/// racks in order after a mark of the pod. Equal rooms are equal vectors: machines, racks and pods
/// without an identity are interchangeable.
using Room = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kPodMark = 1U << 31U;   ///< | id + 1 of a pod with an identity
inline constexpr std::uint32_t kRackMark = 1U << 30U;  ///< | id + 1 of a rack with an identity

/// Brings machines of each rack, racks of each pod, and pods into order.
void sort_room(Room& room);

/// A job that the search places or not.
struct SearchedJob {
  struct Group {
    KindId kind = 0;
    std::int32_t count = 0;
  };
  /// One GPU type (invalid for a job without GPUs) and gains there, in fixed point.
  struct Choice {
    GpuTypeId type;
    /// by width and distance from home: value placed less value unplaced
    std::array<std::array<Int128, model::kLevels>, model::kLevels> gain = {};
    Int128 most = 0;  ///< largest gain
  };

  JobId id;
  bool required = false;
  bool one_task = false;
  model::Level domain = model::Level::cluster;
  std::uint32_t home_rack = 0;  ///< mark; 0: none
  std::uint32_t home_pod = 0;   ///< mark of the home pod or of the home rack's pod; 0: none
  std::int64_t milli = 0;
  std::uint64_t types = 0;               ///< allowed GPU types of all tasks
  std::vector<std::size_t> queues = {};  ///< with quota: its queue and that queue's ancestors
  std::vector<Group> groups = {};
  std::vector<Choice> choices = {};
};

/// True when a task may be placed on machines of any type: a list of GPU types names those of a
/// job's GPUs, and binds tasks without GPUs only where no task of the job has GPUs.
[[nodiscard]] inline bool may_be_anywhere(const model::Job& job, const model::Shape& shape,
                                          bool gpu_job) {
  return !shape.uses_gpu() && (gpu_job || job.gpu_types == ~std::uint64_t{0});
}

/// The jobs of a small instance in the order in which a search decides them, and the empty room.
/// Limits of racks and pods are left out: a search without them bounds a plan with them.
class SearchProblem {
 public:
  /// @param required_placed  jobs that every plan in question places
  SearchProblem(const model::InstanceView& instance, model::Objective objective, int scale_log2,
                std::span<const JobId> required_placed);

  [[nodiscard]] const std::vector<SearchedJob>& jobs() const { return jobs_; }
  [[nodiscard]] const std::vector<TaskKind>& kinds() const { return kinds_; }
  [[nodiscard]] Room empty_room(const MachineStates& states) const;
  /// By QueueId: GPU thousandths left of the quota; empty: no quota.
  [[nodiscard]] std::vector<std::optional<std::int64_t>> quotas() const;
  /// By QueueId: value lost per GPU thousandth beyond the quota; empty: a hard quota or none.
  [[nodiscard]] std::optional<Int128> penalty(std::size_t queue, std::int64_t milli) const;
  [[nodiscard]] int scale_log2() const { return scale_log2_; }
  [[nodiscard]] const model::InstanceView& instance() const { return instance_; }

 private:
  void add(const model::Job& job, JobId id, bool required);
  void add_choices(const model::Job& job, SearchedJob& searched);
  KindId kind_of(const model::Job& job, ShapeId shape);
  void find_identities();

  model::InstanceView instance_;
  model::Objective objective_;
  int scale_log2_;
  QuotaCapacities quotas_;
  std::vector<SearchedJob> jobs_;
  std::vector<TaskKind> kinds_;
  bool racks_matter_ = false, pods_matter_ = false;  ///< else their machines are interchangeable
  std::vector<std::uint32_t> rack_mark_, pod_mark_;  ///< by id: 0 without an identity
};

}  // namespace berth::certify::search
