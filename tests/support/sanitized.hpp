// SPDX-License-Identifier: Apache-2.0
// Whether the sanitizers' build runs: tests of long searches take smaller instances there.
#pragma once

namespace berth::test {

#if defined(__SANITIZE_ADDRESS__) || defined(BERTH_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace berth::test
