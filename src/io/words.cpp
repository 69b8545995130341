// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <simdjson.h>

#include "berth/base/printable.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMaxName = 255;  ///< bytes (docs/formats.md)

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_control(text, i)) return true;
  }
  return false;
}

/// Words of other programs, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kMeanings{
    {{"cpus", "cpu"},
     {"cores", "cpu"},
     {"mem", "memory"},
     {"ram", "memory"},
     {"name", "id"},
     {"name", "ids"},
     {"id", "ids"},
     {"names", "ids"},
     {"hosts", "ids"},
     {"nodes", "ids"},
     {"gpu", "gpus"},
     {"replicas", "count"},
     {"workers", "count"},
     {"walltime", "limit"},
     {"time_limit", "limit"},
     {"partition", "queue"},
     {"submit_time", "arrival"},
     {"type", "gpu_type"}}};

}  // namespace

bool is_meant(std::string_view word, std::string_view key) {
  return std::ranges::find(kMeanings, std::pair(word, key)) != kMeanings.end();
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"" + printable(text.substr(0, 60));
  if (text.size() > 60) out += "...";
  return out + "\"";
}

std::string name_fault(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (name.size() > kMaxName) return "a name of more than 255 bytes: " + in_quotes(name);
  if (has_control(name)) {
    return "a name with a control character (tab, newline): " + in_quotes(name);
  }
  if (!simdjson::validate_utf8(name.data(), name.size())) return "a name that is not UTF-8";
  return {};
}

}  // namespace berth::io
