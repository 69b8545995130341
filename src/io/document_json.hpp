// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::io {

struct JsonFault {
  std::int64_t line = 0;  ///< from 1
  std::string problem;    ///< empty when there is none
};

/// Reads a JSON object; numbers and words keep the letters that stand in the text.
/// @pre the text begins with a brace, but for blanks
/// @return what is wrong when the text is not JSON, as YAML may be that begins with a brace
[[nodiscard]] JsonFault read_json(std::string_view text, Document& document);

}  // namespace berth::io
