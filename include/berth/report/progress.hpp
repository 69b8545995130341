// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/model/plan.hpp"

namespace berth::report {

enum class LogFormat : std::uint8_t { text, json };

/// One line of progress. Fields that a stage leaves NaN or negative print "-".
struct ProgressLine {
  std::string stage;
  int round = -1;
  double objective;
  double bound;
  std::int64_t blocks = -1;     ///< offers of this round
  std::int64_t conflicts = -1;  ///< grants refused because another was committed first
  /// Most lines of this stage that still come; -1: not known.
  std::int64_t left = -1;
  const model::RoundRecord* record = nullptr;  ///< of the round; the JSON form prints all of it
};

/// (bound - objective) / |bound|, a fraction; NaN while one of them is unknown.
double gap_of(const ProgressLine& progress);

/// Amount of output: nothing, the table, or the table and a line per stage.
struct LogOptions {
  LogFormat format = LogFormat::text;
  int verbosity = 1;  ///< 0 = silent, 1 = progress table, 2 = stages and settings too
  double time_limit = 0.0;  ///< seconds after which the program stops; 0: none
  /// Gets every line of progress with its second, whatever the verbosity.
  std::function<void(const ProgressLine&, double seconds)> on_line = {};
  std::function<void(const std::string&)> on_warning = {};  ///< instead of stderr
};

/// The line that states why the program ends: `berth: error: message`, or a JSON object with event,
/// exit_code and text. Ends with a newline.
std::string error_line(LogFormat format, ExitCode code, const std::string& message);

/// Prints ProgressLine on stderr as MIP solvers do: time, stage, round, objective, bound, gap, and
/// how long the stage may still take; or as one JSON object a line with all members when the format
/// says so. Rank 0 only; other
/// ranks have one with verbosity 0.
class ProgressTable {
 public:
  explicit ProgressTable(const LogOptions& options);

  void line(const ProgressLine& progress);
  /// Prints a remark at verbosity 2, e.g. settings: a word, then `key=value` pairs.
  void note(const std::string& text);
  /// Prints a warning for the user (always printed on rank 0).
  void warn(const std::string& text);
  [[nodiscard]] double seconds() const;  ///< since construction

 private:
  [[nodiscard]] double seconds_left(const ProgressLine& progress, double now);

  LogOptions options_;
  double start_;
  int lines_ = 0;
  std::string stage_;         ///< of the last line
  double stage_began_ = 0.0;  ///< second of its first line
  int stage_lines_ = 0;
};

}  // namespace berth::report
