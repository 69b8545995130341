// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/speed/profiles.hpp"

namespace berth::io {

/// Speed profiles of the jobs of an instance (docs/formats.md, profiles.jsonl). References that the
/// file does not give are 0.
/// @throws InputError with file, line and field
speed::Profiles parse_profiles(std::string_view text, const std::string& file,
                               const model::Instance& instance);

/// A machine that is down in [from, to), seconds on the axis of arrivals.
struct MachineFailure {
  MachineId machine;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Failures of machines (docs/formats.md, failures.jsonl), racks and pods as their machines.
/// @throws InputError with file, line and field
std::vector<MachineFailure> parse_failures(std::string_view text, const std::string& file,
                                           const model::Cluster& cluster);
std::string failure_line(const model::Cluster& cluster, const MachineFailure& failure);

}  // namespace berth::io
