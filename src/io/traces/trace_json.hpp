// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "json_fields.hpp"

#include <optional>
#include <string>

#include <simdjson.h>

/// JSON documents of traces and profiles.
namespace berth::io {

/// A parsed document; values point into it.
class JsonDocument {
 public:
  /// @throws InputError when the text is no JSON
  JsonDocument(const std::string& text, const std::string& file);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  [[nodiscard]] JsonAt root() const { return {root_, source_}; }

 private:
  JsonSource source_;
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

/// Unix time of a date; nothing when it is null or says that there is none. Fails on other text.
[[nodiscard]] std::optional<double> date_or_none(const JsonAt& at);

/// Text, or a whole number as text.
[[nodiscard]] std::string name_or_number(const JsonAt& at);

}  // namespace berth::io
