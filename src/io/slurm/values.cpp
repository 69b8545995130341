// SPDX-License-Identifier: Apache-2.0
#include "slurm/values.hpp"

#include "slurm/hostlist.hpp"
#include "words.hpp"

#include <cctype>
#include <optional>

#include <simdjson.h>

namespace berth::io::slurm {
namespace {

constexpr std::int64_t kInfinite32 = 0xFFFFFFFF;  ///< Slurm's INFINITE (slurm.h)
constexpr std::int64_t kNoValue32 = 0xFFFFFFFE;   ///< Slurm's NO_VAL (slurm.h)

/// JSON kinds, as far as Slurm distinguishes values by them.
enum class JsonKind : std::uint8_t { none, object, array, text, other };

JsonKind kind_of(const JsonAt& at) {
  if (at.empty()) return JsonKind::none;
  switch (at.type()) {
    case simdjson::dom::element_type::OBJECT:
      return JsonKind::object;
    case simdjson::dom::element_type::ARRAY:
      return JsonKind::array;
    case simdjson::dom::element_type::STRING:
      return JsonKind::text;
    default:
      return JsonKind::other;
  }
}

/// Guard against overflow of sums: nothing that Slurm counts is larger.
std::int64_t clamped(std::int64_t value) { return std::clamp(value, -kMaxAmount, kMaxAmount); }

Number plain_number(const JsonAt& at) {
  const std::int64_t value = at.integer();
  if (value == kInfinite32) return {.set = true, .infinite = true, .value = value};
  if (value == kNoValue32 || value == -2) return {};
  return {.set = true, .infinite = false, .value = clamped(value)};
}

}  // namespace

Number number(const JsonAt& at) {
  const JsonKind kind = kind_of(at);
  if (kind == JsonKind::none) return {};
  if (kind == JsonKind::other) return plain_number(at);
  if (kind != JsonKind::object) {
    at.fail("expected a number", R"(Slurm writes 7 or {"set":true,"infinite":false,"number":7})");
  }
  static const Readers<Number> readers{
      {"set", [](Number& n, const JsonAt& v) { n.set = truth(v); }},
      {"infinite", [](Number& n, const JsonAt& v) { n.infinite = truth(v); }},
      {"number", [](Number& n, const JsonAt& v) { n.value = clamped(v.integer()); }}};
  Number found;
  read_fields(at, readers, found);
  found.set = found.set || found.infinite;  // some versions leave `set` out of an infinite number
  return found;
}

std::string text(const JsonAt& at) {
  const JsonKind kind = kind_of(at);
  if (kind == JsonKind::none) return {};
  if (kind == JsonKind::object) {
    const Number n = number(at);
    return n.set ? std::to_string(n.value) : std::string();
  }
  if (kind == JsonKind::other) return std::to_string(at.integer());
  const std::string_view found = at.text();
  return found == "(null)" ? std::string() : std::string(found);
}

std::vector<std::string> list(const JsonAt& at) {
  std::vector<std::string> words;
  if (kind_of(at) == JsonKind::array) {
    at.each([&](const JsonAt& element) { words.emplace_back(element.text()); });
    return words;
  }
  const std::string all = text(at);
  for (const std::string_view word : split_list(all)) words.emplace_back(word);
  return words;
}

std::vector<std::string> flags(const JsonAt& at) {
  std::vector<std::string> words = list(at);
  for (std::string& word : words) {
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return words;
}

bool truth(const JsonAt& at) {
  if (at.empty()) return false;
  if (kind_of(at) == JsonKind::other && at.type() != simdjson::dom::element_type::BOOL) {
    return at.integer() != 0;
  }
  return at.boolean();
}

std::vector<std::string> hosts(const JsonAt& at) {
  Hosts found = expand_hosts(text(at));
  if (!found.fault.empty()) at.fail(found.fault);
  return std::move(found.names);
}

void read_list(const Source& source, std::string_view key, const char* hint,
               const std::function<void(const JsonAt&)>& read) {
  const JsonSource where{.file = source.name, .line = 0, .raise = raise_input_error};
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(source.text).get(root); error != simdjson::SUCCESS) {
    raise_input_error(where, "", std::string("not valid JSON: ") + simdjson::error_message(error),
                      hint);
  }
  const JsonAt top(root, where);
  bool found = false;
  top.entries([&](const JsonAt& value) {
    if (value.key() != key) return;
    found = true;
    read(value);
  });
  if (!found) top.fail("has no list \"" + std::string(key) + "\"", hint);
}

}  // namespace berth::io::slurm
