// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace berth {

/// Writes fields one after the other in their memory representation; a list is preceded by its
/// length. Only a program of the same build on the same architecture can read the bytes.
class ByteWriter {
 public:
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void list(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads the fields back in the order in which they were written. @throws std::out_of_range where
/// the bytes end
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  template <class T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  template <class List>
  void list(List& values) {
    using T = typename List::value_type;
    static_assert(std::is_trivially_copyable_v<T>);
    std::uint64_t size = 0;
    value(size);
    const std::string_view bytes = take(size > rest_.size() ? size : size * sizeof(T));
    values.resize(static_cast<std::size_t>(size));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }

 private:
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) throw std::out_of_range("bytes end too soon");
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(bytes));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

}  // namespace berth
