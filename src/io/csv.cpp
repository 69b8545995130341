// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include "numbers.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

/// Cells of a line without quotes.
void split_at(char separator, std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = line.find(separator);
    cells.emplace_back(line.substr(0, end));
    if (end != std::string_view::npos) line.remove_prefix(end + 1);
  }
}

/// Cells of one line; `""` inside quotes is one quote. False when a quote is not closed.
bool split(std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  cells.emplace_back();
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"' && (inside || cells.back().empty())) {
      inside = !inside;
    } else if (c == ',' && !inside) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return !inside;
}

}  // namespace

Csv::Csv(const std::string& text, const std::string& file, CsvForm form)
    : rest_(text), file_(&file), separator_(form.separator), header_(std::move(form.header)) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  if (header_.empty() && !read_line(header_))
    fail("", "is empty", "expected a header line with column names");
}

void Csv::fail(const std::string& column, const std::string& problem,
               const std::string& hint) const {
  throw InputError({.file = *file_, .line = line_, .field = column}, problem, hint);
}

std::optional<Csv::Column> Csv::find(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) return std::nullopt;
  return Column{static_cast<std::size_t>(found - header_.begin()), std::string(name)};
}

Csv::Column Csv::need(std::string_view name) const {
  if (auto column = find(name)) return *std::move(column);
  throw InputError({.file = *file_, .line = 1, .field = std::string(name)},
                   "the header has no such column", known_words(name, header_));
}

bool Csv::read_line(std::vector<std::string>& cells) {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (separator_ != ',') {
      split_at(separator_, line, cells);
    } else if (!split(line, cells)) {
      fail("", "a quote is not closed on this line");
    }
    return true;
  }
  return false;
}

bool Csv::next() {
  if (!read_line(cells_)) return false;
  if (cells_.size() > header_.size()) {
    fail("", "has " + std::to_string(cells_.size()) + " cells, the header " +
                 std::to_string(header_.size()));
  }
  return true;
}

const std::string& Csv::cell(const Column& column) const {
  if (column.index >= cells_.size()) fail(column.name, "is missing: the line is too short");
  return cells_[column.index];
}

const std::string& Csv::name(const Column& column) const {
  const std::string& found = cell(column);
  if (const std::string fault = name_fault(found); !fault.empty()) fail(column.name, fault);
  return found;
}

std::int64_t Csv::integer(const Column& column, std::int64_t largest) const {
  const std::string& word = cell(column);
  std::int64_t value = 0;
  if (!read_number(word, value)) {
    fail(column.name, "expected a whole number, found " + in_quotes(word));
  }
  if (value < 0) fail(column.name, "must not be negative, found " + word);
  if (value > largest) {
    fail(column.name, "must be at most " + std::to_string(largest) + ", found " + word);
  }
  return value;
}

double Csv::amount(const Column& column, double largest) const {
  const std::string& word = cell(column);
  double value = 0.0;
  if (!read_number(word, value) || !std::isfinite(value)) {
    fail(column.name, "expected a finite number, found " + in_quotes(word));
  }
  if (value < 0.0) fail(column.name, "must not be negative, found " + word);
  if (value > largest) fail(column.name, word + " is absurdly large");
  return value;
}

}  // namespace berth::io
