// SPDX-License-Identifier: Apache-2.0
#include "text_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace berth::report {

std::string TextTable::text() const {
  std::vector<std::size_t> width(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  width.front() = std::min(width.front(), kMostName);
  std::string text;
  for (const auto& row : rows_) {
    std::string name = row.front();
    if (name.size() > kMostName) name = name.substr(0, kMostName - 3) + "...";
    std::string line = fmt::format("{:<{}}", name, width.front());
    for (std::size_t c = 1; c < row.size(); ++c) {
      const bool words = words_last_ && c + 1 == row.size();
      line += words ? "  " + row[c] : fmt::format("  {:>{}}", row[c], width[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace berth::report
