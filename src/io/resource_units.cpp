// SPDX-License-Identifier: Apache-2.0
#include "resource_units.hpp"

#include "words.hpp"

#include <utility>

#include "berth/base/int128.hpp"

namespace berth::io {
namespace {

/// The decimal number times `scale`, exactly; none when that is no whole number to kMaxAmount.
std::optional<std::int64_t> scaled(std::string_view digits, std::int64_t scale) {
  std::int64_t whole = 0, divisor = 1;
  bool point = false, any = false;
  for (const char c : digits) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    // the limits keep both below 2^44, so that 128 bits hold the product
    if (c < '0' || c > '9' || whole > kMaxAmount || divisor > kMaxAmount) return std::nullopt;
    whole = 10 * whole + (c - '0');
    if (point) divisor *= 10;
    any = true;
  }
  const Int128 amount = static_cast<Int128>(whole) * scale;
  if (!any || digits.back() == '.' || amount % divisor != 0) return std::nullopt;
  if (amount / divisor > kMaxAmount) return std::nullopt;
  return static_cast<std::int64_t>(amount / divisor);
}

constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kMemoryUnits{
    {{"MiB", 1}, {"GiB", 1024}, {"TiB", 1024 * 1024}}};

}  // namespace

std::optional<std::int64_t> amount_of(const UnitKey& key, std::string_view word) {
  if (word.empty()) return std::nullopt;
  if (key.resource == model::kCpu) return scaled(word, 1000);
  for (const auto& [unit, mib] : kMemoryUnits) {
    if (!word.ends_with(unit)) continue;
    word.remove_suffix(unit.size());
    while (word.ends_with(' ')) word.remove_suffix(1);
    return word.empty() ? std::nullopt : scaled(word, mib);
  }
  return std::nullopt;
}

std::string both_given(const UnitKey& key) {
  return "\"" + std::string(key.key) + "\" and \"" +
         std::string(model::kResourceTable[key.resource].key) + "\" are both given";
}

}  // namespace berth::io
