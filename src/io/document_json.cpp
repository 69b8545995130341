// SPDX-License-Identifier: Apache-2.0
#include "document_json.hpp"

#include <algorithm>
#include <vector>

#include <simdjson.h>

namespace berth::io {
namespace {

namespace ondemand = simdjson::ondemand;

/// Walks a JSON text once, front to back; lines are counted on the way.
class JsonReader {
 public:
  JsonReader(const simdjson::padded_string& text, Document& document)
      : at_(text.data()), document_(&document) {}

  std::uint32_t read(ondemand::value value) {
    const std::int64_t line = line_at(location(value));
    switch (value.type().value()) {
      case ondemand::json_type::object:
        return read_object(value.get_object().value(), line);
      case ondemand::json_type::array:
        return read_array(value.get_array().value(), line);
      case ondemand::json_type::string:
        return document_->add_scalar(line, std::string_view(value.get_string().value()));
      case ondemand::json_type::null:
        if (!bool(value.is_null())) throw simdjson::simdjson_error(simdjson::N_ATOM_ERROR);
        return document_->add_null(line);
      default:
        return read_word(value, line);
    }
  }

  std::uint32_t read_object(ondemand::object object, std::int64_t line) {
    const std::uint32_t map = document_->add_branch(line, Document::Kind::map);
    std::vector<std::uint32_t> children;
    for (auto field : object) {
      const std::int64_t key_line = line_at(field.key().value().raw());
      children.push_back(document_->add_scalar(key_line, field.unescaped_key().value()));
      children.push_back(read(field.value().value()));
    }
    document_->set_children(map, children);
    return map;
  }

  [[nodiscard]] std::int64_t line() const { return line_; }

  /// The line of a place at or after the last one.
  std::int64_t line_at(const char* there) {
    if (there > at_) {
      line_ += std::count(at_, there, '\n');
      at_ = there;
    }
    return line_;
  }

 private:
  static const char* location(ondemand::value& value) { return value.current_location().value(); }

  std::uint32_t read_array(ondemand::array array, std::int64_t line) {
    const std::uint32_t list = document_->add_branch(line, Document::Kind::list);
    std::vector<std::uint32_t> children;
    for (auto element : array) children.push_back(read(element.value()));
    document_->set_children(list, children);
    return list;
  }

  /// A number, true or false: judged by the library, kept as it stands.
  std::uint32_t read_word(ondemand::value& value, std::int64_t line) {
    std::string_view word = value.raw_json_token();
    word = word.substr(0, word.find_last_not_of(" \t\r\n") + 1);
    if (value.type().value() == ondemand::json_type::boolean) {
      static_cast<void>(value.get_bool().value());
    } else {
      static_cast<void>(value.get_double().value());
    }
    return document_->add_scalar(line, word);
  }

  const char* at_;
  std::int64_t line_ = 1;
  Document* document_;
};

}  // namespace

JsonFault read_json(std::string_view text, Document& document) {
  const simdjson::padded_string padded(text);
  JsonReader reader(padded, document);
  try {
    ondemand::parser parser;
    ondemand::document json = parser.iterate(padded).value();
    const std::int64_t first = reader.line_at(padded.data() + text.find('{'));
    document.set_root(reader.read_object(json.get_object().value(), first));
    if (json.current_location().error() == simdjson::SUCCESS) {
      return {.line = reader.line(), .problem = "text follows the object"};
    }
  } catch (const simdjson::simdjson_error& broken) {
    return {.line = reader.line(), .problem = broken.what()};
  }
  return {};
}

}  // namespace berth::io
