// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace berth::report {

/// Lines of cells as text: the first column to the left, the others to the right, two blanks
/// between; each as wide as its widest cell, the first at most kMostName characters.
class TextTable {
 public:
  static constexpr std::size_t kMostName = 32;

  explicit TextTable(std::vector<std::string> titles) : rows_{std::move(titles)} {}
  /// @pre as many cells as titles
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Aligns the last column, of words, to the left and does not pad it.
  void words_last() { words_last_ = true; }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  bool words_last_ = false;
};

}  // namespace berth::report
