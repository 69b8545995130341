// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "launcher_terminal.hpp"
#include "time_span.hpp"

#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "berth/base/error.hpp"

namespace berth::apps {

void add_input(CLI::App& command, pipeline::Input& input) {
  command.add_option("--cluster,cluster", input.cluster, "Cluster file, YAML (.gz by suffix)")
      ->check(file_name())
      ->transform(dash_for("/dev/stdin"))
      ->required();
  command
      .add_option("--jobs,jobs", input.jobs, "Jobs file, one JSON object a line (.gz by suffix)")
      ->check(file_name())
      ->transform(dash_for("/dev/stdin"))
      ->required();
}

void keep_input(const Named& out, const Named& input) {
  std::error_code none;  // a missing file is no input
  if (!std::filesystem::is_regular_file(out.path, none)) return;
  if (!std::filesystem::equivalent(out.path, input.path, none)) return;
  throw InputError({.file = "", .line = 0, .field = out.flag},
                   fmt::format("{} is the file given as {}", out.path, input.flag),
                   "name another file");
}

void keep_input(const Named& out, const pipeline::Input& input) {
  keep_input(out, Named{"--cluster", input.cluster});
  keep_input(out, Named{"--jobs", input.jobs});
}

void expect_distinct(std::initializer_list<Named> outputs) {
  std::map<std::filesystem::path, const char*> flags;
  for (const Named& output : outputs) {
    std::error_code none;
    if (output.path.empty() || std::filesystem::is_other(output.path, none)) continue;
    auto path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(output.path, none), none);
    if (none) path = output.path;
    const auto [earlier, fresh] = flags.try_emplace(std::move(path), output.flag);
    if (fresh) continue;
    throw InputError({.file = "", .line = 0, .field = output.flag},
                     fmt::format("{} is the file given as {}", output.path, earlier->second),
                     "name another file");
  }
}

CLI::Validator dash_for(const std::string& device) {
  const auto replace = [device](std::string& word) {
    if (word == "-") word = device;
    return std::string();
  };
  return CLI::Validator(replace, "");
}

std::FILE* words_beside(const std::string& output) {
  return output == kStandardOutput ? stderr : stdout;
}

CLI::Validator file_name() {
  const auto fault = [](const std::string& word) {
    return word.empty() ? std::string("the name of the file is empty") : std::string();
  };
  return CLI::Validator(fault, "FILE");
}

void add_output(CLI::App& command, Output& output) {
  const auto dash = [](const std::string& word) {
    return word == "-" ? std::string("two files are written: give each a name") : std::string();
  };
  command.add_option("--out-cluster", output.cluster, "Where the cluster goes, YAML")
      ->check(file_name())
      ->check(CLI::Validator(dash, ""))
      ->required();
  command.add_option("--out-jobs", output.jobs, "Where the jobs go, JSON lines (.gz by suffix)")
      ->check(file_name())
      ->check(CLI::Validator(dash, ""))
      ->required();
}

namespace {

using pipeline::OptionGroup;
using pipeline::OptionRecord;

std::string help_group(OptionGroup group) {
  if (group == OptionGroup::rounds) return "Rounds, for studies";
  return group == OptionGroup::online ? "Jobs as they arrive" : "Options";
}

std::string type_name(const OptionRecord& row) {
  if (row.unit.starts_with("fraction")) return "FRACTION";  // 0.001 or 0.1%
  if (row.field.type == "TEXT") return "FILE";  // every text of the table is the name of a file
  if (row.field.type != "WORD") return std::string(row.field.type);
  return fmt::format("TEXT:{{{}}}", fmt::join(row.field.words, ","));
}

using Flags = std::map<std::string_view, CLI::Option*>;

void relate(const OptionRecord& row, const Flags& flags) {
  CLI::Option* const flag = flags.at(row.name);
  if (!row.needs.empty()) flag->needs(flags.at(row.needs));
  if (!row.excludes.empty()) flag->excludes(flags.at(row.excludes));
}

}  // namespace

CLI::Option* add_plan_option(CLI::App& command, pipeline::PlanOptions& options,
                             const OptionRecord& row) {
  const std::string help(row.help);
  CLI::Option* flag = nullptr;
  if (row.field.type == "FLAG") {
    flag = command.add_flag_callback(
        row.label(), [&options, &row] { static_cast<void>(row.assign(options, "yes")); }, help);
  } else {
    const auto assign = [&options, &row](const CLI::results_t& words) {
      return row.assign(options, words.back()).empty();
    };
    const auto fault = [&row](const std::string& word) {
      if (row.field.type == "TEXT" && word.empty()) return std::string("is empty");
      pipeline::PlanOptions trial;
      return row.assign(trial, word);
    };
    flag = command.add_option(row.label(), CLI::callback_t(assign), help)
               ->check(CLI::Validator(fault, ""))
               ->type_name(type_name(row));
    if (row.field.type != "TEXT") flag->default_str(row.field.text(options));
  }
  return flag->group(help_group(row.group));
}

void add_plan_options(CLI::App& command, pipeline::PlanOptions& options) {
  Flags flags;
  for (const OptionRecord& row : pipeline::option_table()) {
    if (row.group == OptionGroup::expert) continue;
    flags[row.name] = add_plan_option(command, options, row);
  }
  for (const OptionRecord& row : pipeline::option_table()) {
    if (row.group != OptionGroup::expert) relate(row, flags);
  }
}

CLI::Validator not_negative() {
  const auto fault = [](const std::string& word) {
    return word.starts_with('-') ? word + " is negative" : std::string();
  };
  return CLI::Validator(fault, "");
}

CLI::Validator positive_seconds() {
  const auto fault = [](std::string& word) {
    const double seconds = seconds_of(word);
    if (!(seconds > 0.0)) return word + " is no time; give a positive one: 30, 30s, 5m, 2h";
    word = fmt::format("{}", seconds);  // where it is a transformation
    return std::string();
  };
  return CLI::Validator(fault, "DURATION");
}

void add_log(CLI::App& command, LogFlags& flags) {
  constexpr const char* kGroup = "Progress and messages";
  command
      .add_option("--log-format", flags.format,
                  "Progress and errors on stderr: text, or one JSON object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->group(kGroup)
      ->capture_default_str();
  command.add_flag("--quiet", flags.quiet, "No progress, even on a terminal; errors still show")
      ->group(kGroup);
  command.add_flag("--progress", flags.progress, "Progress even when stderr is no terminal")
      ->group(kGroup);
  command.add_flag("--verbose", flags.verbose, "Settings and stages too")->group(kGroup);
}

report::LogFormat LogFlags::format_chosen() const {
  return format == "json" ? report::LogFormat::json : report::LogFormat::text;
}

report::LogOptions LogFlags::options(int rank) const {
  const bool wanted = progress || verbose || format_chosen() == report::LogFormat::json;
  const bool shown =
      rank == 0 && !quiet && (wanted || isatty(STDERR_FILENO) == 1 || launcher_has_terminal());
  int verbosity = shown ? 1 : 0;
  if (shown && verbose) verbosity = 2;
  return {.format = format_chosen(), .verbosity = verbosity};
}

}  // namespace berth::apps
