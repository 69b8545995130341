// SPDX-License-Identifier: Apache-2.0
#include "manual.hpp"

#include <string_view>
#include <vector>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

namespace berth::apps {
namespace {

std::string command_line(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? "berth" : command_line(*parent) + " " + app.get_name();
}

/// Text as troff shows it: no line of it is a request, and dashes and backslashes stay.
std::string troff(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\') {
      result += "\\e";
    } else if (text[i] == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<CLI::App*> commands_of(const CLI::App& app) {
  auto& all = const_cast<CLI::App&>(app);  // CLI11 has no such function of a constant
  return all.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::string option_entry(const CLI::App& app, const CLI::Option& option) {
  std::string head = option.get_name(option.get_positional(), true);
  if (option.get_items_expected_max() > 0 && !option.get_type_name().empty()) {
    head += " " + app.get_formatter()->get_label(option.get_type_name());
  }
  std::string text = option.get_description();
  if (option.get_required()) text += " Needed.";
  if (!option.get_default_str().empty()) text += " Default: " + option.get_default_str() + ".";
  return ".TP\n.B " + troff(head) + "\n" + troff(text) + "\n";
}

std::string command_entry(const CLI::App& app) {
  std::string text;
  if (app.get_parent() != nullptr) {
    text = ".SH " + troff(command_line(app)) + "\n" + troff(app.get_description()) + "\n";
  }
  for (const CLI::Option* const option : options_of(app)) text += option_entry(app, *option);
  const bool own =
      app.get_parent() == nullptr || app.get_parent()->get_footer() != app.get_footer();
  if (own && !app.get_footer().empty()) text += ".PP\n.nf\n" + troff(app.get_footer()) + "\n.fi\n";
  for (const CLI::App* const command : commands_of(app)) text += command_entry(*command);
  return text;
}

/// A line of the completion for each command: what may follow it.
std::string completion_cases(const CLI::App& app) {
  std::string words;
  for (const CLI::App* const command : commands_of(app)) words += command->get_name() + " ";
  for (const CLI::Option* const option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  std::string text = fmt::format("    '{}') words='{}' ;;\n", command_line(app), words);
  for (const CLI::App* const command : commands_of(app)) text += completion_cases(*command);
  return text;
}

}  // namespace

std::string manual(const CLI::App& app) {
  return ".TH BERTH 1\n.SH NAME\nberth \\- plan GPU clusters with a proved bound\n.SH SYNOPSIS\n"
         ".B berth\n.I command\n[options]\n.SH DESCRIPTION\n" +
         troff(app.get_description()) + "\n.SH OPTIONS\n" + command_entry(app);
}

std::string bash_completion(const CLI::App& app) {
  return "# bash completion of berth, made by `berth help bash`\n"
         "_berth() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} command=berth words= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in -*) break ;; *) command=\"$command $word\" ;; esac\n"
         "  done\n"
         "  case $command in\n" +
         completion_cases(app) +
         "  esac\n"
         "  case $current in\n"
         "    -*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\") ;;\n"
         "    *) mapfile -t COMPREPLY < <(compgen -W \"${words//--*/}\" -- \"$current\") ;;\n"
         "  esac\n"
         "}\n"
         "complete -o default -F _berth berth\n";
}

}  // namespace berth::apps
