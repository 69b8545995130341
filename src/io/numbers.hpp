// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace berth::io {

/// False unless all of the text is one number of that kind.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace berth::io
