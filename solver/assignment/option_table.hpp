// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/pool_index.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "berth/planner_model/option_enumerator.hpp"
#include "berth/planner_model/task_profile.hpp"

namespace berth::solver::assignment {

/// Demand of the tasks of one profile, and the machine classes that hold them. An exclusive job asks
/// for the machines that its tasks need: each counts as one task of all its GPUs.
struct TaskDemand {
  std::int64_t milli = 0;  ///< GPU thousandths of all tasks
  std::int64_t tasks = 0;
  std::int64_t most_on_machine = 0;  ///< tasks that rules allow on one machine
  std::int32_t gpus_per_task = 0;    ///< GPUs of each GPU task if all have equal whole GPUs, else 0
  bool cpu_tasks = false;            ///< some tasks use no GPU
  std::vector<ShapeId> cpu_shapes = {};  ///< their shapes, unless every class with GPUs fits them
  std::vector<char> task_fits = {};      ///< by ClassId: every GPU task fits an empty machine
  std::vector<char> job_fits = {};       ///< by ClassId: all tasks together fit an empty machine
  /// Whole GPUs that one machine needs to hold all tasks; 0 for a share.
  [[nodiscard]] std::size_t whole_gpus() const { return static_cast<std::size_t>(milli / 1000); }
};

/// All places of one width, inside one domain, on one GPU type, for one task profile. A job has one
/// value in all of them.
struct PlaceClass {
  std::uint32_t profile = 0;
  GpuTypeId type;
  model::Level width = model::Level::machine;
  model::Level scope = model::Level::cluster;  ///< level of the domain that holds the places
  std::int32_t domain = 0;                     ///< its id; 0 for the cluster
};

/// Option k of job j: a place class and the job's value u_jk there.
struct Option {
  static constexpr std::uint32_t kNoLimitLoad = ~std::uint32_t{0};  ///< loads no priced limit
  double value = 0.0;             ///< u_jk; in AssignmentDual per GPU
  std::uint32_t place_class = 0;  ///< index into OptionTable::place_classes
  std::uint32_t limit_load =
      kNoLimitLoad;  ///< index into OptionTable::limit_loads: least load of the job's ring

  bool operator==(const Option&) const = default;
};

/// The options of every job after presolve, which drops options without value, GPU types without
/// machines, domains too small for the job, and place classes inside a wider class of equal value.
class OptionTable {
 public:
  /// @param jobs     positions below are positions in this list
  /// @param limit_groups  groups of limits with prices of their own; null: the valuation subtracts
  /// them
  OptionTable(const planner_model::Valuation& valuation, const PoolIndex& pool_index,
              std::span<const JobId> jobs,
              const planner_model::LimitGroups* limit_groups = nullptr);

  /// By descending value; ties in order of enumeration. Empty for CPU-only jobs and for jobs that
  /// no place holds.
  [[nodiscard]] std::span<const Option> options(std::size_t position) const;
  [[nodiscard]] std::uint32_t profile_of(std::size_t position) const {
    return profile_of_[position];
  }
  [[nodiscard]] const std::vector<TaskDemand>& profiles() const { return profiles_; }
  [[nodiscard]] const std::vector<PlaceClass>& place_classes() const { return place_classes_; }
  [[nodiscard]] const std::vector<planner_model::LimitGroups::GroupLoads>& limit_loads() const {
    return limit_loads_;
  }
  [[nodiscard]] const TaskDemand& profile(const PlaceClass& place_class) const {
    return profiles_[place_class.profile];
  }

 private:
  std::uint32_t intern_profile(const model::Job& job);
  void add_options(JobId job, std::uint32_t profile);
  void add_type_options(JobId job, std::uint32_t profile,
                        const planner_model::OptionEnumerator& job_options, GpuTypeId type);
  std::uint32_t intern(const PlaceClass& place_class);
  std::uint32_t intern_limit_load(JobId job, GpuTypeId type, model::Level width);
  [[nodiscard]] bool may_fit(const TaskDemand& profile, std::span<const std::int32_t> domain_pools,
                             model::Level width) const;
  [[nodiscard]] bool may_fit_anywhere(std::uint32_t profile, GpuTypeId type, model::Level width);
  [[nodiscard]] bool cpu_tasks_fit(const TaskDemand& profile,
                                   std::span<const std::int32_t> domain_pools,
                                   model::Level width) const;

  const planner_model::Valuation* valuation_;
  const PoolIndex* pool_index_;
  const planner_model::LimitGroups* limit_groups_;
  /// [domain][ClassId]: 1 = present; empty until a profile has shapes that some machine cannot
  /// hold, because they have the size of the whole cluster.
  std::vector<std::vector<char>> rack_classes_, pod_classes_;
  planner_model::LargestLimits largest_limits_;
  std::vector<TaskDemand> profiles_;
  /// By profile, [type][width]: result of may_fit_anywhere, -1 = not computed.
  std::vector<std::vector<signed char>> fits_anywhere_;
  std::unordered_map<planner_model::TaskProfile, std::uint32_t, planner_model::TaskProfileHash>
      known_profiles_;
  std::vector<PlaceClass> place_classes_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_place_classes_;
  std::vector<planner_model::LimitGroups::GroupLoads> limit_loads_;
  /// Group and amount of each entry of the loads.
  using LoadKey = std::array<double, 2 * std::tuple_size_v<planner_model::LimitGroups::GroupLoads>>;
  std::map<LoadKey, std::uint32_t> known_limit_loads_;
  std::vector<std::uint32_t> profile_of_;
  std::vector<std::size_t> end_;
  std::vector<Option> options_;
};

}  // namespace berth::solver::assignment
