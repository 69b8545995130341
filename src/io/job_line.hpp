// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_fields.hpp"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/model/cluster.hpp"
#include "berth/model/level_names.hpp"
#include "berth/model/workload.hpp"

namespace berth::io {

inline constexpr std::string_view kDefaultLabel = "task";
using model::kLevelNames;
inline constexpr double kMaxWorth = 0x1p40;  ///< weight, value (docs/formats.md)
inline constexpr double kMaxSpeed = 0x1p20;  ///< factor by GPU type (docs/formats.md)

/// One line of a jobs file, checked without the cluster. A pure function of the line; the names are
/// views into the parsed document.
struct JobLine {
  struct TaskLine {
    std::string_view label = kDefaultLabel;
    std::int32_t count = 1;
    model::Shape shape;
    std::int32_t k_of = 0;
  };

  std::string_view id;
  std::string_view name, user;  ///< empty: not given
  std::int64_t arrival = 0;
  std::string_view queue;  ///< empty: none
  std::int32_t priority = 0;
  double weight = 1.0;
  bool required = false;
  std::vector<TaskLine> tasks;
  std::vector<std::string_view> gpu_types;
  std::vector<std::pair<std::string_view, double>> speeds;
  model::Level domain = model::Level::cluster;
  std::string_view home_rack;  ///< at most one home is not empty
  std::string_view home_pod;
  model::Factors home_factor{1.0, 1.0, 1.0, 1.0};
  model::Factors width_factor{1.0, 1.0, 1.0, 1.0};
  /// The key that gave the width factor.
  enum class WidthFactorKey : std::uint8_t { none, width_factor, spread };
  WidthFactorKey width_factor_key = WidthFactorKey::none;
  double value = std::numeric_limits<double>::quiet_NaN();

  /// As model::PlacementRules; labels as given.
  struct RulesLine {
    model::DomainCounts max_tasks = model::PlacementRules{}.max_tasks;
    model::DomainCounts min_domains = model::PlacementRules{}.min_domains;
    bool exclusive = false;
    std::vector<std::string_view> labels;
    std::vector<std::string_view> not_with;
    std::vector<std::pair<std::string_view, std::int64_t>> licenses;
  };
  RulesLine rules;

  /// As model::TimeRules with what its row numbers refer to; names as given.
  struct TimeLine {
    model::TimeRules rules;
    model::Utility utility;
    std::vector<model::Configuration> configurations;
    std::vector<std::string_view> after;
    std::int64_t since = model::kNotGiven;  ///< as in model::Running
    std::int64_t remaining = model::kNotGiven;
  };
  TimeLine time;

  /// One task of a running job.
  struct RunningTask {
    std::string_view label = kDefaultLabel;
    std::string_view machine;
    std::uint64_t devices = 0;
    std::int64_t milli = 0;  ///< of the last device, when given
  };
  std::vector<RunningTask> running;  ///< empty: the job is not running
  bool pinned = false;
  double stop_cost = 0.0;
  double move_cost = 0.0;

  model::CommunicationPattern pattern = model::CommunicationPattern::none;
  std::int64_t mbps = 0;
  std::string_view servers;  ///< label of a task group, for Pattern::ps
};

/// Overwrites `line` (whose memory is reused from line to line).
void read_job_line(const JsonAt& at, JobLine& line);

}  // namespace berth::io
