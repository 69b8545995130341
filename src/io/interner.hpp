// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

namespace berth::io {

/// Numbers the distinct rows of a table by first appearance; the hash order never shows.
template <class Key, class Hash = std::hash<Key>>
class Interner {
 public:
  /// Index of the key; `append(index)` is called when it is new.
  template <class Append>
  std::uint32_t intern(const Key& key, const Append& append) {
    const auto [entry, fresh] = index_.try_emplace(key, static_cast<std::uint32_t>(index_.size()));
    if (fresh) append(key);
    return entry->second;
  }

 private:
  std::unordered_map<Key, std::uint32_t, Hash> index_;
};

/// FNV-1a over 64-bit words.
class WordHash {
 public:
  void add(std::uint64_t word) { state_ = (state_ ^ word) * 0x100000001B3ULL; }
  [[nodiscard]] std::size_t value() const { return state_ ^ (state_ >> 32); }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

}  // namespace berth::io
