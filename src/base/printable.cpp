// SPDX-License-Identifier: Apache-2.0
#include "berth/base/printable.hpp"

#include <cstddef>

namespace berth {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

}  // namespace

bool is_control(std::string_view text, std::size_t at) {
  const unsigned char byte = byte_at(text, at);
  if (byte < 0x20 || byte == 0x7f) return true;
  const unsigned char next = byte_at(text, at + 1);
  return byte == 0xc2 && 0x80 <= next && next < 0xa0;  // U+0080 .. U+009F
}

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t bytes = !is_control(text, at) ? 0 : byte_at(text, at) == 0xc2 ? 2 : 1;
    if (bytes == 0) line += text[at];
    for (std::size_t i = 0; i < bytes; ++i) {
      const unsigned char byte = byte_at(text, at + i);
      line += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    if (bytes > 1) at += bytes - 1;
  }
  return line;
}

}  // namespace berth
