// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "csv.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

/// Cells of traces: dates, and the words that stand for "unknown".
namespace berth::io {

/// Whether the text says that there is no value: empty, None, null, NaN, N/A, Unknown, in any case.
[[nodiscard]] bool says_none(std::string_view text);

/// Unix time of `YYYY-MM-DD HH:MM:SS`, with `T` instead of the blank, a fraction, and a zone (`Z`,
/// `+08:00`); without a zone the date counts as UTC. Nothing when it is none.
[[nodiscard]] std::optional<double> unix_time(std::string_view date);

/// Without blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// @throws InputError when the cell is neither a date nor empty or such a word
[[nodiscard]] std::optional<double> date_or_none(const Csv& csv, const Csv::Column& column);

/// Date; fails when there is none.
[[nodiscard]] double date_of(const Csv& csv, const Csv::Column& column);

/// A finite number of any sign, or nothing. @throws InputError when the cell is neither
[[nodiscard]] std::optional<double> number_or_none(const Csv& csv, const Csv::Column& column);

/// A number >= 0, also as 8.0, at most `largest`. @throws InputError
[[nodiscard]] std::int64_t count_of(const Csv& csv, const Csv::Column& column,
                                    std::int64_t largest);

}  // namespace berth::io
