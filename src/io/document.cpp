// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include <algorithm>

namespace berth::io {

using Kind = Document::Kind;

bool Node::is_null() const { return document_->values_[index_].kind == Kind::null; }
bool Node::is_scalar() const { return document_->values_[index_].kind == Kind::scalar; }
bool Node::is_list() const { return document_->values_[index_].kind == Kind::list; }
bool Node::is_map() const { return document_->values_[index_].kind == Kind::map; }

std::int64_t Node::line() const { return document_->values_[index_].line; }

std::string_view Node::scalar() const {
  const Document::Value& value = document_->values_[index_];
  return std::string_view(document_->letters_).substr(value.begin, value.count);
}

std::size_t Node::size() const {
  const Document::Value& value = document_->values_[index_];
  return value.kind == Kind::map ? value.count / 2 : value.count;
}

Node Node::element(std::size_t i) const {
  return {*document_, document_->children_[document_->values_[index_].begin + i]};
}

std::pair<Node, Node> Node::entry(std::size_t i) const {
  return {element(2 * i), element(2 * i + 1)};
}

std::uint32_t Document::add(const Value& value) {
  values_.push_back(value);
  return static_cast<std::uint32_t>(values_.size() - 1);
}

std::uint32_t Document::add_null(std::int64_t line) {
  return add({.line = static_cast<std::uint32_t>(line)});
}

std::uint32_t Document::add_scalar(std::int64_t line, std::string_view text) {
  const Value value{.begin = letters_.size(),
                    .count = static_cast<std::uint32_t>(text.size()),
                    .line = static_cast<std::uint32_t>(line),
                    .kind = Kind::scalar};
  letters_ += text;
  return add(value);
}

std::uint32_t Document::add_branch(std::int64_t line, Kind kind) {
  return add({.line = static_cast<std::uint32_t>(line), .kind = kind});
}

void Document::set_children(std::uint32_t branch, const std::vector<std::uint32_t>& children) {
  Value& value = values_[branch];
  value.begin = children_.size();
  value.count = static_cast<std::uint32_t>(children.size());
  children_.insert(children_.end(), children.begin(), children.end());
}

}  // namespace berth::io
