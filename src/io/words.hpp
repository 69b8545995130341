// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/base/similar.hpp"

namespace berth::io {

/// Largest amount in a file (thousandths, MiB, seconds): guard against overflow of sums
inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 40;
/// Largest count in a file (tasks of a group, GPUs of a task): guard against overflow of sums
inline constexpr std::int64_t kMaxCount = 1'000'000;

/// Largest duration in a file: 100 years of 365.25 days, in seconds; a guard against other units
inline constexpr std::int64_t kMaxSeconds = 3'155'760'000;

/// True when the key means the same as a word of other programs: "cpu" for "cpus".
[[nodiscard]] bool is_meant(std::string_view word, std::string_view key);

/// The key of that meaning, did_you_mean, else the words themselves: `known: a, b, c`.
template <class Words>
[[nodiscard]] std::string known_words(std::string_view word, const Words& words) {
  for (const std::string_view known : words) {
    if (is_meant(word, known)) return std::string("did you mean \"").append(known).append("\"?");
  }
  std::string hint = did_you_mean(word, words);
  if (!hint.empty()) return hint;
  hint = "known:";
  for (const std::string_view known : words) hint.append(" ").append(known).append(",");
  hint.pop_back();
  return hint;
}

/// The text in quotes, shortened and with control characters visible, for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// The fault of a name, or an empty text: empty, over 255 bytes, control characters, not UTF-8.
[[nodiscard]] std::string name_fault(std::string_view name);

}  // namespace berth::io
