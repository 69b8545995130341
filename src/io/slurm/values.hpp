// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_fields.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/io/slurm.hpp"

namespace berth::io::slurm {

/// A number in either of Slurm's forms: `7`, `null` and the sentinels of 32 and 16 bits (data
/// parser up to v0.0.38), or {"set": true, "infinite": false, "number": 7} (v0.0.39 and later).
struct Number {
  bool set = false;       ///< `value` was given
  bool infinite = false;  ///< given, and unlimited
  std::int64_t value = 0;

  [[nodiscard]] std::int64_t or_else(std::int64_t otherwise) const {
    return set ? value : otherwise;
  }
};
Number number(const JsonAt& at);

/// Amount of each part, rounded up, when `amount` is divided into `parts`; 0 for no parts.
constexpr std::int64_t divided_up(std::int64_t amount, std::int64_t parts) {
  return parts > 0 ? (amount + parts - 1) / parts : 0;
}

/// Flags in upper case: "idle", ["IDLE", "DRAIN"] or "A,B"; null is none.
std::vector<std::string> flags(const JsonAt& at);

/// Words without change: "ib,fast" or ["ib", "fast"]; null is none.
std::vector<std::string> list(const JsonAt& at);

/// Text; null and "(null)" are empty; a number gives its digits.
std::string text(const JsonAt& at);

/// true, false, null, 0 or 1.
bool truth(const JsonAt& at);

/// Names of a host list, which Slurm writes as one text in every version.
std::vector<std::string> hosts(const JsonAt& at);

/// Readers by key of an object; other keys are skipped.
template <class Item>
using Readers = std::unordered_map<std::string_view, void (*)(Item&, const JsonAt&)>;

template <class Item>
void read_fields(const JsonAt& at, const Readers<Item>& readers, Item& item) {
  at.entries([&](const JsonAt& value) {
    if (const auto found = readers.find(value.key()); found != readers.end()) {
      found->second(item, value);
    }
  });
}

using Source = SlurmSources::Source;

/// Parses the text and calls `read` with the list under `key`. `hint`: what to ask Slurm for.
/// @throws InputError: not JSON, or no such list
void read_list(const Source& source, std::string_view key, const char* hint,
               const std::function<void(const JsonAt&)>& read);

}  // namespace berth::io::slurm
