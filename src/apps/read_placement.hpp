// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/model/certificate.hpp"
#include "berth/model/horizon_plan.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/raw_plan.hpp"
#include "berth/pipeline/plan_cluster.hpp"

namespace berth::apps {

/// A plan file with its names looked up in the instance. Of a plan in time: the jobs that start
/// now.
struct ReadPlan {
  model::RawPlan file = {};
  model::Placement placement = {};
  model::Objective objective = model::Objective::value;
  /// Prices of a plan of one moment; none where they are unusable.
  std::optional<model::Certificate> certificate = {};
  std::optional<model::RawHorizonPlan> in_time = {};  ///< the whole plan, when it has a horizon
};

/// The file alone, without a look at an instance: no placement, no certificate.
ReadPlan read_plan_alone(const std::string& path);

/// Looks up the names of a plan that is read.
/// @throws InputError as `read_placement`
void look_up(const model::Instance& instance, const std::string& path, ReadPlan& plan);

/// @throws InputError when the plan is of another instance, or names jobs, machines or devices
///         that the instance lacks (`berth check` lists them all)
ReadPlan read_placement(const model::Instance& instance, const std::string& path);

/// An instance and a plan of it, of whose file only the waiting jobs are kept.
struct PlannedInstance {
  model::Instance instance;
  ReadPlan plan;
};

struct CacheFlags;

/// Where what is read from an index lies, and what is allocated later.
enum class Heap : std::uint8_t {
  of_each_thread,
  of_huge_pages,  ///< for one answer by one thread (huge_pages.hpp)
};

/// Reads the instance and the plan at the same time, on two threads, or what an earlier call kept
/// of the same bytes (plan_cache.hpp), with an equal result.
/// @throws InputError as the readers of the instance, and as `read_placement`
PlannedInstance read_planned(const pipeline::Input& input, const std::string& path,
                             const CacheFlags& flags, Heap heap);

}  // namespace berth::apps
