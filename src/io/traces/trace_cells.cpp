// SPDX-License-Identifier: Apache-2.0
#include "trace_cells.hpp"

#include "numbers.hpp"
#include "words.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

namespace berth::io {
namespace {

constexpr std::string_view kNoneWords[] = {"none", "null", "nan", "n/a", "unknown"};

/// Reads digits in front, in [0, largest]; removes them.
bool take_digits(std::string_view& text, std::size_t digits, int largest, int& value) {
  if (text.size() < digits || !read_number(text.substr(0, digits), value)) return false;
  text.remove_prefix(digits);
  return value >= 0 && value <= largest;
}

bool take_mark(std::string_view& text, std::string_view marks) {
  if (text.empty() || marks.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Seconds of a day, with a fraction.
std::optional<double> take_clock(std::string_view& text) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!take_digits(text, 2, 23, hour) || !take_mark(text, ":") ||
      !take_digits(text, 2, 59, minute) || !take_mark(text, ":") ||
      !take_digits(text, 2, 60, second)) {
    return std::nullopt;
  }
  double seconds = hour * 3600.0 + minute * 60.0 + second;
  if (text.starts_with('.')) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    double fraction = 0.0;
    if (!read_number(text.substr(0, end), fraction)) return std::nullopt;
    seconds += fraction;
    text.remove_prefix(end);
  }
  return seconds;
}

/// Seconds that the zone is ahead of UTC; nothing else may follow.
std::optional<double> take_zone(std::string_view text) {
  if (text.empty() || text == "Z") return 0.0;
  const double sign = text.front() == '-' ? -1.0 : 1.0;
  int hours = 0;
  int minutes = 0;
  if (!take_mark(text, "+-") || !take_digits(text, 2, 15, hours)) return std::nullopt;
  take_mark(text, ":");
  if (!text.empty() && !take_digits(text, 2, 59, minutes)) return std::nullopt;
  if (!text.empty()) return std::nullopt;
  return sign * (hours * 3600.0 + minutes * 60.0);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool says_none(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return true;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::any_of(
      kNoneWords, [&](std::string_view word) { return std::ranges::equal(text, word, {}, lower); });
}

std::optional<double> unix_time(std::string_view date) {
  int year = 0;
  int month = 0;
  int day = 0;
  date = trimmed(date);
  if (!take_digits(date, 4, 9999, year) || !take_mark(date, "-/") ||
      !take_digits(date, 2, 12, month) || !take_mark(date, "-/") ||
      !take_digits(date, 2, 31, day) || !take_mark(date, " T")) {
    return std::nullopt;
  }
  const std::chrono::year_month_day ymd{std::chrono::year(year),
                                        std::chrono::month(static_cast<unsigned>(month)),
                                        std::chrono::day(static_cast<unsigned>(day))};
  if (!ymd.ok()) return std::nullopt;
  const auto clock = take_clock(date);
  if (!clock) return std::nullopt;
  const auto zone = take_zone(date);
  if (!zone) return std::nullopt;
  constexpr double kDay = 86400.0;  // seconds
  const auto days = std::chrono::sys_days(ymd).time_since_epoch().count();
  return static_cast<double>(days) * kDay + *clock - *zone;
}

std::optional<double> date_or_none(const Csv& csv, const Csv::Column& column) {
  const std::string& word = csv.cell(column);
  if (says_none(word)) return std::nullopt;
  const auto time = unix_time(word);
  if (!time) {
    csv.fail(column.name, "expected a date, found " + in_quotes(word), "as 2017-10-07 01:12:09");
  }
  return time;
}

double date_of(const Csv& csv, const Csv::Column& column) {
  const auto time = date_or_none(csv, column);
  if (!time) csv.fail(column.name, "expected a date, found " + in_quotes(csv.cell(column)));
  return *time;
}

std::optional<double> number_or_none(const Csv& csv, const Csv::Column& column) {
  const std::string& cell = csv.cell(column);
  if (says_none(cell)) return std::nullopt;
  double value = 0.0;
  if (!read_number(trimmed(cell), value) || !std::isfinite(value)) {
    csv.fail(column.name, "expected a finite number, found " + in_quotes(cell));
  }
  return value;
}

std::int64_t count_of(const Csv& csv, const Csv::Column& column, std::int64_t largest) {
  const auto value = number_or_none(csv, column);
  if (!value || *value < 0.0 || *value != std::floor(*value)) {
    csv.fail(column.name,
             "expected a whole number, 0 or more, found " + in_quotes(csv.cell(column)));
  }
  if (*value > static_cast<double>(largest)) {
    csv.fail(column.name, "must be at most " + std::to_string(largest));
  }
  return static_cast<std::int64_t>(*value);
}

}  // namespace berth::io
