// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace berth::io {

/// The source of a JSON text, and the function that throws its faults.
struct JsonSource {
  std::string_view file;
  std::int64_t line = 0;  ///< 0 when the text is one value over many lines
  /// Throws; jobs and plans differ in the type of the exception.
  void (*raise)(const JsonSource& source, const std::string& field, const std::string& problem,
                const std::string& hint);
};

/// Throws InputError: the `raise` of all inputs.
[[noreturn]] void raise_input_error(const JsonSource& source, const std::string& field,
                                    const std::string& problem, const std::string& hint);

/// A JSON value that knows its path for messages ("tasks[0].gpus"). Children point to their
/// parents, which must outlive them; the path is composed on error only.
class JsonAt {
 public:
  JsonAt(simdjson::dom::element value, const JsonSource& source)
      : value_(value), source_(&source) {}
  JsonAt(simdjson::dom::element value, const JsonAt& parent, std::string_view key)
      : value_(value), source_(parent.source_), parent_(&parent), key_(key) {}
  JsonAt(simdjson::dom::element value, const JsonAt& parent, std::size_t index)
      : value_(value), source_(parent.source_), parent_(&parent), index_(index) {}

  [[noreturn]] void fail(const std::string& problem, const std::string& hint = {}) const;
  [[noreturn]] void fail_unknown(std::string_view key,
                                 std::span<const std::string_view> known) const;

  [[nodiscard]] std::string_view text() const;  ///< valid as long as the parsed document
  [[nodiscard]] std::string_view name() const;  ///< a valid name
  [[nodiscard]] bool empty() const { return value_.is_null(); }
  [[nodiscard]] simdjson::dom::element_type type() const { return value_.type(); }
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double real() const;
  [[nodiscard]] std::int64_t integer() const;  ///< accepts 4.0 as 4
  [[nodiscard]] std::int64_t integer(std::int64_t smallest, std::int64_t largest) const;
  [[nodiscard]] std::uint64_t natural() const;
  [[nodiscard]] double amount(double largest) const;  ///< 0 .. largest

  /// Calls visit(key index, JsonAt value) for the entries of an object, in file order. Refuses keys
  /// that are not in `keys`, and repeated ones. Returns a bit for every key seen.
  template <class Visit>
  std::uint64_t fields(std::span<const std::string_view> keys, const Visit& visit) const {
    std::uint64_t seen = 0;
    for (const auto entry : object()) {
      const std::size_t k = find(keys, entry.key);
      if (k == keys.size()) fail_unknown(entry.key, keys);
      const JsonAt value(entry.value, *this, keys[k]);
      value.mark(seen, k);
      visit(k, value);
    }
    return seen;
  }

  /// Visits the known keys and skips unknown ones, for files that may contain other keys.
  template <class Visit>
  std::uint64_t known_fields(std::span<const std::string_view> keys, const Visit& visit) const {
    std::uint64_t seen = 0;
    for (const auto entry : object()) {
      const std::size_t k = find(keys, entry.key);
      if (k == keys.size()) continue;
      const JsonAt value(entry.value, *this, keys[k]);
      value.mark(seen, k);
      visit(k, value);
    }
    return seen;
  }

  /// Calls visit(JsonAt) for the entries of an object with arbitrary keys; `key()` returns the key.
  template <class Visit>
  void entries(const Visit& visit) const {
    for (const auto entry : object()) visit(JsonAt(entry.value, *this, entry.key));
  }
  [[nodiscard]] std::string_view key() const { return key_; }

  /// Calls visit(JsonAt element) for a list; returns its length.
  template <class Visit>
  std::size_t each(const Visit& visit) const {
    std::size_t index = 0;
    for (const simdjson::dom::element element : array()) visit(JsonAt(element, *this, index++));
    return index;
  }

  /// Throws when one of the first `needed` keys was not seen.
  void need(std::span<const std::string_view> keys, std::size_t needed, std::uint64_t seen) const;

 private:
  static std::size_t find(std::span<const std::string_view> keys, std::string_view key) {
    std::size_t k = 0;
    while (k < keys.size() && keys[k] != key) ++k;
    return k;
  }
  void mark(std::uint64_t& seen, std::size_t key) const;
  [[nodiscard]] simdjson::dom::object object() const;
  [[nodiscard]] simdjson::dom::array array() const;
  [[nodiscard]] std::string path() const;

  simdjson::dom::element value_;
  const JsonSource* source_;
  const JsonAt* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace berth::io
