// SPDX-License-Identifier: Apache-2.0
#include "yaml_document.hpp"

#include <map>
#include <sstream>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

using YAML::anchor_t;
using YAML::Mark;
using Style = YAML::EmitterStyle::value;

/// Builds the tree of one document, and notes where it begins and whether it holds anything but a
/// null. An alias is the value that it names once more.
class DocumentBuilder final : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(Document& document) : document_(&document) {}

  void OnDocumentStart(const Mark& mark) override { start = mark, content = Mark::null_mark(); }
  void OnDocumentEnd() override {}
  void OnNull(const Mark& mark, anchor_t anchor) override {
    add(document_->add_null(mark.line + 1), anchor);
  }
  void OnAlias(const Mark& mark, anchor_t anchor) override {
    note(mark);
    add(anchors_.at(anchor), 0);
  }
  void OnScalar(const Mark& mark, const std::string&, anchor_t anchor,
                const std::string& value) override {
    note(mark);
    add(document_->add_scalar(mark.line + 1, value), anchor);
  }
  void OnSequenceStart(const Mark& mark, const std::string&, anchor_t anchor, Style) override {
    open(mark, Document::Kind::list, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const Mark& mark, const std::string&, anchor_t anchor, Style) override {
    open(mark, Document::Kind::map, anchor);
  }
  void OnMapEnd() override { close(); }

  Mark start, content = Mark::null_mark();  ///< content: null for a document of nothing

 private:
  struct Branch {
    std::uint32_t index;
    std::vector<std::uint32_t> children;
  };

  void note(const Mark& mark) {
    if (content.is_null()) content = mark;
  }

  void add(std::uint32_t value, anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = value;
    if (open_.empty()) {
      document_->set_root(value);
    } else {
      open_.back().children.push_back(value);
    }
  }

  void open(const Mark& mark, Document::Kind kind, anchor_t anchor) {
    note(mark);
    const std::uint32_t index = document_->add_branch(mark.line + 1, kind);
    add(index, anchor);
    open_.push_back({index, {}});
  }

  void close() {
    document_->set_children(open_.back().index, open_.back().children);
    open_.pop_back();
  }

  Document* document_;
  std::vector<Branch> open_;
  std::map<anchor_t, std::uint32_t> anchors_;
};

/// @param braces  the text begins with one, as files of JSON Lines do
void refuse_more(YAML::Parser& parser, Mark last, bool braces, const std::string& file) {
  const auto fail = [&](const Mark& mark, const std::string& problem) {
    throw InputError({.file = file, .line = mark.line + 1, .field = ""}, problem);
  };
  const char* const second =
      braces ? "JSON Lines, as of a jobs file: the help names the order of the files"
             : "a second YAML document; a cluster is one document";
  Document ignored;
  DocumentBuilder more(ignored);
  for (; parser.HandleNextDocument(more); last = more.start) {
    if (!more.content.is_null()) fail(more.content, second);
    // yaml-cpp reads one empty document after another at a token it does not take.
    if (more.start.pos == last.pos) fail(last, "not valid YAML: nothing can begin like this");
  }
}

}  // namespace

Document read_yaml(std::string_view text, const std::string& file) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Document document;
  DocumentBuilder builder(document);
  if (!parser.HandleNextDocument(builder)) {
    document.set_root(document.add_null(0));
  } else {
    refuse_more(parser, builder.start, text.starts_with('{'), file);
  }
  return document;
}

}  // namespace berth::io
