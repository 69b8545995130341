// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace berth::io {

JsonText& JsonText::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  text(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonText& JsonText::text(std::string_view value) {
  separate();
  out_ += '"';
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (code < 0x20) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", code);
    } else {
      out_ += c;
    }
  }
  out_ += '"';
  return *this;
}

JsonText& JsonText::integer(std::int64_t value) {
  separate();
  char buffer[24];
  out_.append(buffer, std::to_chars(std::begin(buffer), std::end(buffer), value).ptr);
  return *this;
}

JsonText& JsonText::natural(std::uint64_t value) {
  separate();
  char buffer[24];
  out_.append(buffer, std::to_chars(std::begin(buffer), std::end(buffer), value).ptr);
  return *this;
}

JsonText& JsonText::null() {
  separate();
  out_ += "null";
  return *this;
}

JsonText& JsonText::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonText& JsonText::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::next_line() {
  if (comma_) out_ += ',';
  return end_line();
}

JsonText& JsonText::end_line() {
  out_ += '\n';
  comma_ = false;
  return *this;
}

}  // namespace berth::io
