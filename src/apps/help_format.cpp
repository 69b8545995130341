// SPDX-License-Identifier: Apache-2.0
#include "help_format.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "berth/base/wrapped.hpp"

namespace berth::apps {
namespace {

constexpr std::size_t kHang = 6;  ///< of further lines of an option's name and relations

/// Wraps each line: descriptions stand in `column`, names and their relations before it.
std::string wrapped_entry(std::string_view entry, std::size_t column) {
  std::string text;
  while (!entry.empty()) {
    const std::size_t end = std::min(entry.find('\n'), entry.size());
    const std::string_view line = entry.substr(0, end);
    // a description is set off by two blanks or stands on a line of its own
    const bool described = line.size() > column && line[column - 1] == ' ' && line[column] != ' ' &&
                           (line[column - 2] == ' ' || line.find_first_not_of(' ') == column);
    text += wrapped(line, described ? column : kHang) + "\n";
    entry.remove_prefix(std::min(end + 1, entry.size()));
  }
  return text;
}

/// Fills paragraphs, which are lines without indent up to an empty or an indented line.
std::string filled(std::string_view prose) {
  std::string text, paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) text += wrapped(paragraph, 0) + "\n";
    paragraph.clear();
  };
  while (!prose.empty()) {
    const std::size_t end = std::min(prose.find('\n'), prose.size());
    const std::string_view line = prose.substr(0, end);
    if (line.empty() || line.starts_with(' ')) {
      flush();
      text.append(line).append("\n");
    } else {
      paragraph.append(paragraph.empty() ? "" : " ").append(line);
    }
    prose.remove_prefix(std::min(end + 1, prose.size()));
  }
  flush();
  return text;
}

}  // namespace

HelpFormatter::HelpFormatter() {
  for (const std::string kind : {"FILE", "DURATION"}) {
    for (const std::string type : {"TEXT:", "FLOAT:", ":"}) label(type + kind, kind);
  }
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return wrapped_entry(Formatter::make_option(option, is_positional), get_column_width());
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return wrapped_entry(Formatter::make_subcommand(command), get_column_width());
}

/// A line that can be typed: the name of the program stands first.
std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  const std::string usage = Formatter::make_usage(app, name.empty() ? "berth" : "berth " + name);
  return wrapped(usage, kHang) + "\n";
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return filled(Formatter::make_description(app));
}

std::string HelpFormatter::make_expanded(const CLI::App* group) const {
  if (!group->get_name().empty()) return Formatter::make_expanded(group);
  const std::size_t least = group->get_require_option_min();
  const std::size_t most = group->get_require_option_max();
  std::string title = group->get_group();
  if (least == 1 && most == 1) {
    title = "One of these is needed";
  } else if (least == 1) {
    title = "At least one of these is needed";
  } else if (most == 1) {
    title = "At most one of these";
  }
  std::string text = "\n" + title + ":\n";
  for (const CLI::Option* option : group->get_options({})) {
    if (option != group->get_help_ptr()) text += make_option(option, false);
  }
  return text;
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  return filled(Formatter::make_footer(app));
}

}  // namespace berth::apps
