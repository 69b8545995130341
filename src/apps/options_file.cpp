// SPDX-License-Identifier: Apache-2.0
#include "options_file.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::apps {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

bool given(const std::vector<std::string>& words, const std::string& flag) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return word == flag || word.starts_with(flag + "="); });
}

/// The path behind the option, which is taken out of the words; empty: it is not there.
std::string take_path(std::vector<std::string>& words) {
  constexpr std::string_view kFlag = "--options-file";
  for (auto at = words.begin(); at != words.end(); ++at) {
    std::string path;
    if (*at == kFlag && at + 1 != words.end()) {
      path = *(at + 1);
      words.erase(at, at + 2);
    } else if (at->starts_with(std::string(kFlag) + "=")) {
      path = at->substr(kFlag.size() + 1);
      words.erase(at);
    } else {
      continue;
    }
    if (path.empty()) throw InputError({}, "--options-file: the name of the file is empty");
    return path;
  }
  return {};
}

}  // namespace

std::vector<std::string> with_options_file(std::vector<std::string> words) {
  const std::string path = take_path(words);
  if (path.empty()) return words;
  const std::string text = io::read_file(path, std::size_t{1} << 20);
  const std::vector<std::string> line_words = words;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, std::min(end, rest.find('#'))));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    const std::string_view name = trimmed(line.substr(0, equals));
    if (name.empty() || name.starts_with('-') ||
        name.find_first_of(" \t") != std::string_view::npos) {
      throw InputError({.file = path, .line = number, .field = ""},
                       "not an option of the form `name = value`", "gap = 0.5%");
    }
    const std::string flag = "--" + std::string(name);
    if (given(line_words, flag)) continue;
    words.push_back(flag);
    if (equals != std::string_view::npos) {
      words.back() += fmt::format("={}", trimmed(line.substr(equals + 1)));
    }
  }
  return words;
}

}  // namespace berth::apps
