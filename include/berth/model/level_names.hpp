// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "berth/model/job.hpp"

namespace berth::model {

/// Names of the levels in files and messages, by Level.
inline constexpr std::array<std::string_view, kLevels> kLevelNames{"machine", "rack", "pod",
                                                                   "cluster"};

constexpr std::string_view name_of(Level level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

}  // namespace berth::model
