// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// A value of a YAML or JSON text with its line and its path for messages ("pods[0].racks[1].id").
/// Children point to their parents, which must outlive them; the path is composed on error.
class YamlAt {
 public:
  YamlAt(Node node, const std::string& file) : node_(node), file_(&file) {}
  YamlAt(Node node, const YamlAt& parent, std::string_view key)
      : node_(node), file_(parent.file_), parent_(&parent), key_(key) {}
  /// An absent value gets the line of its key; YAML would give the line of the next value.
  YamlAt(const Node& key, Node value, const YamlAt& parent, std::string_view name)
      : YamlAt(value, parent, name) {
    if (node_.is_null()) line_ = key.line();
  }
  YamlAt(Node node, const YamlAt& parent, std::size_t index)
      : node_(node), file_(parent.file_), parent_(&parent), index_(index) {}

  [[noreturn]] void fail(const std::string& problem, const std::string& hint = {}) const;
  [[noreturn]] void fail_on(std::int64_t line, const std::string& problem,
                            const std::string& hint = {}) const;

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::int64_t line() const { return line_ > 0 ? line_ : node_.line(); }
  [[nodiscard]] bool empty() const { return node_.is_null(); }

  [[nodiscard]] std::string text() const;                          ///< a scalar as it stands
  [[nodiscard]] std::string name() const;                          ///< a valid name
  [[nodiscard]] std::int64_t integer(std::int64_t largest) const;  ///< 0 .. largest
  [[nodiscard]] double amount(double largest) const;               ///< finite, 0 .. largest

  /// Calls visit(YamlAt element) for a list. An empty value is an empty list.
  template <class Visit>
  void each(const Visit& visit) const {
    if (empty()) return;
    if (!node_.is_list()) fail("expected a list");
    for (std::size_t i = 0; i < node_.size(); ++i) visit(YamlAt(node_.element(i), *this, i));
  }

 private:
  [[nodiscard]] std::string path() const;

  Node node_;
  const std::string* file_;
  const YamlAt* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
  std::int64_t line_ = 0;  // 0: the node's own line
};

/// Calls visit(key, value) for each entry of a map.
template <class Visit>
void for_each_entry(const Node& map, const Visit& visit) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    const auto [key, value] = map.entry(i);
    visit(key, value);
  }
}

/// A key as it stands; "?" for a list or a map.
inline std::string_view key_text(const Node& key) { return key.is_scalar() ? key.scalar() : "?"; }

/// The entries of a map with known keys; refuses unknown and repeated keys.
class YamlMap {
 public:
  YamlMap(const YamlAt& at, std::span<const std::string_view> keys);
  YamlMap(const YamlAt& at, std::initializer_list<std::string_view> keys)
      : YamlMap(at, std::span(keys.begin(), keys.size())) {}

  [[nodiscard]] std::optional<YamlAt> find(std::string_view key) const;
  [[nodiscard]] YamlAt need(std::string_view key) const;  ///< throws if it is missing

 private:
  const YamlAt* at_;
  struct MapEntry {
    std::string_view name;
    Node key;
    Node value;
  };
  std::vector<MapEntry> entries_;
};

}  // namespace berth::io
