// SPDX-License-Identifier: Apache-2.0
#include "berth/base/span_text.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace berth {

std::string span_text(std::int64_t seconds) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kUnits{
      {{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}}};
  for (std::size_t u = 0; u + 1 < kUnits.size(); ++u) {
    const auto& [length, unit] = kUnits[u];
    if (seconds < length) continue;
    std::string text = std::to_string(seconds / length).append(unit);
    const std::int64_t rest = seconds % length / kUnits[u + 1].first;
    if (rest > 0) text.append(" ").append(std::to_string(rest)).append(kUnits[u + 1].second);
    return text;
  }
  return std::to_string(seconds) + " s";
}

}  // namespace berth
