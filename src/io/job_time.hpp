// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"
#include "json_text.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Index of each key of when a job runs and how long.
enum TimeKey : std::size_t {
  kDuration,
  kLimit,
  kNotBefore,
  kDeadline,
  kAfter,
  kUtility,
  kConfigurations,
  kPreemptible,
  kCheckpointEvery,
  kRestartCost,
};

/// Their names.
inline constexpr std::array<std::string_view, 10> kTimeKeys{
    "duration", "limit",          "not_before",  "deadline",         "after",
    "utility",  "configurations", "preemptible", "checkpoint_every", "restart_cost"};

/// Keys of a utility: its points are connected, or steps.
inline constexpr std::array<std::string_view, 2> kUtilityForms{"linear", "steps"};

/// Values of these keys in a line, by key.
using TimeValues = std::array<std::optional<JsonAt>, kTimeKeys.size()>;

/// Reads the times of a job line whose other keys are read, and refuses times that no run of the
/// job keeps.
void read_time(const TimeValues& values, JobLine& line);

/// Speed of the job on GPUs of a type.
double speed_on(const JobLine& line, std::string_view gpu_type);

/// Seconds from start to end at this speed, > 0: by the duration, else the limit, else kNotGiven.
std::int64_t seconds_at(const JobLine& line, double speed);

/// Writes the keys that have a value other than the default.
void add_time(JsonText& json, const model::Workload& workload, JobId id);

}  // namespace berth::io
