// SPDX-License-Identifier: Apache-2.0
#include "yaml_document.hpp"

#include <cstdint>
#include <sstream>

#include <yaml-cpp/eventhandler.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

using YAML::anchor_t;
using YAML::Mark;
using Style = YAML::EmitterStyle::value;

/// Notes where a document begins and whether it holds anything but a null.
class DocumentMark final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const Mark& mark) override { start = mark, content = Mark::null_mark(); }
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, anchor_t) override {}
  void OnAlias(const Mark& mark, anchor_t) override { note(mark); }
  void OnScalar(const Mark& mark, const std::string&, anchor_t, const std::string&) override {
    note(mark);
  }
  void OnSequenceStart(const Mark& mark, const std::string&, anchor_t, Style) override {
    note(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark& mark, const std::string&, anchor_t, Style) override { note(mark); }
  void OnMapEnd() override {}

  Mark start, content = Mark::null_mark();  ///< content: null for a document of nothing

 private:
  void note(const Mark& mark) {
    if (content.is_null()) content = mark;
  }
};

/// Nothing but another document marker can follow a block map that begins in the first column: the
/// parser refuses other text by itself.
bool is_all(const YAML::Node& root, std::string_view text) {
  if (!root.IsMap() || root.Style() != YAML::EmitterStyle::Block || root.Mark().column != 0)
    return false;
  return text.find("\n---") == text.npos && text.find("\n...") == text.npos;
}

void refuse_more(std::string_view text, const std::string& file) {
  const auto fail = [&](const Mark& mark, const std::string& problem) {
    throw InputError({.file = file, .line = mark.line + 1, .field = ""}, problem);
  };
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  DocumentMark document;
  if (!parser.HandleNextDocument(document)) return;
  for (Mark last = document.start; parser.HandleNextDocument(document); last = document.start) {
    if (!document.content.is_null())
      fail(document.content, "a second YAML document; a cluster is one document");
    // yaml-cpp reads one empty document after another at a token it does not take.
    if (document.start.pos == last.pos) fail(last, "not valid YAML: nothing can begin like this");
  }
}

}  // namespace

YAML::Node only_document(std::string_view text, const std::string& file) {
  YAML::Node root = YAML::Load(std::string(text));
  if (!is_all(root, text)) refuse_more(text, file);
  return root;
}

}  // namespace berth::io
