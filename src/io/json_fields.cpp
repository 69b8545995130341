// SPDX-License-Identifier: Apache-2.0
#include "json_fields.hpp"

#include "words.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "berth/base/error.hpp"

namespace berth::io {

using simdjson::dom::element_type;

void raise_input_error(const JsonSource& source, const std::string& field,
                       const std::string& problem, const std::string& hint) {
  throw InputError({.file = std::string(source.file), .line = source.line, .field = field}, problem,
                   hint);
}

void JsonAt::fail(const std::string& problem, const std::string& hint) const {
  source_->raise(*source_, path(), problem, hint);
  std::abort();  // raise throws
}

void JsonAt::fail_unknown(std::string_view key, std::span<const std::string_view> known) const {
  JsonAt(value_, *this, key).fail("unknown key", known_words(key, known));
}

std::string JsonAt::path() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->path();
  if (key_.empty()) return above + "[" + std::to_string(index_) + "]";
  return above.empty() ? std::string(key_) : above + "." + std::string(key_);
}

void JsonAt::mark(std::uint64_t& seen, std::size_t key) const {
  const std::uint64_t bit = std::uint64_t{1} << key;
  if ((seen & bit) != 0) fail("given twice");
  seen |= bit;
}

void JsonAt::need(std::span<const std::string_view> keys, std::size_t needed,
                  std::uint64_t seen) const {
  for (std::size_t k = 0; k < needed; ++k) {
    if ((seen >> k & 1) == 0) JsonAt(value_, *this, keys[k]).fail("is missing");
  }
}

simdjson::dom::object JsonAt::object() const {
  simdjson::dom::object found;
  if (value_.get(found) != simdjson::SUCCESS) fail("expected an object {...}");
  return found;
}

simdjson::dom::array JsonAt::array() const {
  simdjson::dom::array found;
  if (value_.get(found) != simdjson::SUCCESS) fail("expected a list [...]");
  return found;
}

std::string_view JsonAt::text() const {
  std::string_view found;
  if (value_.get(found) != simdjson::SUCCESS) fail("expected text in quotes");
  return found;
}

std::string_view JsonAt::name() const {
  const std::string_view found = text();
  if (const std::string fault = name_fault(found); !fault.empty()) fail(fault);
  return found;
}

bool JsonAt::boolean() const {
  bool found = false;
  if (value_.get(found) != simdjson::SUCCESS) fail("expected true or false");
  return found;
}

double JsonAt::real() const {
  double found = 0.0;
  if (value_.get(found) != simdjson::SUCCESS) fail("expected a number");
  return found;
}

std::int64_t JsonAt::integer() const {
  constexpr double exact = 0x1p53;  // all integers up to here are exact in a double
  std::int64_t found = 0;
  if (value_.get(found) == simdjson::SUCCESS) return found;
  if (value_.type() == element_type::UINT64) fail("is beyond 64 bits");
  const double number = real();
  if (std::abs(number) > exact || std::trunc(number) != number) {
    fail(fmt::format("expected a whole number, found {}", number));
  }
  return static_cast<std::int64_t>(number);
}

std::uint64_t JsonAt::natural() const {
  std::uint64_t found = 0;
  if (value_.get(found) != simdjson::SUCCESS) fail("expected a whole number, not negative");
  return found;
}

std::int64_t JsonAt::integer(std::int64_t smallest, std::int64_t largest) const {
  if (value_.type() == element_type::UINT64) {
    fail(fmt::format("must be at most {}, found {}", largest, std::uint64_t(value_)));
  }
  const std::int64_t found = integer();
  if (found < 0 && smallest >= 0) fail(fmt::format("must not be negative, found {}", found));
  if (found < smallest) fail(fmt::format("must be at least {}, found {}", smallest, found));
  if (found > largest) fail(fmt::format("must be at most {}, found {}", largest, found));
  return found;
}

double JsonAt::amount(double largest) const {
  const double found = real();
  if (found < 0.0) fail(fmt::format("must not be negative, found {}", found));
  if (!(found <= largest)) fail(fmt::format("must be at most {}, found {}", largest, found));
  return found;
}

}  // namespace berth::io
