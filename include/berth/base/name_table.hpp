// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Names by index, packed end to end: a million names cost their characters plus 8 bytes each.
class NameTable {
 public:
  /// Appends and returns the index of the new name. The caller ensures that names are unique.
  std::size_t add(std::string_view name) {
    characters_.append(name);
    ends_.push_back(characters_.size());
    return ends_.size() - 1;
  }

  [[nodiscard]] std::string_view operator[](std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(characters_).substr(begin, ends_[index] - begin);
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  void reserve(std::size_t names, std::size_t characters) {
    ends_.reserve(names);
    characters_.reserve(characters);
  }

  /// Both columns, for broadcasting: ends[i] is one past the last character of name i.
  [[nodiscard]] const std::string& characters() const { return characters_; }
  [[nodiscard]] const std::vector<std::uint64_t>& ends() const { return ends_; }
  static NameTable from_columns(std::string characters, std::vector<std::uint64_t> ends) {
    NameTable table;
    table.characters_ = std::move(characters);
    table.ends_ = std::move(ends);
    return table;
  }

 private:
  std::string characters_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace berth
