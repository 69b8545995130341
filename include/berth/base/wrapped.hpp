// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

/// Columns of a terminal that everything for people fits.
inline constexpr std::size_t kColumns = 80;

/// Breaks a line at blanks, so that each fits kColumns; further lines begin in column `indent`. A
/// word that is longer than a line stays whole. Without a newline at its end.
std::string wrapped(std::string_view line, std::size_t indent);

}  // namespace berth
