// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// How the lines of a table are cut into cells.
struct CsvForm {
  char separator = ',';  ///< a tab: quotes are plain text
  /// Names of the columns of a table without a header line; empty: its first line has them.
  std::vector<std::string> header = {};
};

/// A table read line by line, with a header line. Plain commas; a cell may be in quotes.
class Csv {
 public:
  struct Column {
    std::size_t index;
    std::string name;
  };

  /// Reads the header. Text and file must outlive the reader.
  Csv(const std::string& text, const std::string& file, CsvForm form = {});

  /// throws, naming the column, if it is missing
  [[nodiscard]] Column need(std::string_view name) const;
  [[nodiscard]] std::optional<Column> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }

  /// Steps to the next line that is not empty; false at the end.
  bool next();

  [[nodiscard]] const std::string& cell(const Column& column) const;
  [[nodiscard]] const std::string& name(const Column& column) const;  ///< a valid name
  [[nodiscard]] std::int64_t integer(const Column& column, std::int64_t largest) const;  ///< >= 0
  [[nodiscard]] double amount(const Column& column, double largest) const;               ///< >= 0

  [[nodiscard]] std::int64_t line() const { return line_; }
  [[noreturn]] void fail(const std::string& column, const std::string& problem,
                         const std::string& hint = {}) const;

 private:
  bool read_line(std::vector<std::string>& cells);

  std::string_view rest_;
  const std::string* file_;
  char separator_;
  std::int64_t line_ = 0;
  std::vector<std::string> header_;
  std::vector<std::string> cells_;
};

}  // namespace berth::io
