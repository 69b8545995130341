// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

/// True when a terminal may act upon text[at]: ASCII control characters (tab and newline too), DEL,
/// and the first byte of U+0080 .. U+009F in UTF-8.
[[nodiscard]] bool is_control(std::string_view text, std::size_t at);

/// The text with each byte of a control character as `\x1b`, for one line of a terminal or log.
/// Every word of a file that is printed passes through here. O(size).
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace berth
