// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_fields.hpp"

#include <string>
#include <string_view>

namespace berth::io {

/// Calls visit(JsonAt, line number) for each line that is not blank. The values are valid during
/// the call. @throws what `raise` does, for lines that are not JSON too
template <class Visit>
void each_json_line(std::string_view text, const std::string& file, const Visit& visit,
                    decltype(JsonSource::raise) raise = raise_input_error) {
  JsonSource source{.file = file, .line = 0, .raise = raise};
  simdjson::dom::parser parser;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++source.line;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    simdjson::dom::element element;
    if (const auto error = parser.parse(line.data(), line.size()).get(element)) {
      raise(source, "", std::string("not valid JSON: ") + simdjson::error_message(error),
            "one JSON object a line");
    }
    visit(JsonAt(element, source), source.line);
  }
}

}  // namespace berth::io
