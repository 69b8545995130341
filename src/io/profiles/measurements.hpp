// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/io/import_profiles.hpp"

namespace berth::io {

/// One row of a `throughput` profile.
struct MeasuredRate {
  std::string gpu_type;
  std::int32_t gpus = 1;
  std::int32_t extra_machines = 0;
  double per_second = 0.0;
};

/// Appends a line with a `throughput` profile.
void add_throughput_profile(ProfileImport& import, const std::string& name,
                            const std::vector<MeasuredRate>& rates);

/// Counts a measurement among those of this reason.
void note_measurement(std::vector<TraceNote>& notes, std::string_view what, std::int64_t line);

/// Files of a folder with this suffix, or folders in it (empty suffix), by name.
/// @throws InputError when it is no folder
std::vector<std::string> names_in(const std::string& folder, std::string_view suffix);

}  // namespace berth::io
