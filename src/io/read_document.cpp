// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"
#include "document_json.hpp"
#include "yaml_document.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

/// What to do about broken YAML: names with brackets and without quotes, in this line (from 0) or
/// the one before, are the likeliest fault.
std::string yaml_hint(std::string_view text, int line) {
  std::size_t at = 0;
  for (int l = 1; l < line && at != std::string_view::npos; ++l) {
    at = text.find('\n', at);
    if (at != std::string_view::npos) ++at;
  }
  if (at == std::string_view::npos) return {};
  const std::size_t end = text.find('\n', text.find('\n', at) + 1);
  for (std::size_t open = text.find('[', at); open < end && open != std::string_view::npos;
       open = text.find('[', open + 1)) {
    const bool in_name = open > 0 && std::isalnum(static_cast<unsigned char>(text[open - 1])) != 0;
    if (in_name) return "put names with brackets in quotes, as in \"m[01-32]\"";
  }
  return {};
}

/// The first line (from 1) longer than kLongestYamlLine; 0 when there is none.
std::int64_t overlong_line(std::string_view text) {
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end - at > kLongestYamlLine) return line;
    at = end + 1;
  }
  return 0;
}

}  // namespace

Document read_document(std::string_view text, const std::string& file) {
  JsonFault json;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != text.npos && text[first] == '{') {
    Document document;
    json = read_json(text, document);
    if (json.problem.empty()) return document;
  }
  if (const std::int64_t line = overlong_line(text); line > 0) {
    throw InputError(
        {.file = file, .line = line, .field = ""},
        fmt::format("a line of more than {} MiB", kLongestYamlLine >> 20),
        json.problem.empty()
            ? "break it after its commas, or write JSON"
            : fmt::format("only JSON may have one; as JSON, line {}: {}", json.line, json.problem));
  }
  try {
    return read_yaml(text, file);
  } catch (const YAML::Exception& broken) {
    throw InputError({.file = file, .line = broken.mark.line + 1, .field = ""},
                     "not valid YAML: " + broken.msg, yaml_hint(text, broken.mark.line));
  }
}

}  // namespace berth::io
