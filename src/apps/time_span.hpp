// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace berth::apps {

/// Seconds of "3600", "90m", "24h", "7d", "1.5h"; not a positive number when the word is none.
double seconds_of(std::string_view word);

}  // namespace berth::apps
