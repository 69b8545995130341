// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

namespace berth::io {

/// @return the root of the only document of a text; a null node for an empty text
/// @throws YAML::Exception when the text is not YAML
/// @throws InputError when another document follows, which would be ignored, or when the parser
///   stops before the end of the text
[[nodiscard]] YAML::Node only_document(std::string_view text, const std::string& file);

}  // namespace berth::io
