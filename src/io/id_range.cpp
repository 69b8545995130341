// SPDX-License-Identifier: Apache-2.0
#include "id_range.hpp"

#include "words.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth::io {
namespace {

constexpr std::size_t kMaxDigits = 12;  // far beyond any cluster, far below 64 bits

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// One part between commas: `7` or `0-3`.
std::string read_span(std::string_view part, IdRange::NumberRange& span) {
  const std::size_t dash = part.find('-');
  const std::string_view first = part.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : part.substr(dash + 1);
  if (!all_digits(first) || !all_digits(last) || last.size() > kMaxDigits ||
      first.size() > kMaxDigits) {
    return "expected numbers like [0000-0031] in the range, found " + in_quotes(part);
  }
  const bool padded = first.size() > 1 && first.front() == '0';
  if (first.size() > last.size() || (padded && first.size() != last.size()) ||
      (!padded && last.size() > 1 && last.front() == '0')) {
    return "both ends of the range " + in_quotes(part) + " must have the same number of digits";
  }
  span = {.first = number(first),
          .last = number(last),
          .width = padded ? static_cast<std::uint32_t>(first.size()) : 0};
  if (span.first > span.last) return "the range " + in_quotes(part) + " runs backwards";
  return {};
}

/// What is wrong with characters around the brackets: those with which other programs write many
/// names would make one machine of a strange name.
std::string strange_characters(std::string_view name) {
  const std::size_t at = name.find_first_of("{}*, \t");
  const std::size_t dots = name.find("..");
  if (at == std::string_view::npos && dots == std::string_view::npos) return {};
  const std::string_view strange = name.substr(std::min(at, dots), at < dots ? 1 : 2);
  return in_quotes(strange) +
         " is in no name; many machines are \"m[01-32]\", machines apart are " +
         "one entry each: found " + in_quotes(name);
}

}  // namespace

std::uint64_t IdRange::count() const {
  std::uint64_t total = spans.empty() ? 1 : 0;
  for (const NumberRange& span : spans) total += span.last - span.first + 1;
  return total;
}

ParsedRange parse_id_range(std::string_view text) {
  ParsedRange result;
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string_view::npos && close == std::string_view::npos) {
    result.range.prefix = text;
    result.fault = strange_characters(text);
    return result;
  }
  const bool one_pair = open != std::string_view::npos && close != std::string_view::npos &&
                        open < close && text.find('[', open + 1) == std::string_view::npos &&
                        text.find(']', close + 1) == std::string_view::npos;
  if (!one_pair) {
    result.fault =
        "expected one pair of brackets, as in \"m[0000-0031]\", found " + in_quotes(text);
    return result;
  }
  result.range.prefix = text.substr(0, open);
  result.range.suffix = text.substr(close + 1);
  result.fault = strange_characters(result.range.prefix);
  if (result.fault.empty()) result.fault = strange_characters(result.range.suffix);
  std::string_view rest = text.substr(open + 1, close - open - 1);
  for (bool more = true; more && result.fault.empty();) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    result.fault = read_span(rest.substr(0, comma), result.range.spans.emplace_back());
    if (more) rest.remove_prefix(comma + 1);
  }
  return result;
}

void RangeBuilder::add(std::string_view name) {
  const std::size_t letters = name.find_last_not_of("0123456789") + 1;  // npos + 1 = 0
  const std::string_view digits = name.substr(
      std::max(letters, name.size() > kMaxDigits ? name.size() - kMaxDigits : std::size_t{0}));
  const std::string_view prefix = name.substr(0, name.size() - digits.size());
  const std::uint64_t n = number(digits);
  const bool follows = !first_.empty() && !digits.empty() && width_ == digits.size() &&
                       n == last_ + 1 && prefix == prefix_;
  if (!follows) {
    close();
    first_ = name;
    prefix_ = prefix;
    from_ = n;
    width_ = digits.size();
  }
  last_ = n;
}

void RangeBuilder::close() {
  if (!first_.empty()) {
    if (last_ == from_) {
      ranges_.push_back(std::move(first_));
    } else {
      std::string to = std::to_string(last_);
      to.insert(0, width_ - to.size(), '0');
      ranges_.push_back(prefix_ + "[" + first_.substr(prefix_.size()) + "-" + to + "]");
    }
  }
  first_.clear();
}

std::vector<std::string> RangeBuilder::finish() {
  close();
  return std::exchange(ranges_, {});
}

}  // namespace berth::io
