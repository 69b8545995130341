// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job_line.hpp"
#include "json_text.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Keys of when a job runs and how long, in the order of `read_time`.
inline constexpr std::array<std::string_view, 10> kTimeKeys{
    "duration", "limit",          "not_before",  "deadline",         "after",
    "utility",  "configurations", "preemptible", "checkpoint_every", "restart_cost"};

/// Values of these keys in a line, by key.
using TimeValues = std::array<std::optional<JsonAt>, kTimeKeys.size()>;

/// Reads the times of a job line whose other keys are read, and refuses times that no run of the
/// job keeps.
void read_time(const TimeValues& values, JobLine& line);

/// Writes the keys that have a value other than the default.
void add_time(JsonText& json, const model::Workload& workload, JobId id);

}  // namespace berth::io
