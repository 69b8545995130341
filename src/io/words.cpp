// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <algorithm>
#include <vector>

#include <simdjson.h>

namespace berth::io {
namespace {

constexpr std::size_t kMaxName = 255;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 60)) out += is_control(c) ? '?' : c;
  if (text.size() > 60) out += "...";
  return out + "\"";
}

std::string name_fault(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (name.size() > kMaxName) return "a name of more than 255 bytes: " + in_quotes(name);
  if (std::ranges::any_of(name, is_control)) {
    return "a name with a control character (tab, newline): " + in_quotes(name);
  }
  if (!simdjson::validate_utf8(name.data(), name.size())) return "a name that is not UTF-8";
  return {};
}

}  // namespace berth::io
