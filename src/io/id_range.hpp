// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// `m[0000-0031]` or `m[0-3,7]b`: numbers between a prefix and a suffix. A name without brackets is
/// a range of one name.
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

/// The parsed range, or in `fault` the error.
struct ParsedRange {
  IdRange range;
  std::string fault;  ///< empty when sound
};
ParsedRange parse_id_range(std::string_view text);

/// Calls `visit` with every name, in order. Names share one buffer: a view is valid until the next
/// call.
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

/// Compresses names, in order, to ranges: one for each run of consecutive numbers with equal prefix
/// and width. Expanding the ranges gives the names back, one by one.
class RangeBuilder {
 public:
  void add(std::string_view name);
  std::vector<std::string> finish();  ///< returns the ranges and clears the builder

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
