// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace berth {

/// Exit codes of the program (README, "Exit codes"). All ranks end with one code.
enum class ExitCode : int {
  done = 0,
  check_invalid = 1,     ///< `berth check` refused the plan
  bad_input = 2,         ///< usage or input
  limit_reached = 3,     ///< a limit or signal ended the run; the plan is written
  internal_error = 4,    ///< a bug, or a resource of the machine (disk, memory) ran out
  required_missing = 5,  ///< the plan is written, but a required job is not in it
};

/// The user's input or command line is wrong. `what()` reads "file:line: field: problem; hint".
class InputError : public std::runtime_error {
 public:
  struct Where {
    std::string file;       ///< as the user named it; empty for the command line
    std::int64_t line = 0;  ///< 1-based; 0 when the problem has no line
    std::string field;      ///< e.g. "tasks[0].gpus"; may be empty
  };

  InputError(Where where, std::string problem, std::string hint = {});

  [[nodiscard]] const Where& where() const { return where_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }

 private:
  Where where_;
  std::string problem_;
  std::string hint_;
};

/// The operating system or hardware failed (disk full, unwritable folder): neither bad input nor a
/// bug.
class SystemError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace berth
