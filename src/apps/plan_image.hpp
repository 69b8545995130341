// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read_placement.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace berth::apps {

/// What was read as bytes: a line with the key, the content (base/archive.hpp), 64 digits of the
/// SHA-256 of all before. Of the plan: placements, objective, prices and waiting jobs.
/// @pre the plan is of one moment
std::string to_image(const PlannedInstance& read, const std::string& key);

/// None when the bytes are not an image of this key, whole and undamaged. Two threads.
std::optional<PlannedInstance> from_image(std::string_view bytes, const std::string& key);

}  // namespace berth::apps
