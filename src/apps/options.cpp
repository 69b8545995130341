// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <unistd.h>

namespace berth::apps {

void add_input(CLI::App& command, pipeline::Input& input) {
  command.add_option("--cluster", input.cluster, "Cluster file, YAML (.gz by suffix)")->required();
  command.add_option("--jobs", input.jobs, "Jobs file, one JSON object a line (.gz by suffix)")
      ->required();
}

void add_output(CLI::App& command, Output& output) {
  command.add_option("--out-cluster", output.cluster, "Where the cluster goes, YAML")->required();
  command.add_option("--out-jobs", output.jobs, "Where the jobs go, JSON lines (.gz by suffix)")
      ->required();
}

void add_log(CLI::App& command, LogFlags& flags) {
  command.add_option("--log-format", flags.format, "Progress as text or as JSON lines, on stderr")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command.add_flag("--quiet", flags.quiet, "No progress, even on a terminal");
  command.add_flag("--progress", flags.progress, "Progress even when stderr is no terminal");
  command.add_flag("--verbose", flags.verbose, "Settings and stages too");
}

report::LogOptions LogFlags::options(int rank) const {
  const bool json = format == "json";
  const bool shown = !quiet && (progress || verbose || json || isatty(STDERR_FILENO) == 1);
  return {.format = json ? report::LogFormat::json : report::LogFormat::text,
          .verbosity = rank != 0 || !shown ? 0
                       : verbose           ? 2
                                           : 1};
}

}  // namespace berth::apps
