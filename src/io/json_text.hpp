// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::io {

/// Writes JSON text piece by piece. Inserts commas: a key or an element after a value gets one.
class JsonText {
 public:
  JsonText& open(char bracket);   ///< `{` or `[`
  JsonText& close(char bracket);  ///< `}` or `]`
  JsonText& key(std::string_view name);
  JsonText& text(std::string_view value);  ///< in quotes, escaped
  JsonText& integer(std::int64_t value);
  JsonText& natural(std::uint64_t value);
  JsonText& real(double value);  ///< shortest digits that read back the same; null if not finite
  JsonText& boolean(bool value);
  JsonText& null();
  JsonText& next_line();  ///< continues the present value on a new line
  JsonText& end_line();   ///< ends a line; a new value or a closing bracket follows

  JsonText& field(std::string_view name, std::string_view value) { return key(name).text(value); }
  JsonText& field(std::string_view name, std::int64_t value) { return key(name).integer(value); }
  JsonText& field(std::string_view name, double value) { return key(name).real(value); }

  [[nodiscard]] std::string& str() { return out_; }

 private:
  void separate() {
    if (comma_) out_ += ',';
    comma_ = true;
  }

  std::string out_;
  bool comma_ = false;
};

}  // namespace berth::io
