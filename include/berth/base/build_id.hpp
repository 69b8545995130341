// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace berth {

/// The linker's digest of this program (its GNU build id) in hexadecimal digits, the same for equal
/// programs on all machines; "none" when it was linked without one.
[[nodiscard]] const std::string& build_id();

}  // namespace berth
