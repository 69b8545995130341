// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <simdjson.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

[[noreturn]] void broken_line(const JsonSource& source, std::string_view line,
                              simdjson::error_code error) {
  const bool opens = line == "{" || line == "[" || line.ends_with(",");
  const std::size_t first = line.find_first_not_of(" \t");
  if (first != std::string_view::npos && (line[first] == '#' || line.substr(first, 2) == "//")) {
    raise_input_error(source, "", "a comment", "JSON Lines have none: remove the line");
  }
  raise_input_error(source, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                    opens ? "one whole job a line (JSON Lines), no list around them" : "");
}

/// simdjson reads up to SIMDJSON_PADDING bytes past a value; copies the last lines of a text to a
/// buffer with that much padding.
class LineParser {
 public:
  /// @param text_end  end of the memory that holds the line
  simdjson::dom::element parse(std::string_view line, const char* text_end,
                               const JsonSource& source) {
    const auto room = static_cast<std::size_t>(text_end - (line.data() + line.size()));
    const char* begin = line.data();
    if (room < simdjson::SIMDJSON_PADDING) {
      copy_.assign(line);
      copy_.append(simdjson::SIMDJSON_PADDING, ' ');
      begin = copy_.data();
    }
    simdjson::dom::element value;
    const auto error = parser_.parse(begin, line.size(), false).get(value);
    if (error != simdjson::SUCCESS) broken_line(source, line, error);
    return value;
  }

 private:
  simdjson::dom::parser parser_;
  std::string copy_;
};

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

JobBlock parse_block(std::string_view text, const ClusterNames& cluster_names) {
  LineParser parser;
  JobTables tables(cluster_names);
  JsonSource source{
      .file = {} /* the merge of the blocks adds it */, .line = 0, .raise = raise_input_error};
  const char* const text_end = text.data() + text.size();
  JobLine job;
  try {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++source.line;
      if (line.empty()) continue;
      read_job_line(JsonAt(parser.parse(line, text_end, source), source), job);
      if (!tables.add(job, static_cast<std::uint32_t>(source.line))) break;
    }
  } catch (const InputError& error) {
    tables.fail(error);
  }
  JobBlock block = tables.take();
  block.tables.line_count = static_cast<std::uint32_t>(source.line);
  return block;
}

}  // namespace berth::io
