// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/model/plan.hpp"

namespace berth::report {

enum class LogFormat : std::uint8_t { text, json };

/// How loud: nothing, the table, or the table and a line per stage.
struct LogOptions {
  LogFormat format = LogFormat::text;
  int verbosity = 1;  ///< 0 = silent, 1 = progress table, 2 = stages and settings too
};

/// The one line in which the program says why it ends: `berth: error: message`, or an object with
/// event, exit_code and text. Ends with a newline.
std::string error_line(LogFormat format, ExitCode code, const std::string& message);

/// One line of progress. Fields that a stage does not know are left NaN or negative and print "-".
struct ProgressLine {
  std::string stage;
  int round = -1;
  double objective;
  double bound;
  std::int64_t blocks = -1;     ///< offers on the table
  std::int64_t conflicts = -1;  ///< grants refused because another was committed first
  const model::RoundRecord* record = nullptr;  ///< of the round; the JSON form tells all of it
};

/// ProgressLine as MIP solvers print it, on stderr: time, stage, round, objective, bound, gap,
/// blocks, conflicts; as one JSON object a line when the format asks for it. Rank 0 only; other
/// ranks hold one with verbosity 0.
class ProgressTable {
 public:
  explicit ProgressTable(const LogOptions& options);

  void line(const ProgressLine& progress);
  /// A remark at verbosity 2, e.g. settings; `key=value` pairs after a word.
  void note(const std::string& text);
  /// Something the user should know (always printed on rank 0).
  void warn(const std::string& text);
  [[nodiscard]] double seconds() const;  ///< since construction

 private:
  LogOptions options_;
  double start_;
  int lines_ = 0;
};

}  // namespace berth::report
