// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace berth {

/// A span of time for people, in its two largest units: "45 s", "20 min", "3 h 20 min", "2 d 4 h".
/// @pre seconds >= 0
std::string span_text(std::int64_t seconds);

}  // namespace berth
