// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Values as bytes, for messages and files. A type lists its fields once, beside its definition,
/// for writing and reading:
///
///     template <class Archive>
///     void describe(Archive& archive, Rack& rack) {
///       archive(rack.name, rack.pod);
///     }
///
/// Trivially copyable types need no list: their bytes in memory are copied. Lists, maps and texts
/// follow their length (LEB128: one byte below 128), an optional follows a flag. Only a program of
/// one build on one architecture can read the bytes.
namespace berth {

namespace internal {

/// Placeholder for an archive in the test whether `describe` exists.
struct NoArchive {
  template <class... T>
  void operator()(T&...);
};

template <class T>
concept Described = requires(NoArchive& archive, T& value) {
  describe(archive, value);
};

/// True for types that are trivially copyable but refer to their value.
template <class T>
inline constexpr bool kIsView = std::is_pointer_v<T>;
template <class T>
inline constexpr bool kIsView<std::span<T>> = true;
template <>
inline constexpr bool kIsView<std::string_view> = true;

/// Types whose bytes in memory are copied.
template <class T>
concept Raw = !Described<T> && std::is_trivially_copyable_v<T> && !kIsView<T>;

template <class T>
concept Map = requires {
  typename T::mapped_type;
};

template <class T>
concept Pair = requires(T& value) {
  value.first, value.second;
};

template <class T>
concept Optional = std::is_same_v<T, std::optional<typename T::value_type>>;

}  // namespace internal

/// Appends values.
class ByteWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  /// A number in LEB128: seven bits a byte, the lowest first; the eighth says that more follow.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  /// The bytes so far; the writer is empty then.
  [[nodiscard]] std::string take() { return std::exchange(bytes_, {}); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (internal::Described<T>) {
      describe(*this, const_cast<T&>(value));  // which lists the fields and changes none
    } else if constexpr (internal::Raw<T>) {
      append(&value, sizeof value);
    } else if constexpr (internal::Optional<T>) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (internal::Pair<T>) {
      (*this)(value.first, value.second);
    } else {
      number(value.size());
      if constexpr (internal::Raw<typename T::value_type>) {
        append(value.data(), value.size() * sizeof(typename T::value_type));
      } else {
        for (const auto& item : value) put(item);
      }
    }
  }

  void append(const void* from, std::size_t bytes) {
    bytes_.append(static_cast<const char*>(from), bytes);
  }

  std::string bytes_;
};

/// Reads values in the order in which they were written. Where the bytes end before the value, or
/// say what no writer writes, throws std::out_of_range. Room is made for items that are there:
/// memory stays within a constant factor of the bytes.
class ByteReader {
 public:
  /// @param bytes  must outlive the reader
  explicit ByteReader(std::span<const char> bytes) : rest_(bytes.data(), bytes.size()) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  template <class T>
  [[nodiscard]] T next() {
    T value{};
    get(value);
    return value;
  }
  /// As ByteWriter::number.
  [[nodiscard]] std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = next<unsigned char>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    throw std::out_of_range("no number has so many digits");
  }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (internal::Described<T>) {
      describe(*this, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto byte = next<unsigned char>();
      if (byte > 1) throw std::out_of_range("neither true nor false");
      value = byte != 0;
    } else if constexpr (internal::Raw<T>) {
      std::memcpy(&value, take(1, sizeof value).data(), sizeof value);
    } else if constexpr (internal::Optional<T>) {
      value.reset();
      if (next<bool>()) get(value.emplace());
    } else if constexpr (internal::Pair<T>) {
      (*this)(value.first, value.second);
    } else if constexpr (internal::Map<T>) {
      value.clear();
      for (std::uint64_t left = number(); left > 0; --left) {
        auto key = next<typename T::key_type>();
        get(value[std::move(key)]);
      }
    } else {
      get_list(value);
    }
  }

  template <class List>
  void get_list(List& values) {
    using Item = typename List::value_type;
    values.clear();
    if constexpr (internal::Raw<Item>) {
      const std::uint64_t size = number();
      const std::string_view bytes = take(size, sizeof(Item));
      values.resize(static_cast<std::size_t>(size));
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    } else {
      for (std::uint64_t left = number(); left > 0; --left) get(values.emplace_back());
    }
  }

  std::string_view take(std::uint64_t items, std::size_t item_bytes) {
    if (items > rest_.size() / item_bytes) throw std::out_of_range("bytes end too soon");
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(items) * item_bytes);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

template <class T>
[[nodiscard]] std::string to_bytes(const T& value) {
  ByteWriter writer;
  writer(value);
  return writer.take();
}

/// The value that all of these bytes are. @throws std::out_of_range when they are not one
template <class T>
[[nodiscard]] T from_bytes(std::string_view bytes) {
  ByteReader reader(bytes);
  T value = reader.next<T>();
  if (!reader.done()) throw std::out_of_range("more bytes than the value has");
  return value;
}

}  // namespace berth
