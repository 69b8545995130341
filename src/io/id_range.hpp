// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// `m[0000-0031]` or `m[0-3,7]b`: numbers between a prefix and a suffix. A name without brackets
/// is itself.
struct IdRange {
  struct NumberRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint32_t width = 0;  ///< digits, padded with zeros; 0 = as many as needed
  };
  std::string prefix;
  std::string suffix;
  std::vector<NumberRange> spans;  ///< empty: a plain name, in prefix

  [[nodiscard]] std::uint64_t count() const;
};

/// The range, or in `fault` what is wrong with it.
struct ParsedRange {
  IdRange range;
  std::string fault;  ///< empty when sound
};
ParsedRange parse_id_range(std::string_view text);

/// Calls `visit` with every name, in order. One buffer; the view lasts until the next call.
template <class Visit>
void for_each_id(const IdRange& range, const Visit& visit) {
  if (range.spans.empty()) return visit(std::string_view(range.prefix));
  std::string name;
  for (const IdRange::NumberRange& span : range.spans) {
    for (std::uint64_t n = span.first; n <= span.last; ++n) {
      const std::string digits = std::to_string(n);
      name.assign(range.prefix);
      if (digits.size() < span.width) name.append(span.width - digits.size(), '0');
      visit(std::string_view(name.append(digits).append(range.suffix)));
    }
  }
}

/// Names in order as few ranges as runs of consecutive numbers (same prefix, same width) allow;
/// expanding them gives the names back, one by one.
class RangeBuilder {
 public:
  void add(std::string_view name);
  std::vector<std::string> finish();  ///< and starts anew

 private:
  void close();

  std::vector<std::string> ranges_;
  std::string first_;   ///< first name of the open run; empty = none
  std::string prefix_;  ///< of the open run
  std::uint64_t from_ = 0;
  std::uint64_t last_ = 0;
  std::size_t width_ = 0;
};

}  // namespace berth::io
