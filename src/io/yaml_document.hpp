// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"

#include <string>
#include <string_view>

namespace berth::io {

/// Reads the only document of a YAML text.
/// @throws YAML::Exception when the text is not YAML
/// @throws InputError when another document follows, or when the parser stops before the end
[[nodiscard]] Document read_yaml(std::string_view text, const std::string& file);

}  // namespace berth::io
