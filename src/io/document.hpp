// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::io {

class Document;

/// A value of a document, which must outlive it. Two words; copied freely.
class Node {
 public:
  Node(const Document& document, std::uint32_t index) : document_(&document), index_(index) {}

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_scalar() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_map() const;
  [[nodiscard]] std::int64_t line() const;          ///< from 1
  [[nodiscard]] std::string_view scalar() const;    ///< without quotes and escapes
  [[nodiscard]] std::size_t size() const;           ///< elements of a list, entries of a map
  [[nodiscard]] Node element(std::size_t i) const;  ///< of a list
  [[nodiscard]] std::pair<Node, Node> entry(std::size_t i) const;  ///< key and value, of a map

 private:
  const Document* document_;
  std::uint32_t index_;
};

/// A YAML or JSON text as a tree in three arrays: about 30 bytes a value beside its letters.
class Document {
 public:
  enum class Kind : std::uint8_t { null, scalar, list, map };

  [[nodiscard]] Node root() const { return {*this, root_}; }

  /// Each adds a value that begins on a line (from 1) and returns its index.
  std::uint32_t add_null(std::int64_t line);
  std::uint32_t add_scalar(std::int64_t line, std::string_view text);
  std::uint32_t add_branch(std::int64_t line, Kind kind);
  /// The children of a branch: elements, or keys and values by turns.
  void set_children(std::uint32_t branch, const std::vector<std::uint32_t>& children);
  void set_root(std::uint32_t root) { root_ = root; }

 private:
  friend class Node;
  struct Value {
    std::size_t begin = 0;    ///< in letters_ or children_
    std::uint32_t count = 0;  ///< letters or children
    std::uint32_t line = 0;
    Kind kind = Kind::null;
  };
  std::uint32_t add(const Value& value);

  std::string letters_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> children_;
  std::uint32_t root_ = 0;
};

/// The only document of a YAML or JSON text; a null for an empty text. Linear in the text: JSON,
/// which programs write on one line, goes through simdjson; yaml-cpp would hold every token of a
/// line at once.
/// @throws InputError when the text is neither, when a second document follows, which would be
///   ignored, or when a line that is not JSON is longer than kLongestYamlLine
[[nodiscard]] Document read_document(std::string_view text, const std::string& file);

/// 4 MiB hold 250,000 short names; yaml-cpp takes up to 0.6 GB for them
inline constexpr std::size_t kLongestYamlLine = std::size_t{4} << 20;

}  // namespace berth::io
