// SPDX-License-Identifier: Apache-2.0
#include "yaml_fields.hpp"

#include "numbers.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/error.hpp"

namespace berth::io {
void YamlAt::fail(const std::string& problem, const std::string& hint) const {
  fail_on(line(), problem, hint);
}

void YamlAt::fail_on(std::int64_t line, const std::string& problem, const std::string& hint) const {
  throw InputError({.file = *file_, .line = line, .field = path()}, problem, hint);
}

std::string YamlAt::path() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->path();
  if (key_.empty()) return above + "[" + std::to_string(index_) + "]";
  return above.empty() ? std::string(key_) : above + "." + std::string(key_);
}

std::string YamlAt::text() const {
  if (!node_.is_scalar()) fail(empty() ? "has no value" : "expected one word or number");
  return std::string(node_.scalar());
}

std::string YamlAt::name() const {
  std::string word = text();
  if (const std::string fault = name_fault(word); !fault.empty()) fail(fault);
  return word;
}

std::int64_t YamlAt::integer(std::int64_t largest) const {
  const std::string word = text();
  std::int64_t value = 0;
  if (!read_number(word, value)) fail("expected a whole number, found " + in_quotes(word));
  if (value < 0) fail("must not be negative, found " + word);
  if (value > largest) fail(word + " is more than the largest allowed, " + std::to_string(largest));
  return value;
}

double YamlAt::amount(double largest) const {
  const std::string word = text();
  double value = 0.0;
  if (!read_number(word, value) || !std::isfinite(value)) {
    fail("expected a finite number, found " + in_quotes(word));
  }
  if (value < 0.0) fail("must not be negative, found " + word);
  if (value > largest) fail(word + " is absurdly large");
  return value;
}

YamlMap::YamlMap(const YamlAt& at, std::span<const std::string_view> keys) : at_(&at) {
  if (!at.node().is_map()) at.fail("expected keys and values");
  for_each_entry(at.node(), [&](const Node& name, const Node& value) {
    const std::string_view key = key_text(name);
    const auto known = std::ranges::find(keys, key);
    const YamlAt named(name, at, key);
    if (known == keys.end()) {
      named.fail("unknown key", key == "instance_digest"
                                    ? "this is a plan: the help names the order of the files"
                                    : known_words(key, keys));
    }
    if (find(*known)) named.fail("given twice");
    entries_.push_back({*known, name, value});
  });
}

std::optional<YamlAt> YamlMap::find(std::string_view key) const {
  for (const MapEntry& entry : entries_) {
    if (entry.name == key) return YamlAt(entry.key, entry.value, *at_, entry.name);
  }
  return std::nullopt;
}

YamlAt YamlMap::need(std::string_view key) const {
  if (auto found = find(key)) return *found;
  at_->fail("\"" + std::string(key) + "\" is missing");
}

}  // namespace berth::io
