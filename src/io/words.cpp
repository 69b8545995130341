// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <algorithm>

#include <simdjson.h>

namespace berth::io {
namespace {

constexpr std::size_t kMaxName = 255;  ///< bytes (docs/formats.md)

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 60)) out += is_control(c) ? '?' : c;
  if (text.size() > 60) out += "...";
  return out + "\"";
}

std::string name_fault(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (name.size() > kMaxName) return "a name of more than 255 bytes: " + in_quotes(name);
  if (std::ranges::any_of(name, is_control)) {
    return "a name with a control character (tab, newline): " + in_quotes(name);
  }
  if (!simdjson::validate_utf8(name.data(), name.size())) return "a name that is not UTF-8";
  return {};
}

}  // namespace berth::io
