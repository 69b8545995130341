// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace berth::policy {

/// Microseconds, a time on the axis of Job::arrival or a span. 3,155,760,000 s (100 years), the
/// longest span of the files, is 3.2e15 of them.
using Micros = std::int64_t;

inline constexpr Micros kSecond = 1'000'000;
/// Later than every time of a simulation; sums of a thousand such spans stay within int64.
inline constexpr Micros kNever = Micros{1} << 53;

}  // namespace berth::policy
