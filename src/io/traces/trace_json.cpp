// SPDX-License-Identifier: Apache-2.0
#include "trace_json.hpp"

#include "trace_cells.hpp"
#include "words.hpp"

namespace berth::io {

JsonDocument::JsonDocument(const std::string& text, const std::string& file)
    : source_{.file = file, .line = 0, .raise = raise_input_error} {
  if (const auto error = parser_.parse(text).get(root_); error != simdjson::SUCCESS) {
    raise_input_error(source_, "", simdjson::error_message(error), "expected one JSON document");
  }
}

std::optional<double> date_or_none(const JsonAt& at) {
  if (at.empty() || says_none(at.text())) return std::nullopt;
  const auto time = unix_time(at.text());
  if (!time) at.fail("expected a date, found " + in_quotes(at.text()), "as 2017-10-07 01:12:09");
  return time;
}

std::string name_or_number(const JsonAt& at) {
  if (at.type() == simdjson::dom::element_type::STRING) return std::string(at.name());
  return std::to_string(at.integer());
}

}  // namespace berth::io
