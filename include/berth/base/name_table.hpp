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

  [[nodiscard]] std::size_t characters() const { return characters_.size(); }  ///< of all names

  template <class Archive>
  friend void describe(Archive& archive, NameTable& table) {
    archive(table.characters_, table.ends_);
  }

 private:
  std::string characters_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace berth
