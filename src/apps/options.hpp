// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <initializer_list>
#include <string>

#include <CLI/App.hpp>

#include "berth/model/instance.hpp"
#include "berth/pipeline/option_table.hpp"
#include "berth/pipeline/plan_cluster.hpp"
#include "berth/report/progress.hpp"

namespace berth::apps {

/// Adds --cluster and --jobs, both required, also by position; "-" is standard input.
void add_input(CLI::App& command, pipeline::Input& input);

/// A file and the option that names it.
struct Named {
  const char* flag;
  const std::string& path;
};

/// Refuses an output file that would replace its own input.
void keep_input(const Named& out, const Named& input);
void keep_input(const Named& out, const pipeline::Input& input);

/// Refuses two output files of one name; files that are not given, devices and pipes are passed
/// over.
void expect_distinct(std::initializer_list<Named> outputs);

/// Refuses an empty name: a variable of a script that is not set.
CLI::Validator file_name();

/// Reads "-" as this device.
CLI::Validator dash_for(const std::string& device);
inline constexpr const char* kStandardOutput = "/dev/stdout";

/// Where words for people go beside this output: not among its bytes.
std::FILE* words_beside(const std::string& output);

/// Flags --out-cluster and --out-jobs, both required.
struct Output {
  std::string cluster;
  std::string jobs;
};
void add_output(CLI::App& command, Output& output);

/// Adds the flag of one row of the option table. A value that the row refuses is a usage error with
/// the text of `pipeline::validate`. @param options  must outlive the command
CLI::Option* add_plan_option(CLI::App& command, pipeline::PlanOptions& options,
                             const pipeline::OptionRecord& row);

/// Adds the flags of all rows that the command line shows.
void add_plan_options(CLI::App& command, pipeline::PlanOptions& options);

/// Refuses "-4", which CLI11 would read as a very large unsigned number.
CLI::Validator not_negative();
/// Refuses all but positive numbers of seconds, and times such as 30s, 5m, 2h; as a transformation
/// it leaves their seconds.
CLI::Validator positive_seconds();

/// --log-format, --quiet, --progress, --verbose. Quiet by default when stderr is no terminal.
struct LogFlags {
  std::string format = "text";
  bool quiet = false;
  bool progress = false;
  bool verbose = false;

  [[nodiscard]] report::LogFormat format_chosen() const;
  [[nodiscard]] report::LogOptions options(int rank) const;
};
void add_log(CLI::App& command, LogFlags& flags);

}  // namespace berth::apps
